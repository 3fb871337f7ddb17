// In which state is GPU activity in this recording: collected, in bursts, or not at all? capture/gpu_activity.cpp and
// capture/gpu_bursts.cpp write it. Every launch and all code that calls CUPTI reads it, in the program.
//
//   Cold -> Taking -> On -> Finished (exit)
//                  |-> Off (PROF_GPU=off, no CUPTI, refused, in use, forked, PROF_COUNTERS)
//                  \-> Resting <-> Burst (PROF_BUDGET), from both as from On
#pragma once

#include "preload/base/every_launch.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

enum class GpuActivity : uint32_t { Cold, Taking, Resting, On, Burst, Off, Finished };
inline constexpr std::atomic<GpuActivity>& g_gpu_activity = g_every_launch.gpu_activity;

// Whether launches call take_gpu_activity(): 0 until no subsystem needs their calls.
inline constexpr uint32_t& g_gpu_activity_tried = g_every_launch.gpu_activity_tried;
inline void pass_gpu_activity() { __atomic_store_n(&g_gpu_activity_tried, 1u, __ATOMIC_RELAXED); }
inline void await_launches() { __atomic_store_n(&g_gpu_activity_tried, 0u, __ATOMIC_RELAXED); }

extern std::atomic<bool> g_gpu_burst_drains;  // a burst is over, and CUPTI still collects

constexpr bool is_collecting(GpuActivity state) { return state == GpuActivity::On || state == GpuActivity::Burst; }
constexpr bool is_attached(GpuActivity state) { return is_collecting(state) || state == GpuActivity::Resting; }

// Whether records of CUPTI belong in the log, and whether CUPTI collects them now.
bool gpu_activity_collects();
bool gpu_activity_collecting();

// CUPTI's functions while GPU activity is collected; null otherwise. Only for calls of ours.
struct Cupti;
const Cupti* cupti_in_use();

}  // namespace prof::preload
