#include "preload/host_samples/thread_wait.h"

#include "preload/base/options.h"
#include "preload/host_samples/proc_path.h"
#include "preload/stacks/python/outside_memory.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>

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

ProcPath task_path(uint64_t tid, std::string_view file) { return ProcPath("/proc/self/task/").add(tid).add(file); }

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

bool is_own_thread(uint64_t tid) { return tid >= 2 && tid <= (1u << 22) && task_path(tid, "").exists(); }

std::string_view thread_text(std::string_view before, uint64_t tid, char* room) {
  const Decimal digits(tid);
  std::memcpy(room, before.data(), before.size());
  std::memcpy(room + before.size(), digits.text().data(), digits.text().size());
  return {room, before.size() + digits.text().size()};
}

// What the descriptor is: a file, a pipe, a socket …
BlockedIn descriptor(uint64_t number, char* room, std::string_view& detail) {
  const std::string_view target = ProcPath("/proc/self/fd/").add(number & 0xffffffff).link(room, 4096);
  if (target.empty()) return BlockedIn::Other;
  const bool is_file = target.starts_with('/');
  if (!is_file || options().about.has(option::About::Paths)) detail = target;
  if (is_file) return BlockedIn::File;
  if (target.starts_with("pipe:")) return BlockedIn::Pipe;
  return target.starts_with("socket:") ? BlockedIn::Network : BlockedIn::Other;
}

// The pipes and sockets that poll() or select() waits to read from, the first of them.
class PolledNames {
 public:
  explicit PolledNames(char* room) : room_(room) {}
  std::string_view text() const { return {room_, size_}; }
  void add(uint64_t number) {
    char room[64];
    if (count_ == kMost) return;
    const std::string_view target = ProcPath("/proc/self/fd/").add(number).link(room, sizeof room);
    if (!target.starts_with("pipe:[") && !target.starts_with("socket:[")) return;
    if (count_++ != 0) room_[size_++] = ' ';
    std::memcpy(room_ + size_, target.data(), target.size());
    size_ += target.size();
  }

 private:
  static constexpr uint32_t kMost = 4;
  char* room_;
  size_t size_ = 0;
  uint32_t count_ = 0;
};

std::string_view polled_names(const BlockedThread& thread, char* room) {
  constexpr size_t kMostPolled = 64;
  PolledNames names(room);
  bool is_poll = thread.number == SYS_ppoll, is_select = thread.number == SYS_pselect6;
#ifdef SYS_poll
  is_poll |= thread.number == SYS_poll;
  is_select |= thread.number == SYS_select;
#endif
  if (is_poll) {
    pollfd polled[kMostPolled];
    const size_t wanted = std::min<uint64_t>(thread.arguments[1], kMostPolled) * sizeof polled[0];
    const size_t bytes = read_outside(thread.arguments[0], polled, wanted);
    for (size_t i = 0; i < bytes / sizeof polled[0]; ++i) {
      if (polled[i].fd >= 0 && (polled[i].events & POLLIN) != 0) names.add(static_cast<uint32_t>(polled[i].fd));
    }
  }
  if (is_select) {
    uint64_t polled[16] = {};
    const uint64_t limit = std::min<uint64_t>(thread.arguments[0], 64 * std::size(polled));
    if (read_outside(thread.arguments[1], polled, (limit + 63) / 64 * 8) == 0) return {};
    for (uint64_t i = 0; i < limit; ++i) {
      if ((polled[i / 64] >> i % 64 & 1) != 0) names.add(i);
    }
  }
  return names.text();
}

// glibc's pthread_rwlock_t. A thread that waits for the end of a writer waits in one of the two words, with this value.
struct ReadWriteLock {
  uint32_t readers, writers, phase_word, writers_word, pads[2], writer, shared;
};
constexpr uint32_t kWaitsForWriter = 3, kPhaseOfWriter = 1, kWriterHasLock = 2;

