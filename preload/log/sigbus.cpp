#include "preload/log/sigbus.h"

#include "preload/base/messages.h"
#include "preload/base/page_size.h"
#include "preload/log/log_storage.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace prof::preload {

namespace {

constexpr uint32_t kMostStretches = 4200;  // slabs, and the header

struct Stretch {
  std::atomic<uintptr_t> begin;
  std::atomic<uintptr_t> end;
};
Stretch g_stretches[kMostStretches];
std::atomic<uint32_t> g_stretch_count{0};
std::atomic<bool> g_installed{false};
struct sigaction g_before;

bool guarded(uintptr_t address) {
  const uint32_t known = g_stretch_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < known && i < kMostStretches; ++i) {
    const uintptr_t end = g_stretches[i].end.load(std::memory_order_acquire);
    if (address >= g_stretches[i].begin.load(std::memory_order_relaxed) && address < end) return true;
  }
  return false;
}

// Handles the signal as the process would have done without libprof.so.
void hand_on(int signal, siginfo_t* info, void* context) {
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
    return;
  }
  if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
    return;
  }
  if (g_before.sa_handler == SIG_IGN && info->si_code <= 0) return;  // sent by a process, and ignored
  struct sigaction fatal {};
  fatal.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &fatal, nullptr);
  // A fault occurs again when the instruction is retried. A signal that a process sent does not.
  if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), static_cast<pid_t>(syscall(SYS_gettid)), SIGBUS);
}

void on_sigbus(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (info->si_code != BUS_ADRERR || !guarded(address)) {
    errno = saved;
    hand_on(signal, info, context);
    return;
  }
  void* const page = reinterpret_cast<void*>(page_begin(address));
  void* const there = mmap(page, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  static std::atomic<bool> said{false};
  say(said, "the log was truncated while it was written; the records on its lost pages are lost: ", g_log.path());
  errno = saved;
  if (there == MAP_FAILED) hand_on(signal, info, context);
}

}  // namespace

void survive_truncation() {
  if (g_installed.exchange(true)) return;
  struct sigaction action {};
  action.sa_sigaction = on_sigbus;
  // SA_NODEFER: the counter page may be one of the pages that were cut off.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
  sigaction(SIGBUS, &action, &g_before);
}

void guard_mapping(const void* base, uint64_t bytes) {
  const uint32_t index = g_stretch_count.fetch_add(1, std::memory_order_acq_rel);
  if (index >= kMostStretches) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(base);
  g_stretches[index].begin.store(begin, std::memory_order_relaxed);
  g_stretches[index].end.store(begin + bytes, std::memory_order_release);
}

void abandon_guarded_mappings() {
  for (Stretch& stretch : g_stretches) stretch.end.store(0, std::memory_order_relaxed);
  g_stretch_count.store(0, std::memory_order_release);
}

}  // namespace prof::preload
