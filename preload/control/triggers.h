// Which launch or NVTX range starts or ends a recording? A recording starts with launch number N of the process
// (PROF_START=launches:N) or with an NVTX range (PROF_START=nvtx:NAME). It ends with that range, or after PROF_LAUNCHES
// launches. A hook that waits checks window_is() and continues. While recording, the launch path checks nothing of
// this: a launch that must be counted takes the path of prepare_gpu_activity(). This code decides that a recording
// ends; the caller ends it. This code runs in the program.
#pragma once

#include "preload/record/recording_window.h"
#include "preload/record/thread_local.h"

#include <atomic>
#include <string_view>

namespace prof::preload {

bool starts_with_range();  // PROF_START=nvtx:NAME
// Called when a recording starts: none of its launches has occurred yet.
void open_triggers();

// A launch enters while one is awaited. Returns true if this is the one; the window is then open.
bool is_awaited_launch();
uint64_t passed_launches();  // launches that entered while one was awaited
// A launch enters while launches are counted. Returns true if it is the one after PROF_LAUNCHES launches: the caller
// ends the recording without it.
bool stops_with_launch();

// A range starts while one is awaited. The name of the default domain is empty. If it returns true, the window is open;
// the caller records the range and calls the function below for its kind, pushed or started.
bool is_awaited_range(std::string_view domain, std::string_view name);
void awaited_range_is_pushed(const void* domain);
void awaited_range_is_started(uint64_t range);

// The thread that pushed the range pushes and pops ranges; each domain has its own stack. The pop of the range ends the
// recording.
extern std::atomic<const ThreadLocal*> g_range_thread;
inline bool in_awaited_range() {
  const ThreadLocal* const thread = g_range_thread.load(std::memory_order_relaxed);
  return thread != nullptr && thread == &t_local;  // the usual path is one load
}
void range_pushed(const void* domain);
bool ends_with_pop(const void* domain);  // true: the caller ends the recording
// The same for a range that was started (nvtxRangeStart).
extern std::atomic<uint64_t> g_started_range;
inline bool is_awaited_start(uint64_t range) { return g_started_range.load(std::memory_order_relaxed) == range; }
void clear_awaited_range();  // the range has ended

}  // namespace prof::preload
