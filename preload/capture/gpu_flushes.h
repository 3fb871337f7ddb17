// Collecting the GPU records of what ends: the process, or a part of the run. Each is a flush of CUPTI on a thread of
// its own (bounded_flush.h) that waits for the GPU as long as that is worth it. The times to stop are of CLOCK_MONOTONIC, in ns.
#pragma once

#include <cstdint>

namespace prof::preload {

// The process ends: what there is, finished or not.
void last_flush(uint64_t stop_ns);

// The program goes on, and other threads launch meanwhile. Not forced: CUPTI would hand over buffers with records that are not
// complete, and write into them when the operations end (docs/overhead.md, "How a program is measured").
void flush_of_part(uint64_t stop_ns);

// Runs one of these for at most `wait_ns`; that it took longer is counted and said.
void flush_within(void (*work)(uint64_t stop_ns), uint64_t wait_ns);

// In the log's counters: how many operations still await their record.
void store_gpu_pending();

}  // namespace prof::preload
