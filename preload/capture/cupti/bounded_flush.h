// Runs a flush of CUPTI on a thread of its own and waits for it no longer than asked: CUPTI was seen never to return. Used at
// exit and when another tool takes CUPTI over; never on the launch path.
#pragma once

#include <cstdint>

namespace prof::preload {

enum class FlushOutcome { Done, TimedOut, NoThread };

// `work(stop_ns)` runs on the thread; it should end by itself at CLOCK_MONOTONIC `stop_ns`, somewhat before the wait does.
// After TimedOut the thread goes on by itself; what it does then must be safe at any time.
FlushOutcome run_bounded(void (*work)(uint64_t stop_ns), uint64_t wait_ns);

}  // namespace prof::preload
