// How are GPU times collected? By CUPTI's activity API, without a subscriber, opened as late as the first context or
// launch. Hooks of launches, the helper thread and the lifecycle use it.
#pragma once

#include "preload/capture/cupti/gpu_state.h"

#include <string_view>

namespace prof::preload {

// Called by the hooks of context creation and of every launch before the real call. After the first time it costs one
// atomic load, unless launches must call it. It finds and opens CUPTI (see gpu_activity.cpp for the order), registers
// the buffers, enables the kinds and writes what was found to the log. It never waits: one thread does it, others pass.
// `pass`: no subsystem needs the calls of launches, but sampling might.
void take_gpu_activity_slow(bool pass);
inline void take_gpu_activity(bool pass) {
  if (__builtin_expect(__atomic_load_n(&g_gpu_activity_tried, __ATOMIC_RELAXED) == 0, 0)) take_gpu_activity_slow(pass);
}

// Called before the first context of a process whose recording starts later. Unless some driver call is recorded while
// that context is made, CUPTI never reports any (measured, CUDA 13.0). No record would then assign a kernel to its
// launch. So CUPTI is opened and cuInit is enabled, a call that is over and costs a launch nothing.
void arm_gpu_activity();

// Called if hardware counters were requested and are not possible (hardware_counters/counter_recording.h): GPU activity
// is collected from now on.
void collect_gpu_activity_after_all();

// Whether a launch entered now will get a GPU record (format::kLaunchNoGpuTimes otherwise). Counts launches that came
// too early.
bool launch_before_gpu_times(GpuActivity state);  // returns false
inline bool gpu_activity_on() {
  const GpuActivity state = g_gpu_activity.load(std::memory_order_relaxed);
  if (state < GpuActivity::On) [[unlikely]]
    return launch_before_gpu_times(state);
  return state <= GpuActivity::Burst;
}

// Helper thread, about once a PROF_FLUSH: collects the complete records. May hang inside CUPTI; no thread waits for it
// without a limit.
void flush_gpu_activity();
// Whether PC samples of the recorder are the reason if the library of range profilers is loaded. Beside a range
// profiler of the program, CUPTI is not flushed.
void pc_samples_load_range_profiler(bool they_do);
// At exit: a forced flush, bounded by PROF_EXIT_WAIT, that counts pending records. Called on the exiting thread.
void finish_gpu_activity();
// Called if the program continues unrecorded. The flush is not forced, and CUPTI then collects nothing for us.
void stop_gpu_activity();

// CUPTI refused to collect: GPU times end here, or never started.
void refuse_gpu_activity(std::string_view reason);

// Another recording starts: its first launch enables CUPTI, already open, again.
void restart_gpu_activity();
// Called in the child of a fork; makes no call of CUPTI.
void abandon_gpu_activity();

}  // namespace prof::preload
