#include "preload/lifecycle/start.h"

#include "preload/base/clock.h"
#include "preload/base/exit_handler.h"
#include "preload/base/life_page.h"
#include "preload/base/loader_call.h"
#include "preload/base/messages.h"
#include "preload/base/option_messages.h"
#include "preload/base/options.h"
#include "preload/base/own_library.h"
#include "preload/control/unstarted.h"
#include "preload/lifecycle/clock_anchors.h"
#include "preload/lifecycle/helper.h"
#include "preload/lifecycle/load.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/lifecycle/subsystems.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"
#include "preload/record/append.h"
#include "preload/record/process_end.h"
#include "preload/record/recording_window.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

extern "C" {
int __cxa_atexit(void (*)(void*), void*, void*);
}

namespace prof::preload {

namespace {

pid_t g_pid = 0;                       // of the recording
std::atomic<pid_t> g_prepared_pid{0};  // whose options and clock are ready
bool g_child_possible = false;         // a start ran in this memory before: there may be a parent's state
uint32_t g_recordings = 0;             // recordings of this process
uint64_t g_ended_ns = 0;               // when the last one ended

// Whether this is the process with that pid, and not a child of it.
bool is_process(pid_t pid) { return pid == getpid() && life().used.load(std::memory_order_relaxed); }

// A recording finishes in two steps. Exit handlers run last-in first-out. In this one, CUPTI and the driver are still
// usable, so GPU records are collected now. Libraries that were loaded earlier clean up later, and their calls belong
// in the log. quick_exit() runs no destructors, so the recording finishes at once there.
void at_exit(void*) {
  if (!is_process(g_pid)) return;
  process_exits();
  for_each_subsystem(&Subsystem::finish, true);
}
void at_quick_exit(void*) { finish_recording(); }

void after_destructors(void*) {
  log_closes();
  finish_recording();
  log_closed();
  Phase cold = Phase::Cold;
  if (g_recordings != 0 && getpid() == g_pid)  // nothing would finish another recording's log
    life().phase.compare_exchange_strong(cold, Phase::Stopped, std::memory_order_acq_rel);
}

// Destructors of libraries run after all exit handlers. Destructors of the libraries that the program was linked with
// run after this one; a shared libcudart cleans up there. If a handler is registered while destructors run, glibc calls
// it after the last destructor. (-z nodelete: this is never a dlclose.)
__attribute__((destructor)) void unloaded() {
  if (inert()) return;
  if (g_recordings == 0) report_unstarted();
  for_each_subsystem(&Subsystem::unload);
  if (g_pid != 0 && getpid() != g_pid) return;  // a vfork child, which shares its parent's exit handlers
  if (__cxa_atexit(after_destructors, nullptr, nullptr) != 0) after_destructors(nullptr);
}

// The end of the last recording may have cut off threads in the middle of a record. They continue it in memory that is
// kept for them (retired.h). It is better if they finish it first. A thread that is not inside a driver call needs
// microseconds, if it has a processor.
void await_cut_off_threads(uint64_t ended) {
  constexpr uint64_t kLeastNs = 20'000'000, kMostNs = 60'000'000;
  for (uint64_t now = monotonic_ns(); now < g_ended_ns + kMostNs; now = monotonic_ns()) {
    if (now >= g_ended_ns + kLeastNs && !recording_has_calls_inside(ended)) return;
    sleep_ns(1'000'000);
  }
}

void leave_parents_recording() {
  g_recordings = 0;
  t_before_ready = {};
  for_each_subsystem(&Subsystem::abandon);
}

bool is_prepared() { return is_process(g_prepared_pid.load(std::memory_order_relaxed)); }

// Returns false if nothing is recorded in this process. (The clock belongs to the process: a thread of an earlier
// recording may still read it.)
bool prepare_process() {
  if (is_prepared()) return true;
  report_options();
  for (const Subsystem& subsystem : subsystems()) {
    const char* const reason = subsystem.why_not != nullptr ? subsystem.why_not() : nullptr;
    if (reason == nullptr) continue;
    explain("nothing is recorded here: ", reason);
    return false;
  }
  if (!start_clock(options().clock)) {
    static std::atomic<bool> said{false};
    say(said, "PROF_CLOCK is not valid, the program exports no function ", options().clock.text,
        "; the default is used");
  }
  g_prepared_pid.store(getpid(), std::memory_order_relaxed);
  return true;
}

// A subsystem has no memory for its tables. The log would stay empty, so it is deleted. (The log file itself is not
// open if it cannot be created; it has reported the reason.)
bool refuse_start(std::string_view what) {
  static std::atomic<bool> said{false};
  if (!g_log.is_open()) return false;
  say(said, "no memory for ", what, " (RLIMIT_DATA, RLIMIT_AS or a cgroup); nothing is recorded");
  g_log.discard();
  return false;
}

bool start_recording() {
  const DirectCalls own;
  set_exit_handlers({at_exit, at_quick_exit});
  // The epoch of the earlier recording of this process; 0: there is none.
  const uint64_t ended = g_recordings != 0 && is_process(g_pid) ? g_newest_life.load(std::memory_order_relaxed) : 0;
  const uint64_t epoch = g_newest_life.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (ended != 0) {
    await_cut_off_threads(ended);
    for_each_subsystem(&Subsystem::before_restart, ended);
  } else if (g_child_possible && !is_prepared()) {
    leave_parents_recording();
  }
  g_child_possible = true;
  const bool wanted = ended != 0 || prepare_process();
  life().used.store(true, std::memory_order_relaxed);
  if (!wanted) return false;
  const StartFacts facts{ended, g_recordings + 1};
  for (const Subsystem& subsystem : subsystems()) {
    if (subsystem.start != nullptr && !subsystem.start(facts)) return refuse_start(subsystem.name);
  }
  g_pid = getpid();
  ++g_recordings;
  life().lost_calls.store(nullptr, std::memory_order_relaxed);
  life().runtime_calls.store(options().runtime, std::memory_order_relaxed);
  // From here all threads record.
  life().ready_ns.store(monotonic_ns(), std::memory_order_relaxed);
  life().epoch.store(epoch, std::memory_order_release);
  wake_waiting_for_start();
  if (!open_thread()) {
    life().epoch.store(0, std::memory_order_release);
    return refuse_start("the first thread");
  }
  for_each_subsystem(&Subsystem::describe);
  forget_clock_anchors();
  g_log.move_descriptor();
  start_helper();
  if (ended == 0) register_exit_handlers();
  guard_forks();
  return true;
}

}  // namespace

bool enter_slow() {
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (epoch != 0)
    return open_thread();  // a new thread, or a thread of the parent's recording in a child that records already
  if (!window_is(Window::Open) && passes_by()) return false;  // Open before ready_to_record()
  if (inert()) return false;
  if (!ready_to_record()) {
    if (is_getting_ready()) count_before_ready();
    return false;
  }
  if (!in_window()) return false;
  Phase phase = life().phase.load(std::memory_order_acquire);
  if (phase != Phase::Cold) return enter_phase(phase);
  if (inside_our_calls()) return false;
  if (!life().phase.compare_exchange_strong(phase, Phase::Starting, std::memory_order_acq_rel))
    return enter_phase(phase);
  const int saved = errno;
  use_wiped_life_page();
  const bool ok = start_recording();
  life().prepared.store(true, std::memory_order_relaxed);
  life().phase.store(ok ? Phase::Recording : Phase::Stopped, std::memory_order_release);
  if (!ok) wake_waiting_for_start();
  if (ok) adopt_counters();  // what was counted during the start
  errno = saved;
  return ok;
}

bool enter_interrupted() {
  const ThreadLocal& local = t_local;
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (inside_our_calls()) {
    if (inside_own_calls()) return false;
    const bool starting = life().phase.load(std::memory_order_acquire) == Phase::Starting;
    if (starting || epoch != 0) count(starting ? format::LossCounter::before_ready : format::LossCounter::nested_calls);
    return false;
  }
  if (epoch == 0 || local.epoch != epoch) return enter_slow();  // it interrupted a record of another recording
  count(format::LossCounter::records_dropped_busy);
  return false;
}

bool prepare_for_a_later_recording() {
  if (inert() || !ready_to_record() || !window_awaits()) return false;
  if (is_prepared()) return life().phase.load(std::memory_order_acquire) == Phase::Cold;
  Phase phase = Phase::Cold;
  if (!life().phase.compare_exchange_strong(phase, Phase::Starting, std::memory_order_acq_rel)) return false;
  const int saved = errno;
  const OwnCalls own;
  use_wiped_life_page();
  if (g_child_possible) leave_parents_recording();
  g_child_possible = true;
  const bool wanted = prepare_process();
  life().used.store(true, std::memory_order_relaxed);
  if (wanted) for_each_subsystem(&Subsystem::prepare);
  life().prepared.store(true, std::memory_order_relaxed);
  life().phase.store(wanted ? Phase::Cold : Phase::Stopped, std::memory_order_release);
  wake_waiting_for_start();
  errno = saved;
  return wanted;
}

uint32_t recordings_so_far() { return g_recordings; }

void allow_another_recording() {
  Phase stopped = Phase::Stopped;
  if (getpid() == g_pid) life().phase.compare_exchange_strong(stopped, Phase::Cold, std::memory_order_acq_rel);
}

void finish_recording() {
  Phase recording = Phase::Recording;
  if (!is_process(g_pid)) return;  // a vfork child that calls exit
  if (!life().phase.compare_exchange_strong(recording, Phase::Stopped, std::memory_order_acq_rel)) {
    return;
  }
  const int saved = errno;
  {
    const OwnCalls own;
    for_each_subsystem(&Subsystem::finish, false);
    const ClockReading now = write_clock_anchor();
    stop_helper(50'000'000);
    life().epoch.store(0, std::memory_order_seq_cst);
    LogEnd end{.monotonic_ns = now.monotonic_ns};
    for_each_subsystem_backwards(&Subsystem::finish_log, end);
    g_ended_ns = monotonic_ns();
  }
  errno = saved;
}

}  // namespace prof::preload
