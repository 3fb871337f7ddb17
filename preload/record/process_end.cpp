#include "preload/record/process_end.h"

#include "preload/base/clock.h"
#include "preload/record/thread_local.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace prof::preload {

namespace {

std::atomic<long> g_exiting_thread{0};
std::atomic<bool> g_log_closes{false};
constinit thread_local bool t_awaited_end __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

void process_exits() { g_exiting_thread.store(syscall(SYS_gettid), std::memory_order_release); }

void log_closes() { g_log_closes.store(true, std::memory_order_release); }

void log_closed() { g_log_closes.store(false, std::memory_order_release); }

void await_process_end() {
  const long exiting = g_exiting_thread.load(std::memory_order_acquire);
  if (exiting == 0 || t_awaited_end || inside_own_calls() || exiting == syscall(SYS_gettid)) return;
  t_awaited_end = true;
  const uint64_t begin = monotonic_ns();
  const auto waits = [&] {
    const uint64_t waited = monotonic_ns() - begin;
    return waited < 100'000'000 || (waited < 1'000'000'000 && g_log_closes.load(std::memory_order_acquire));
  };
  while (waits()) sleep_ns(10'000'000);
}

}  // namespace prof::preload
