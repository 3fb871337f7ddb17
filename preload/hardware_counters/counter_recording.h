// How are hardware counters (PROF_COUNTERS) recorded? They are values of each launch, or of NVTX ranges, and replace
// GPU times. Hooks and the helper thread call these functions, in the program. The functions wait, lock and map memory;
// the user requested that with the option. Without the option none of them runs: launches reach them only while
// g_gpu_activity_tried is 0, and all other callers check hardware_counters_on() first.
//
//   launch    hook -> wait until the context is idle -> begin -> real call -> end -> wait -> record ->
//             note whose range it was
//   values    CUPTI's image full, the helper thread's rounds, the context's end, the recording's end ->
//             counter_values events
//
// Each context has its own session (counter_slots.h). The first call that may submit an operation to the context opens
// it. If the first session of all cannot be opened, the reason is reported and GPU activity is collected as without the
// option.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

extern std::atomic<bool> g_hardware_counters;
inline bool hardware_counters_on() { return g_hardware_counters.load(std::memory_order_relaxed); }
extern std::atomic<bool> g_hardware_counters_over;  // the last values are being read: no further launch is measured
inline bool hardware_counters_over() { return g_hardware_counters_over.load(std::memory_order_relaxed); }

// What the counters request from GPU activity, which is a layer above them.
struct GpuActivityCalls {
  void (*take)();               // before a range that is measured: a recording may start with it
  void (*collect_after_all)();  // there are no counters, so GPU times are collected
};
extern GpuActivityCalls g_gpu_activity_calls;  // set by open_counters()

// Called before a call that may submit an operation to the current context.
void prepare_counters();
// Turns hardware counters off for this recording and writes the reason to the log. drop_counters() returns false if
// they were off already. replace_counters_by_gpu_times() also prints the reason and collects GPU activity instead.
bool drop_counters(std::string_view reason);
void replace_counters_by_gpu_times(std::string_view reason);

// Captures that are open in the process, recorded or not. A wait for a context would invalidate them. Call
// capture_opens() and capture_closes() around the real calls that begin and end one. After capture_opens() returns, no
// wait of ours is in progress.
extern std::atomic<uint32_t> g_open_captures;
inline bool any_open_capture() { return g_open_captures.load(std::memory_order_relaxed) != 0; }
void capture_opens();
void capture_closes();

// Called before a context ends, or may end. `ends`: it certainly ends.
void counters_before_context_end(CUcontext context, bool ends);
void counters_after_context_end(CUcontext context);

void flush_counters();    // the helper thread's rounds
void finish_counters();   // at exit, bounded by PROF_EXIT_WAIT
void stop_counters();     // as finish_counters(); the program continues unmeasured
void abandon_counters();  // the child of a fork: without a call of CUPTI

}  // namespace prof::preload
