#include "preload/lifecycle/helper.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/libc.h"
#include "preload/base/life_page.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/base/signals.h"
#include "preload/capture/streams/streams.h"
#include "preload/lifecycle/clock_anchors.h"
#include "preload/lifecycle/last_thread.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/lifecycle/start.h"
#include "preload/lifecycle/subsystems.h"
#include "preload/record/append.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace prof::preload {

namespace {

constexpr uint64_t kAnchorEvery = 1'000'000'000;

constexpr uint64_t kLookAroundEvery = 200'000'000;  // for the last other thread: the exit is at most 0.3 s late

// The request of finish_on_helper_thread(): a futex word.
enum : uint32_t { kNoRequest, kRequested, kFinished };

std::atomic<uint32_t> g_stop{0};
std::atomic<uint32_t> g_finish{kNoRequest};
std::atomic<bool> g_pause{false};
std::atomic<pid_t> g_helper_pid{0};
std::atomic<pid_t> g_helper_tid{0};  // 0: it has not started to run
std::atomic<uint32_t> g_idle{1};     // futex word: 1 while the helper touches nothing of the log

void emit_anchor() {
  const ThreadScope scope;
  if (scope.recording()) write_clock_anchor();
}

void* helper_main(void* epoch_argument) {
  const uint64_t epoch = reinterpret_cast<uint64_t>(epoch_argument);
  OwnCalls own;
  g_helper_tid.store(static_cast<pid_t>(syscall(SYS_gettid)), std::memory_order_release);
  note_helper_thread();
  prctl(PR_SET_NAME, "libprof", 0, 0, 0);
  uint64_t next_anchor = monotonic_ns();
  uint64_t next_flush = next_anchor + options().flush;
  const uint64_t end = options().duration != 0 ? next_anchor + options().duration : ~0ull;
  uint64_t next_look = next_anchor + kLookAroundEvery;
  uint32_t seen = helper_wakes();
  for (;;) {
    g_idle.store(0, std::memory_order_seq_cst);
    const bool over =
        g_stop.load(std::memory_order_seq_cst) != 0 || life().epoch.load(std::memory_order_acquire) != epoch;
    if (!over) {
      for_each_subsystem(&Subsystem::tend);
      const uint64_t now = monotonic_ns();
      if (now >= next_anchor) {
        emit_anchor();
        for_each_subsystem(&Subsystem::write_back);
        next_anchor = now + kAnchorEvery;
      }
    }
    g_idle.store(1, std::memory_order_seq_cst);
    futex(g_idle, FUTEX_WAKE, 1, nullptr);
    if (over || g_pause.load(std::memory_order_acquire)) return nullptr;
    if (g_finish.load(std::memory_order_acquire) == kRequested) {
      finish_recording();
      g_finish.store(kFinished, std::memory_order_release);
      futex(g_finish, FUTEX_WAKE, INT32_MAX, nullptr);
      return nullptr;
    }
    if (monotonic_ns() >= next_look) {
      if (is_last_thread()) {
        leave_as_last_thread();
        return nullptr;
      }
      next_look = monotonic_ns() + kLookAroundEvery;
    }
    for_each_subsystem_backwards(&Subsystem::watch, epoch);
    const char* const asked = end_requested();
    if (asked != nullptr || monotonic_ns() >= end) {
      if (end_window(asked != nullptr ? asked : "PROF_DURATION")) return nullptr;
      sleep_ns(1'000'000);
      continue;
    }
    if (options().flush != 0 && monotonic_ns() >= next_flush) {
      for_each_subsystem(&Subsystem::flush);
      next_flush = monotonic_ns() + options().flush;
    }
    uint64_t until = std::min({next_anchor, end, next_look});
    if (options().flush != 0) until = std::min(until, next_flush);
    for (const Subsystem& subsystem : subsystems()) {
      if (subsystem.tick != nullptr) until = std::min(until, subsystem.tick(monotonic_ns()));
    }
    const uint64_t now = monotonic_ns();
    await_helper_wake(seen, timespec_of(until > now ? until - now : 0));
    seen = helper_wakes();
  }
}

// Whether the recording has a helper thread in this process. A process that does not record makes no system call here:
// it may be in a sandbox that kills.
bool may_use_helper() {
  return life().phase.load(std::memory_order_acquire) == Phase::Recording && !inside_own_calls() &&
         g_helper_pid.load(std::memory_order_acquire) == getpid();
}

}  // namespace

