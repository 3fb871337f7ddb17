// GPU times through CUPTI's activity API, without a subscriber. Taken late.
#pragma once

#include "preload/base/every_launch.h"
#include "preload/capture/cupti/cupti_headers.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

// Called by the hooks of context creation and of every launch before the real call; after the first time one atomic load
// (unless PROF_LAUNCHES counts).
// Finds and opens CUPTI (see gpu_activity.cpp for the order), registers the buffers, enables the kinds, defines what was
// found in the log. Never waits: one thread does it, others pass.
void take_gpu_activity_slow();
inline constexpr uint32_t& g_gpu_activity_tried = g_every_launch.gpu_activity_tried;  // 0: not yet
inline void pass_gpu_activity() { __atomic_store_n(&g_gpu_activity_tried, 1u, __ATOMIC_RELAXED); }
inline void take_gpu_activity() {
  if (__builtin_expect(__atomic_load_n(&g_gpu_activity_tried, __ATOMIC_RELAXED) == 0, 0)) take_gpu_activity_slow();
}

// Before the first context of a process whose recording begins later: unless some driver call is recorded while that context is made,
// CUPTI is never shown any (measured, CUDA 13.0), and nothing would tell a kernel's launch. So CUPTI is opened and asked for a call that is
// over, cuInit, which costs a launch nothing.
void arm_gpu_activity();

// Hardware counters were to be measured instead, and cannot be (hardware_counters/counter_recording.h): GPU activity is collected from here on.
void collect_gpu_activity_after_all();

//   Cold -> Taking -> On -> Finished (exit)
//                  |-> Off (PROF_GPU=off, no CUPTI, refused, in use, forked, PROF_COUNTERS)
//                  \-> Resting <-> Burst (PROF_BUDGET), from both as from On
enum class GpuActivity : uint32_t { Cold, Taking, Resting, On, Burst, Off, Finished };
inline constexpr std::atomic<GpuActivity>& g_gpu_activity = g_every_launch.gpu_activity;

// CUPTI's functions while GPU activity is collected; null otherwise. Calls of ours only.
struct Cupti;
const Cupti* cupti_in_use();

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
void end_gpu_activity();

// Whether records of CUPTI belong into the log, and whether CUPTI is collecting them now.
bool gpu_activity_collects();
bool gpu_activity_collecting();
// CUPTI refused to: GPU times end here, or never began.
void refuse_gpu_activity(std::string_view reason);

// Another part of the run begins: CUPTI, already open, is asked to collect again by its first launch.
void restart_gpu_activity();
// The child of a fork: forgets CUPTI without calling it.
void forget_gpu_activity();

}  // namespace prof::preload