// The thread that has locked it for writing; 0: the word is not that of such a lock, or readers have it.
uint32_t writer_of(uint64_t word, uint64_t expected) {
  if (expected != kWaitsForWriter) return 0;
  for (const size_t at : {offsetof(ReadWriteLock, phase_word), offsetof(ReadWriteLock, writers_word)}) {
    ReadWriteLock lock{};
    if (read_outside(word - at, &lock, sizeof lock) != sizeof lock) continue;
    const uint32_t waited = at == offsetof(ReadWriteLock, phase_word) ? lock.phase_word : lock.writers_word;
    if (waited == kWaitsForWriter && (lock.readers & kWriterHasLock) != 0 && (lock.readers & kPhaseOfWriter) != 0 &&
        lock.phase_word <= kWaitsForWriter && lock.writers_word <= kWaitsForWriter && lock.pads[0] == 0 &&
        lock.pads[1] == 0 && lock.shared <= 1 && is_own_thread(lock.writer))
      return lock.writer;
  }
  return 0;
}

// Locks of glibc are words with the value 2 while a thread waits for them. A mutex has its owner after the word.
BlockedIn futex_wait(const BlockedThread& thread, char* room, std::string_view& detail) {
  constexpr uint64_t kContended = 2;
  const uint64_t operation = thread.arguments[1] & 127, expected = thread.arguments[2] & 0xffffffff;
  if (operation == FUTEX_LOCK_PI || operation == 13) {  // FUTEX_LOCK_PI2
    uint32_t word = 0;
    if (read_outside(thread.arguments[0], &word, sizeof word) == sizeof word && is_own_thread(word & FUTEX_TID_MASK))
      detail = holder_text(word & FUTEX_TID_MASK, room);
    return BlockedIn::Lock;
  }
  if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) return BlockedIn::Other;
  if (operation == FUTEX_WAIT && expected == kContended) {
    struct {
      uint32_t lock, count, owner, users;
    } mutex{};
    if (read_outside(thread.arguments[0], &mutex, sizeof mutex) == sizeof mutex && mutex.lock == kContended &&
        mutex.users != 0 && mutex.users < (1u << 20) && is_own_thread(mutex.owner))
      detail = holder_text(mutex.owner, room);
    return BlockedIn::Lock;
  }
  // pthread_join waits until the kernel clears the thread id in the thread's descriptor. That word is shared.
  if ((thread.arguments[1] & FUTEX_PRIVATE_FLAG) == 0 && is_own_thread(expected)) {
    detail = thread_text("end of thread ", expected, room);
    return BlockedIn::Thread;
  }
  if (const uint32_t writer = writer_of(thread.arguments[0], expected); writer != 0) {
    detail = holder_text(writer, room);
    return BlockedIn::Lock;
  }
  return BlockedIn::Condition;
}

}  // namespace

std::string_view holder_text(uint64_t tid, char* room) { return thread_text("held by thread ", tid, room); }

uint32_t thread_named_by(std::string_view detail) {
  if (!detail.starts_with("held by thread ") && !detail.starts_with("end of thread ")) return 0;
  uint32_t tid = 0;
  for (const char c : detail) {
    if (c >= '0' && c <= '9') tid = tid * 10 + static_cast<uint32_t>(c - '0');
  }
  return tid;
}

// glibc's descriptor of a thread is at pthread_self(). Where it has the thread id differs between its versions.
uint32_t tid_of_handle(uint64_t handle, uint64_t known_handle, uint32_t known_tid) {
  constexpr size_t kWords = 512;
  static uint32_t own[kWords], others[kWords];  // only the holder of the sampler's lock uses them
  static size_t found = 0;                      // 0: not searched
  if (found == 0) {
    const auto own_tid = static_cast<uint32_t>(raw_call(SYS_gettid));
    const auto own_handle = static_cast<uint64_t>(pthread_self());
    const size_t words =
        std::min(read_outside(own_handle, own, sizeof own), read_outside(known_handle, others, sizeof others)) /
        sizeof(uint32_t);
    if (own_tid == known_tid || own_handle == known_handle) return 0;
    for (size_t i = 1; i < words && found == 0; ++i) {
      if (own[i] == own_tid && others[i] == known_tid) found = i;
    }
    if (found == 0) return 0;
  }
  uint32_t tid = 0;
  if (read_outside(handle + found * sizeof tid, &tid, sizeof tid) != sizeof tid) return 0;
  return is_own_thread(tid) ? tid : 0;
}

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
  char text[256];
  const long size = task_path(tid, "/syscall").read(text, sizeof text);
  if (size == -ENOENT || size == -ESRCH) return ThreadLook::Ended;
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
    if (call.kind == BlockedIn::Poll) detail = polled_names(thread, room);
    return call.kind;
  }
  return BlockedIn::Other;
}

}  // namespace prof::preload
