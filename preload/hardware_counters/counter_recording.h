// Hardware counters (PROF_COUNTERS): values of each launch, or of NVTX ranges, instead of GPU times of everything. In the program; these
// calls wait, lock and map memory, which was asked for. Without the option none of them is reached: launches come by only while
// g_gpu_activity_tried stays 0, everything else asks hardware_counters_on() first.
//
//   launch    hook -> wait until the context is idle -> begin -> real call -> end -> wait -> record -> note whose range it was
//   values    CUPTI's image full, the helper thread's rounds, the context's end, the recording's end -> counter_values events
//
// A context has a session of its own (counter_slots.h), opened by the first call that may put work on it. If the first of all cannot be
// opened the reason is said and GPU activity is collected as without the option.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

extern std::atomic<bool> g_hardware_counters;
inline bool hardware_counters_on() { return g_hardware_counters.load(std::memory_order_relaxed); }
extern std::atomic<bool> g_hardware_counters_over;  // the last values are being read: no launch is measured any more
inline bool hardware_counters_over() { return g_hardware_counters_over.load(std::memory_order_relaxed); }

// What the counters have done about GPU activity, a layer above them.
struct GpuActivityCalls {
  void (*take)();               // before a range that is measured: a recording may begin with it
  void (*collect_after_all)();  // there are no counters, so there are GPU times
};
extern GpuActivityCalls g_gpu_activity_calls;  // set by open_counters()

// A call that may put work on the current context is about to be made.
void prepare_counters();
// There are no hardware counters in this life, and the log says why. drop_counters(): false if there were none to be.
// replace_counters_by_gpu_times() also prints the reason and collects GPU activity instead.
bool drop_counters(std::string_view reason);
void replace_counters_by_gpu_times(std::string_view reason);

// Captures that are open in the process, recorded or not: a wait for a context would invalidate them. Told around the real calls that begin
// and end one; when capture_opens() returns no wait of ours is in flight.
extern std::atomic<uint32_t> g_open_captures;
inline bool any_open_capture() { return g_open_captures.load(std::memory_order_relaxed) != 0; }
void capture_opens();
void capture_closes();

// Before a context ends, or might. `ends`: it does.
void counters_before_context_end(CUcontext context, bool ends);
void counters_after_context_end(CUcontext context);

void flush_counters();    // the helper thread's rounds
void finish_counters();   // at exit, bounded by PROF_EXIT_WAIT
void stop_counters();     // the same where the program continues without being measured
void abandon_counters();  // the child of a fork: without a call of CUPTI

}  // namespace prof::preload
