// Recording that begins with launch number N of the process (PROF_START=launches:N) or with an NVTX range
// (PROF_START=nvtx:NAME), and that ends with that range, or behind PROF_LAUNCHES launches. A hook that waits asks
// window_is() and goes on; while recording the launch path asks nothing of this: a launch that must be counted comes by
// prepare_gpu_activity(). What ends a recording is said here and done by the caller. In the program.
#pragma once

#include "preload/record/recording_window.h"
#include "preload/record/thread_local.h"

#include <atomic>
#include <string_view>

namespace prof::preload {

bool begins_with_range();  // PROF_START=nvtx:NAME
// The start of a life: none of its launches has come.
void open_triggers();

// A launch enters while one is waited for: true if this is the one, and then the window is open.
bool is_awaited_launch();
// A launch enters while launches are counted. True: it is the one after PROF_LAUNCHES, so the caller ends the recording
// without it.
bool ends_with_launch();

// A range begins while one is waited for; the default domain's name is empty. True: the window is open, record the
// range and say how it was begun.
bool is_awaited_range(std::string_view domain, std::string_view name);
void awaited_range_is_pushed(const void* domain);
void awaited_range_is_started(uint64_t range);

// The thread that pushed the range pushes and pops, each domain a stack of its own: the pop that closes it ends the
// recording.
extern std::atomic<const ThreadLocal*> g_range_thread;
inline bool in_awaited_range() {
  const ThreadLocal* const thread = g_range_thread.load(std::memory_order_relaxed);
  return thread != nullptr && thread == &t_local;  // the usual path is one load
}
void range_pushed(const void* domain);
bool ends_with_pop(const void* domain);  // true: the caller ends the recording
// The same of a range that was started.
extern std::atomic<uint64_t> g_started_range;
inline bool is_awaited_start(uint64_t range) { return g_started_range.load(std::memory_order_relaxed) == range; }
void clear_awaited_range();  // it has ended

}  // namespace prof::preload
