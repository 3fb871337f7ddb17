#include "preload/lifecycle/recording_period.h"
#include "preload/format/loss_counters.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/life_page.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/control/prof_ctl.h"
#include "preload/control/triggers.h"
#include "preload/lifecycle/dumps.h"
#include "preload/lifecycle/load.h"
#include "preload/lifecycle/start.h"
#include "preload/lifecycle/subsystems.h"
#include "preload/log/log_storage.h"
#include "preload/record/texts.h"
#include "preload/record/thread_scope.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace prof::preload {

namespace {

uint64_t g_begin_ns = 0;  // end of AwaitsTime, CLOCK_MONOTONIC

Window g_next_window = Window::Over;         // the window after a recording
std::atomic<bool> g_start_requested{false};  // by cuProfilerStart, while a recording was ending
std::atomic<const char*> g_end_requested{nullptr};
std::atomic<bool> g_restart_at_once{false};  // the next recording needs no new start

// The window after a recording: the next recording starts or is awaited, or there is none.
Window next_window() {
  const bool more = options().parts == 0 || recordings_so_far() < options().parts;
  if (g_restart_at_once.exchange(false) && g_next_window == Window::Over) return more ? Window::Open : Window::Over;
  return more ? g_next_window : Window::Over;
}

int g_signal = 0;
struct sigaction g_before;

// A signal starts the recording if one is awaited; the next signal ends it.
void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  if (!change_window(Window::AwaitsSignal, Window::Open) && window_is(Window::Open)) {
    if (life().epoch.load(std::memory_order_acquire) != 0) {
      if (options().ring.wanted()) {
        request_recording_end("signal");
      } else {
        request_end("signal");
      }
      wake_helper();
    } else if (!options().ring.wanted() || g_next_window != Window::Over) {
      change_window(Window::Open, g_next_window);  // nothing was recorded since the start
    }
  }
  errno = saved;
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
  }
}

void install_handler() {
  const option::OneOf<option::Signal>& wanted = options().signal;
  if (wanted == option::Signal::Off) return;
  g_signal = wanted == option::Signal::Usr1 ? SIGUSR1 : SIGUSR2;
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigaction(g_signal, &action, &g_before);
}

// The first window. PROF_DELAY applies only to a recording that would start at once.
Window first_window() {
  const option::OneOf<option::Start>& start = options().start;
  switch (start.word()) {
    case option::Start::Profiler: return Window::AwaitsProfiler;
    case option::Start::Nvtx: return Window::AwaitsRange;
    case option::Start::Control: return Window::AwaitsControl;
    case option::Start::Signal:
      if (g_signal != 0) return Window::AwaitsSignal;
      break;
    case option::Start::Launches:
      if (start.number > 1) return Window::AwaitsLaunch;
      break;
    case option::Start::Now: break;
  }
  return options().delay != 0 ? Window::AwaitsTime : Window::Open;
}

}  // namespace

// Starts a recording for prof ctl, whatever is awaited, also after the last recording that the options requested.
bool control_starts(Window now) {
  if (!control_start_requested(now == Window::AwaitsControl)) return false;
  explain("prof ctl starts the recording");
  allow_another_recording();
  return change_window(now, Window::Open);
}

bool passes_by() {
  const LifePage& page = life();
  const Window window = static_cast<Window>(g_window.load(std::memory_order_relaxed));
  if (window >= Window::Ending) {
    if (uint64_t* const lost = page.lost_calls.load(std::memory_order_relaxed); lost != nullptr) [[unlikely]] {
      std::atomic_ref(*lost).fetch_add(1, std::memory_order_relaxed);
    } else if (page.epoch.load(std::memory_order_relaxed) != 0) {
      return false;
    }
    return !has_control_request(false);
  }
  if (page.epoch.load(std::memory_order_relaxed) != 0 || window == Window::Open) return false;
  if (!page.prepared.load(std::memory_order_relaxed) || window == Window::AwaitsLaunch) return false;
  if (window == Window::AwaitsTime) return window_awaits_time();
  return !has_control_request(window == Window::AwaitsControl);
}

void request_end(const char* why) { g_end_requested.store(why, std::memory_order_release); }
void end_because_log_is_full() {
  if (end_requested() != nullptr) return;
  // The page stays mapped after the recording, also for threads that still count when another one has started.
  const auto counter = static_cast<uint32_t>(format::LossCounter::records_dropped_full);
  life().lost_calls.store(&g_log.counters()->counter[counter], std::memory_order_relaxed);
  request_end("the log is full");
}
void request_recording_end(const char* why) {
  g_restart_at_once.store(true);
  request_end(why);
}
const char* end_requested() { return g_end_requested.load(std::memory_order_acquire); }

void open_window() {
  install_handler();
  const Window first = first_window();
  if (first == Window::Open) return;
  if (first == Window::AwaitsProfiler || first == Window::AwaitsRange || first == Window::AwaitsSignal)
    g_next_window = first;
  if (first == Window::AwaitsTime) g_begin_ns = monotonic_ns() + options().delay;
  change_window(Window::Open, first);
}

bool window_awaits_time() {
  if (monotonic_ns() < g_begin_ns) return true;
  change_window(Window::AwaitsTime, Window::Open);
  return false;
}

void profiler_started() {
  if (!ready_to_record() || options().start != option::Start::Profiler ||
      change_window(Window::AwaitsProfiler, Window::Open))
    return;
  if (!window_is(Window::Ending) && end_requested() == nullptr) return;
  g_start_requested.store(true);
  if (change_window(Window::AwaitsProfiler, Window::Open))
    g_start_requested.store(false);  // the recording has just ended
}

void profiler_stopped() {
  if (life().lost_calls.load(std::memory_order_relaxed) != nullptr)
    life().lost_calls.store(nullptr, std::memory_order_relaxed);
  if (options().start != option::Start::Profiler) {
    if (life().epoch.load(std::memory_order_acquire) != 0) profiler_dumps();
    return;
  }
  g_start_requested.store(false);
  end_window("cudaProfilerStop");
}

bool end_window(const char* why) {
  if (!window_is(Window::Open)) return true;
  if (life().phase.load(std::memory_order_acquire) == Phase::Starting) {
    g_end_requested.store(why, std::memory_order_release);
    return false;
  }
  if (life().epoch.load(std::memory_order_acquire) == 0 || !change_window(Window::Open, Window::Ending)) return true;
  const int saved = errno;
  {
    const ThreadScope scope;
    if (scope.recording()) {
      define_meta("recording_ended", why);
      for_each_subsystem(&Subsystem::describe_stop);
    }
  }
  explain("the recording ends: ", why);
  for_each_subsystem(&Subsystem::stop);
  finish_recording();
  const Window next = next_window();
  g_end_requested.store(nullptr, std::memory_order_relaxed);
  if (next != Window::Over) allow_another_recording();
  change_window(Window::Ending, next);
  if (g_start_requested.exchange(false)) change_window(Window::AwaitsProfiler, Window::Open);
  errno = saved;
  return true;
}

}  // namespace prof::preload
