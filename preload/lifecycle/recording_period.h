// Which part of the run is recorded: all of it, from cudaProfilerStart to cudaProfilerStop, from one time to another,
// from one signal to the next, from one launch to another, or as long as an NVTX range lasts (triggers.h). When a part
// ends its log is closed, CUPTI's collecting is turned off, and every hook passes through; with PROF_PARTS the next one
// is waited for.
#pragma once

#include "preload/control/prof_ctl.h"
#include "preload/record/recording_window.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

// Takes up PROF_START, PROF_DELAY and PROF_SIGNAL: once, by ready_to_record().
void open_window();

bool window_awaits_time();  // AwaitsTime, and it has not come

bool control_begins(Window now);

// Nothing is recorded here and nothing says that it begins with this call: it goes straight to the driver. Asked where
// the window is not open. False where there is more to do than that: a part begins, launches are counted, or what
// precedes the first part is yet to be done.
bool passes_by();

// Asked by enter_slow() while the process does not record.
inline bool in_window() {
  const uint32_t window = g_window.load(std::memory_order_acquire);
  if (window == static_cast<uint32_t>(Window::Open)) [[likely]]
    return true;
  if (window == static_cast<uint32_t>(Window::AwaitsTime)) return !window_awaits_time();
  return control_has_news(window == static_cast<uint32_t>(Window::AwaitsControl)) &&
         window != static_cast<uint32_t>(Window::Ending) && control_begins(static_cast<Window>(window));
}

// The program called cuProfilerStart; cuProfilerStop has returned. Without PROF_START=profiler nothing happens.
void profiler_started();
void profiler_stopped();

// Why the helper thread is to end the recording: a signal, whose handler cannot, or it was being started. Null: it is
// not.
const char* end_asked();
void ask_end(const char* why);
// The same, and another part begins with the next call if PROF_PARTS allows one: a flight recorder's.
void ask_part_end(const char* why);

// Ends the recording: waits, no longer than at exit, for the GPU work that was recorded. Keeps errno. False: a thread
// is just starting it; the helper thread is asked to end it then. `why` lives for ever.
bool end_window(const char* why);

}  // namespace prof::preload
