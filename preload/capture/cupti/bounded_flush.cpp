#include "preload/capture/cupti/bounded_flush.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/libc.h"
#include "preload/base/signals.h"
#include "preload/record/thread_local.h"

#include <linux/futex.h>
#include <sys/prctl.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace prof::preload {

namespace {

// Static, not on the caller's stack: an abandoned thread may still write here much later. Only one flush runs at a
// time. A second caller meanwhile gets NoThread.
struct Job {
  std::atomic<uint32_t> running{0};
  std::atomic<uint32_t> done{0};  // futex word
  void (*work)(uint64_t) = nullptr;
  uint64_t stop_ns = 0;
};
Job g_job;

void* flush_main(void*) {
  const OwnCalls own;
  prctl(PR_SET_NAME, "libprof flush", 0, 0, 0);
  g_job.work(g_job.stop_ns);
  g_job.running.store(0, std::memory_order_relaxed);
  g_job.done.store(1, std::memory_order_release);
  futex(g_job.done, FUTEX_WAKE, 1, nullptr);
  return nullptr;
}

bool start_thread() {
  if (prof_libc_pthread_create == nullptr) return false;
  const SignalsBlocked blocked;  // the program's handlers never run on our thread
  pthread_t thread{};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const bool ok = prof_libc_pthread_create(&thread, &attributes, flush_main, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  return ok;
}

}  // namespace

FlushOutcome run_bounded(void (*work)(uint64_t stop_ns), uint64_t wait_ns) {
  uint32_t idle = 0;
  if (!g_job.running.compare_exchange_strong(idle, 1, std::memory_order_acq_rel)) return FlushOutcome::NoThread;
  const int saved = errno;
  const uint64_t until = monotonic_ns() + wait_ns;
  g_job.done.store(0, std::memory_order_relaxed);
  g_job.work = work;
  g_job.stop_ns = until - wait_ns / 10;
  FlushOutcome outcome = FlushOutcome::TimedOut;
  if (!start_thread()) {
    g_job.running.store(0, std::memory_order_release);
    outcome = FlushOutcome::NoThread;
  } else {
    for (uint64_t now = monotonic_ns(); now < until; now = monotonic_ns()) {
      if (g_job.done.load(std::memory_order_acquire) != 0) break;
      const timespec pause = timespec_of(until - now);
      futex(g_job.done, FUTEX_WAIT, 0, &pause);
    }
    if (g_job.done.load(std::memory_order_acquire) != 0) outcome = FlushOutcome::Done;
  }
  errno = saved;
  return outcome;
}

}  // namespace prof::preload
