// How are GPU times taken in bursts (PROF_BUDGET)? CUPTI stays open. A burst enables its kinds, and disables them again
// when the records of its launches have arrived. budget.h decides when. The helper thread calls it, except
// gpu_burst_holds(), which launches call.
#pragma once

#include "preload/base/every_launch.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

struct StreamState;

void expect_gpu_bursts();  // a budget governs this recording
void reset_gpu_bursts();   // another recording, or the child of a fork
// Whether GPU times are taken in bursts: true between the two calls above. Every launch reads it.
inline constexpr std::atomic<bool>& g_in_bursts = g_every_launch.in_bursts;
inline bool gpu_in_bursts() { return g_in_bursts.load(std::memory_order_relaxed); }

// Whether CUPTI is open for bursts: the state of gpu_activity.h is Resting or Burst.
bool gpu_bursts_possible();
// False: no burst starts. Either CUPTI refused, which ends GPU times (counted and reported), or it is not resting.
bool begin_gpu_burst();
void end_gpu_burst();
// After the end CUPTI collects until the launched operations are known to have finished; then this is true. Late: do
// not wait for them.
enum class BurstDrain : uint8_t { Early, Settled, Late };
bool gpu_burst_drained(BurstDrain how);
// Whether a burst is over and CUPTI still collects.
bool gpu_burst_drains();
// The recording ends in the middle of a burst. Its last flush waits for the records of the burst.
void gpu_burst_ends_with_recording();

// Called once by each launch, after it has been counted. Whether a burst holds all of it; if not, it may have lost its
// GPU record. `begin_tick`: of the log's clock, before the call.
bool gpu_burst_holds(const StreamState* stream, uint64_t begin_tick, uint64_t end_tick, uint64_t operations);

// Of `unreported` operations, which have no record yet, the number that is waited for. Operations launched between
// bursts are not waited for.
uint64_t awaited_gpu_records(uint64_t unreported);

}  // namespace prof::preload
