// How are the last GPU records of a process or of a recording collected? Each function here is a flush of CUPTI on its
// own thread (bounded_flush.h), which waits for the GPU as long as that is useful. gpu_activity.cpp and gpu_bursts.cpp
// use it. Stop times are CLOCK_MONOTONIC, in ns.
#pragma once

#include <cstdint>

namespace prof::preload {

// The process ends: collects all records, of operations that finished or not.
void last_flush(uint64_t stop_ns);

// The program continues, and other threads launch meanwhile. Not forced: CUPTI would complete buffers with unfinished
// records, and write to them when the operations end (docs/overhead.md, "How a program is measured").
void flush_of_part(uint64_t stop_ns);

// Runs one of these for at most `wait_ns`. If it takes longer, that is counted and reported.
void flush_within(void (*work)(uint64_t stop_ns), uint64_t wait_ns);

// Writes to the log's loss counters how many operations still wait for their record.
void store_gpu_pending();

}  // namespace prof::preload