bool start_helper() {
  g_stop.store(0, std::memory_order_relaxed);
  g_idle.store(1, std::memory_order_relaxed);
  g_finish.store(kNoRequest, std::memory_order_relaxed);
  g_pause.store(false, std::memory_order_relaxed);
  g_helper_tid.store(0, std::memory_order_relaxed);
  if (prof_libc_pthread_create == nullptr) return false;
  const SignalsBlocked blocked;  // signal handlers of the program never run on our thread
  pthread_t thread{};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (prof_libc_pthread_attr_setstacksize != nullptr) prof_libc_pthread_attr_setstacksize(&attributes, 1 << 20);
  void* const epoch = reinterpret_cast<void*>(life().epoch.load(std::memory_order_relaxed));
  const bool ok = prof_libc_pthread_create(&thread, &attributes, helper_main, epoch) == 0;
  pthread_attr_destroy(&attributes);
  if (ok) g_helper_pid.store(getpid(), std::memory_order_release);
  return ok;
}

bool pause_helper() {
  constexpr uint64_t kMostNs = 100'000'000, kStepNs = 50'000;
  if (!may_use_helper()) return false;
  const KeepErrno keep;
  if (threads_of_process() > 2) return false;  // the program has other threads
  if (g_pause.exchange(true, std::memory_order_acq_rel)) return false;
  const uint64_t end = monotonic_ns() + kMostNs;
  do {
    wake_helper();
    sleep_ns(kStepNs);
    const pid_t tid = g_helper_tid.load(std::memory_order_acquire);
    if (tid != 0 && syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH) return true;
  } while (monotonic_ns() < end);
  g_pause.store(false, std::memory_order_release);  // it is inside CUPTI
  explain("the helper thread did not end in time before unshare() or setns()");
  return false;
}

void resume_helper() {
  const KeepErrno keep;
  if (life().epoch.load(std::memory_order_acquire) == 0) return;
  if (!start_helper()) explain("the helper thread cannot start again after unshare() or setns()");
}

void finish_on_helper_thread() {
  if (!may_use_helper()) return;
  const KeepErrno keep;
  uint32_t none = kNoRequest;
  g_finish.compare_exchange_strong(none, kRequested, std::memory_order_acq_rel);
  wake_helper();
  constexpr uint64_t kPatience = 500'000'000, kStep = 50'000'000;
  const uint64_t begin = monotonic_ns();
  uint64_t missing = outstanding().unreported, last_progress = begin;
  for (uint64_t now = begin; g_finish.load(std::memory_order_acquire) == kRequested; now = monotonic_ns()) {
    if (const uint64_t left = outstanding().unreported; left != missing) {
      missing = left;
      last_progress = now;
    }
    if (now - begin >= options().exit_wait || now - last_progress >= kPatience) return;
    const timespec pause = timespec_of(kStep);
    futex(g_finish, FUTEX_WAIT, kRequested, &pause);
  }
}

void stop_helper(uint64_t ns) {
  g_stop.store(1, std::memory_order_seq_cst);
  wake_helper();
  const uint64_t until = monotonic_ns() + ns;
  while (g_idle.load(std::memory_order_seq_cst) == 0) {
    const uint64_t now = monotonic_ns();
    if (now >= until) return;
    const timespec pause = timespec_of(until - now);
    futex(g_idle, FUTEX_WAIT, 0, &pause);
  }
}

}  // namespace prof::preload
