// GPU times through CUPTI's activity API, without a subscriber. Taken late.
#pragma once

#include "preload/capture/cupti/gpu_state.h"

#include <string_view>

namespace prof::preload {

// Called by the hooks of context creation and of every launch before the real call; after the first time one atomic load (unless launches
// are to come by). Finds and opens CUPTI (see gpu_activity.cpp for the order), registers the buffers, enables the kinds, defines what was
// found in the log. Never waits: one thread does it, others pass. `pass`: no subsystem wants launches to come by, but sampling might.
void take_gpu_activity_slow(bool pass);
inline void take_gpu_activity(bool pass) {
  if (__builtin_expect(__atomic_load_n(&g_gpu_activity_tried, __ATOMIC_RELAXED) == 0, 0)) take_gpu_activity_slow(pass);
}

// Before the first context of a process whose recording begins later: unless some driver call is recorded while that context is made,
// CUPTI is never shown any (measured, CUDA 13.0), and nothing would tell a kernel's launch. So CUPTI is opened and asked for a call that is
// over, cuInit, which costs a launch nothing.
void arm_gpu_activity();

// Hardware counters were to be measured instead, and cannot be (hardware_counters/counter_recording.h): GPU activity is collected from here on.
void collect_gpu_activity_after_all();

// Whether a launch entered now will get a GPU record (format::kLaunchNoGpuTimes otherwise). Counts launches that came too early.
bool launch_before_gpu_times(GpuActivity state);  // false
inline bool gpu_activity_on() {
  const GpuActivity state = g_gpu_activity.load(std::memory_order_relaxed);
  if (state < GpuActivity::On) [[unlikely]]
    return launch_before_gpu_times(state);
  return state <= GpuActivity::Burst;
}

// Helper thread, about once a PROF_FLUSH: collects what is complete. May hang inside CUPTI; nobody waits for it unbounded.
void flush_gpu_activity();
// At exit: forced flush, bounded by PROF_EXIT_WAIT, counting what is pending. Called on the exiting thread.
void finish_gpu_activity();
// Where the program goes on without being recorded: not forced, and CUPTI collects nothing for us any more.
void stop_gpu_activity();

// CUPTI refused to: GPU times end here, or never began.
void refuse_gpu_activity(std::string_view reason);

// Another part of the run begins: CUPTI, already open, is asked to collect again by its first launch.
void restart_gpu_activity();
// The child of a fork: without a call of CUPTI.
void abandon_gpu_activity();

}  // namespace prof::preload
