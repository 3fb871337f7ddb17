#include "preload/host_samples/thread_wait.h"

#include "preload/base/decimal.h"
#include "preload/base/options.h"
#include "preload/base/raw_call.h"
#include "preload/stacks/python/outside_memory.h"

#include <fcntl.h>
#include <linux/futex.h>

#include <cerrno>
#include <cstring>

namespace prof::preload {

namespace {

using format::BlockedIn;

struct WaitCall {
  long number;
  BlockedIn kind;
  bool has_descriptor;
  std::string_view name;
};
constexpr WaitCall kWaitCalls[] = {
#define PROF_WAIT(kind, name) {SYS_##name, BlockedIn::kind, false, {}},
#define PROF_WAIT_OTHER(name) {SYS_##name, BlockedIn::Other, false, #name},
#define PROF_WAIT_FD(name) {SYS_##name, BlockedIn::Other, true, {}},
#include "preload/host_samples/wait_calls.def"
#undef PROF_WAIT
#undef PROF_WAIT_OTHER
#undef PROF_WAIT_FD
};

constexpr char kTask[] = "/proc/self/task/";

// "/proc/self/task/42/syscall"
void task_path(char (&path)[64], uint32_t tid, std::string_view file) {
  const Decimal digits(tid);
  size_t size = sizeof kTask - 1;
  std::memcpy(path, kTask, size);
  std::memcpy(path + size, digits.text().data(), digits.text().size());
  size += digits.text().size();
  std::memcpy(path + size, file.data(), file.size());
  path[size + file.size()] = '\0';
}

std::string_view next_word(std::string_view& text) {
  size_t size = 0;
  while (size < text.size() && text[size] != ' ' && text[size] != '\n') ++size;
  const std::string_view word(text.data(), size);
  text.remove_prefix(size < text.size() ? size + 1 : size);
  return word;
}

// "0x1f", "-1", "35"
bool read_word(std::string_view word, uint64_t& to) {
  const bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  const bool hex = word.starts_with("0x");
  if (hex) word.remove_prefix(2);
  to = 0;
  for (const char c : word) {
    const uint64_t digit = c >= '0' && c <= '9'   ? static_cast<uint64_t>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<uint64_t>(c - 'a' + 10)
                                                  : 16;
    if (digit >= (hex ? 16u : 10u)) return false;
    to = to * (hex ? 16 : 10) + digit;
  }
  if (negative) to = 0 - to;
  return !word.empty();
}

bool is_own_thread(uint64_t tid) {
  char path[64];
  if (tid < 2 || tid > (1u << 22)) return false;
  task_path(path, static_cast<uint32_t>(tid), "");
  return raw_call(SYS_faccessat, AT_FDCWD, word_of(path), 0) == 0;
}

std::string_view thread_text(std::string_view before, uint64_t tid, char* room) {
  const Decimal digits(tid);
  std::memcpy(room, before.data(), before.size());
  std::memcpy(room + before.size(), digits.text().data(), digits.text().size());
  return {room, before.size() + digits.text().size()};
}

// What the descriptor is: a file, a pipe, a socket …
BlockedIn descriptor(uint64_t number, char* room, std::string_view& detail) {
  char path[64] = "/proc/self/fd/";
  const Decimal digits(number & 0xffffffff);
  const size_t size = std::strlen(path);
  std::memcpy(path + size, digits.text().data(), digits.text().size());
  path[size + digits.text().size()] = '\0';
  const long read = raw_call(SYS_readlinkat, AT_FDCWD, word_of(path), word_of(room), 4096);
  if (read <= 0) return BlockedIn::Other;
  const std::string_view target(room, static_cast<size_t>(read));
  const bool is_file = target.starts_with('/');
  if (!is_file || options().about.has(option::About::Paths)) detail = target;
  if (is_file) return BlockedIn::File;
  if (target.starts_with("pipe:")) return BlockedIn::Pipe;
  return target.starts_with("socket:") ? BlockedIn::Network : BlockedIn::Other;
}

// Locks of glibc are words with the value 2 while a thread waits for them. A mutex has its owner after the word.
BlockedIn futex_wait(const BlockedThread& thread, char* room, std::string_view& detail) {
  constexpr uint64_t kContended = 2;
  const uint64_t operation = thread.arguments[1] & 127, expected = thread.arguments[2] & 0xffffffff;
  if (operation == FUTEX_LOCK_PI || operation == 13) {  // FUTEX_LOCK_PI2
    uint32_t word = 0;
    if (read_outside(thread.arguments[0], &word, sizeof word) == sizeof word && is_own_thread(word & FUTEX_TID_MASK))
      detail = thread_text("held by thread ", word & FUTEX_TID_MASK, room);
    return BlockedIn::Lock;
  }
  if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) return BlockedIn::Other;
  if (operation == FUTEX_WAIT && expected == kContended) {
    struct {
      uint32_t lock, count, owner, users;
    } mutex{};
    if (read_outside(thread.arguments[0], &mutex, sizeof mutex) == sizeof mutex && mutex.lock == kContended &&
        mutex.users != 0 && mutex.users < (1u << 20) && is_own_thread(mutex.owner))
      detail = thread_text("held by thread ", mutex.owner, room);
    return BlockedIn::Lock;
  }
  // pthread_join waits until the kernel clears the thread id in the thread's descriptor. That word is shared.
  if ((thread.arguments[1] & FUTEX_PRIVATE_FLAG) == 0 && is_own_thread(expected)) {
    detail = thread_text("end of thread ", expected, room);
    return BlockedIn::Thread;
  }
  return BlockedIn::Condition;
}

}  // namespace

ThreadLook read_thread_look(std::string_view text, BlockedThread& to) {
  to = {};
  if (text.starts_with("running")) return ThreadLook::Running;
  uint64_t number = 0;
  if (!read_word(next_word(text), number)) return ThreadLook::Refused;
  to.number = static_cast<long>(number);
  if (to.number >= 0) {
    for (uint64_t& argument : to.arguments) {
      if (!read_word(next_word(text), argument)) return ThreadLook::Refused;
    }
  }
  return read_word(next_word(text), to.sp) && read_word(next_word(text), to.pc) ? ThreadLook::Blocked
                                                                                : ThreadLook::Refused;
}

ThreadLook look_at_thread(uint32_t tid, BlockedThread& to) {
  char path[64], text[256];
  task_path(path, tid, "/syscall");
  const long file = raw_call(SYS_openat, AT_FDCWD, word_of(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file == -ENOENT || file == -ESRCH ? ThreadLook::Ended : ThreadLook::Refused;
  const long size = raw_call(SYS_read, file, word_of(text), sizeof text);
  raw_call(SYS_close, file);
  if (size == -ESRCH) return ThreadLook::Ended;
  if (size <= 0) return ThreadLook::Refused;
  return read_thread_look({text, static_cast<size_t>(size)}, to);
}

BlockedIn wait_of(const BlockedThread& thread, char* room, std::string_view& detail) {
  detail = {};
  if (thread.number < 0) return BlockedIn::None;
  if (thread.number == SYS_futex) return futex_wait(thread, room, detail);
  for (const WaitCall& call : kWaitCalls) {
    if (call.number != thread.number) continue;
    if (call.has_descriptor) return descriptor(thread.arguments[0], room, detail);
    if (call.kind == BlockedIn::Other) detail = call.name;
    return call.kind;
  }
  return BlockedIn::Other;
}

}  // namespace prof::preload
