#include "preload/runtime/window.h"

#include "preload/capture/bounded_flush.h"
#include "preload/capture/gpu_activity.h"
#include "preload/runtime/describe.h"
#include "preload/runtime/explain.h"
#include "preload/runtime/helper.h"
#include "preload/runtime/options.h"
#include "preload/runtime/recorder.h"
#include "preload/runtime/triggers.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace prof::preload {

std::atomic<uint32_t> g_window{static_cast<uint32_t>(Window::Open)};

namespace {

uint64_t g_begin_ns = 0;  // of AwaitsTime, CLOCK_MONOTONIC
bool g_by_profiler = false;

bool change(Window from, Window to) {
  uint32_t expected = static_cast<uint32_t>(from);
  return g_window.compare_exchange_strong(expected, static_cast<uint32_t>(to), std::memory_order_acq_rel);
}

int g_signal = 0;
struct sigaction g_before;
std::atomic<bool> g_end_asked{false};

// The first signal begins the recording where it waits for one, the next ends it.
void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  if (!change(Window::AwaitsSignal, Window::Open)) {
    if (life().epoch.load(std::memory_order_acquire) == 0) change(Window::Open, Window::Over);
    g_end_asked.store(true, std::memory_order_release);
    wake_helper();
  }
  errno = saved;
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
  }
}

void install_handler(const char* name) {
  if (name == nullptr) return;
  g_signal = std::strcmp(name, "USR1") == 0 ? SIGUSR1 : std::strcmp(name, "USR2") == 0 ? SIGUSR2 : 0;
  if (g_signal == 0) return;
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigaction(g_signal, &action, &g_before);
}

}  // namespace

bool begin_window(Window awaited) { return change(awaited, Window::Open); }

bool end_asked() { return g_end_asked.load(std::memory_order_acquire); }

void open_window() {
  const char* const start = getenv("PROF_START");
  install_handler(getenv("PROF_SIGNAL"));
  if (start != nullptr && std::strcmp(start, "signal") == 0 && g_signal != 0) {
    change(Window::Open, Window::AwaitsSignal);
    return;
  }
  if (start != nullptr && std::strcmp(start, "profiler") == 0) {
    g_by_profiler = true;
    change(Window::Open, Window::AwaitsProfiler);
    return;
  }
  if (start != nullptr) {
    if (const Window awaited = read_trigger(start); awaited != Window::Open) {
      change(Window::Open, awaited);
      return;
    }
  }
  uint64_t delay_ns = 0;
  const char* const delay = getenv("PROF_DELAY");
  if (delay == nullptr || !read_seconds(delay, delay_ns) || delay_ns == 0) return;
  g_begin_ns = monotonic_ns() + delay_ns;
  change(Window::Open, Window::AwaitsTime);
}

bool window_awaits_time() {
  if (monotonic_ns() < g_begin_ns) return true;
  change(Window::AwaitsTime, Window::Open);
  return false;
}

void profiler_started() {
  if (g_by_profiler) change(Window::AwaitsProfiler, Window::Open);
}

void profiler_stopped() {
  if (g_by_profiler) end_window("cudaProfilerStop");
}

void end_window(const char* why) {
  if (life().epoch.load(std::memory_order_acquire) == 0) return;
  const int saved = errno;
  {
    const EventScope scope;
    if (scope.recording()) define_meta("recording_ended", why);
  }
  explain("the recording ends: ", why);
  end_gpu_activity();
  if (change(Window::Open, Window::Over)) finish_life();
  errno = saved;
}

}  // namespace prof::preload
