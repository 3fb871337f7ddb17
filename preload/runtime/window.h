// Which part of the run is recorded: all of it, from cudaProfilerStart to cudaProfilerStop, from one time to another, from one
// signal to the next, from one launch to another, or as long as an NVTX range lasts (triggers.h). One part a process: its log is closed when it ends, CUPTI's collecting is turned off, and every hook passes through.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

enum class Window : uint32_t { Open = 0, AwaitsProfiler, AwaitsTime, AwaitsSignal, AwaitsLaunch, AwaitsRange, Over };
extern std::atomic<uint32_t> g_window;
inline bool window_is(Window window) {
  return g_window.load(std::memory_order_relaxed) == static_cast<uint32_t>(window);
}

// Called by the constructor: PROF_START, PROF_DELAY and PROF_SIGNAL, read where a hook that waits need not read anything.
void open_window();

// What was waited for has come: the next call records. False: somebody else was faster.
bool begin_window(Window awaited);

bool window_awaits_time();  // AwaitsTime, and it has not come

// Asked by enter_slow() while the process does not record.
inline bool in_window() {
  const uint32_t window = g_window.load(std::memory_order_acquire);
  if (window == static_cast<uint32_t>(Window::Open)) [[likely]]
    return true;
  return window == static_cast<uint32_t>(Window::AwaitsTime) && !window_awaits_time();
}

// The program called cuProfilerStart; cuProfilerStop has returned. Without PROF_START=profiler nothing happens.
void profiler_started();
void profiler_stopped();

// A signal asked for the end: for the helper thread to do, because a handler cannot.
bool end_asked();

// Ends the recording: waits, no longer than at exit, for the GPU work that was recorded. Keeps errno.
void end_window(const char* why);

}  // namespace prof::preload
