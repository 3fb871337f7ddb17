// PROF_BUDGET: GPU times in bursts. CUPTI stays open; a burst turns its kinds on, and off again when the records of what was launched in it
// have come. budget.h says when. On the helper thread, but for gpu_burst_holds().
#pragma once

#include "preload/base/every_launch.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

void expect_gpu_bursts();  // a budget governs this life
void reset_gpu_bursts();   // another part of the run, or the child of a fork
// Between the two. Asked by every launch.
inline constexpr std::atomic<bool>& g_in_bursts = g_every_launch.in_bursts;
inline bool gpu_in_bursts() { return g_in_bursts.load(std::memory_order_relaxed); }

// Whether CUPTI is open for bursts: the state of gpu_activity.h is Resting or Burst.
bool gpu_bursts_possible();
// False: no burst begins. CUPTI refused, which ends GPU times (counted and said), or it is not resting.
bool begin_gpu_burst();
void end_gpu_burst();
// Behind the end CUPTI collects until what was launched is known to have finished (Late: or not), then it is true.
enum class BurstDrain : uint8_t { Early, Settled, Late };
bool gpu_burst_drained(BurstDrain how);
// A burst is over, and CUPTI still collects.
bool gpu_burst_drains();
// The recording ends in the middle of a burst, whose records its last flush awaits.
void gpu_burst_ends_with_recording();

// Asked by a launch once it has been counted: whether a burst holds all of it, or it may have lost its GPU record. `begin_tick`: of the log's
// clock, in front of the call.
bool gpu_burst_holds(uint64_t begin_tick);

// Of `unreported` operations, which have no record yet, those that are waited for: nobody awaits what is launched between bursts.
uint64_t awaited_gpu_records(uint64_t unreported);

}  // namespace prof::preload
