// Which period of the run is recorded? One of these:
//   the whole run
//   from cudaProfilerStart to cudaProfilerStop
//   from one time to another, from one signal to the next, or from one launch to another
//   as long as an NVTX range is open (triggers.h)
// When a recording ends, its log is finished, CUPTI's collecting is disabled, and every hook passes through. With
// PROF_PARTS the next recording is then awaited. Hooks and the helper thread use it. This code runs in the program.
#pragma once

#include "preload/control/prof_ctl.h"
#include "preload/record/recording_window.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

// Reads PROF_START, PROF_DELAY and PROF_SIGNAL and sets the first window. ready_to_record() calls it once.
void open_window();

// Whether the time of AwaitsTime has not come yet. If it has, opens the window.
bool window_awaits_time();

// Opens the window if prof ctl requested a start.
bool control_starts(Window now);

// Whether a call goes straight to the driver, because nothing is recorded and nothing starts with this call. Called if
// the window is not open. Returns false if there is more to do: a recording starts, launches are counted, or the
// preparation before the first recording is not done yet.
bool passes_by();

// Whether a recording may start now. enter_slow() calls it while the process does not record.
inline bool in_window() {
  const uint32_t window = g_window.load(std::memory_order_acquire);
  if (window == static_cast<uint32_t>(Window::Open)) [[likely]]
    return true;
  if (window == static_cast<uint32_t>(Window::AwaitsTime)) return !window_awaits_time();
  return has_control_request(window == static_cast<uint32_t>(Window::AwaitsControl)) &&
         window != static_cast<uint32_t>(Window::Ending) && control_starts(static_cast<Window>(window));
}

// The program called cuProfilerStart, or cuProfilerStop has returned. Without PROF_START=profiler and
// PROF_DUMP=profiler nothing happens.
void profiler_started();
void profiler_stopped();

// Why the helper thread must end the recording; null if it must not. request_end() is for signal handlers, which cannot
// end it, and for a recording that is still being started.
const char* end_requested();
void request_end(const char* why);
// For the helper thread: the log has no room for more records. From then on calls cost what they cost after the end of
// a recording, and are counted as lost until cuProfilerStop or another recording.
void end_because_log_is_full();
// The same as request_end(), and the next recording starts with the next call if PROF_PARTS allows one. For a flight
// recorder.
void request_recording_end(const char* why);

// Ends the recording. Waits, no longer than at exit, for the GPU operations that were recorded. Keeps errno. Returns
// false if a thread is starting the recording; the helper thread then ends it. `why` must remain valid until the
// process ends.
bool end_window(const char* why);

}  // namespace prof::preload
