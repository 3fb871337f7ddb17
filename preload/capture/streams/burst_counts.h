// Which operations were launched in a burst of GPU times (PROF_BUDGET), and which of them has CUPTI reported? Records
// of operations from before a burst and from after its end arrive while it is drained, and those of a burst may arrive
// after it. So they are told apart by their correlation id: a burst has the ids of the calls whose start CUPTI saw
// within it. Launches call it, the helper thread, and the thread that reads CUPTI's buffers.
#pragma once

#include <cstdint>

namespace prof::preload {

struct StreamState;

// Helper thread. The times are the same moment in ticks and in CUPTI's clock.
void begin_burst_counts(uint64_t tick, uint64_t gpu_ns);
void end_burst_counts(uint64_t tick, uint64_t gpu_ns);
void reset_burst_counts();                           // another recording, or the child of a fork
void clear_burst_counts(const StreamState& stream);  // a stream starts

// A launch counts itself once, after its call. `collecting`: the burst runs now. Returns whether the burst holds all of
// the call. If it holds a part, CUPTI may report it or not.
bool count_in_burst(const StreamState* stream, uint64_t begin_tick, uint64_t end_tick, uint64_t operations,
                    bool collecting);

// CUPTI's record of a call that launches. Before the operations of the same buffer.
void burst_call(uint64_t start_ns, uint32_t correlation);
// An operation was reported; true: it belongs to the burst that runs or is being drained. Once for each call.
bool burst_operation(uint32_t correlation);
// `operations` of that burst were reported on a stream.
void burst_reported(uint32_t gpu_context, uint32_t gpu_stream, uint64_t operations);

// Whether all operations of the burst on this stream were reported. False also if that is not certain.
bool burst_is_reported(const StreamState& stream);
// Operations of all bursts that were not reported.
uint64_t bursts_unreported();

}  // namespace prof::preload
