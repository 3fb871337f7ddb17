// How does the recorder wait for a flush of CUPTI no longer than a limit? The flush runs on its own thread, because
// CUPTI was seen never to return. gpu_flushes.cpp, counter_recording.cpp and hardware_sampling.cpp use it at exit, and
// when another tool takes CUPTI over. It is never called on the launch path.
#pragma once

#include <cstdint>

namespace prof::preload {

enum class FlushOutcome { Done, TimedOut, NoThread };

// Runs `work(stop_ns)` on the thread and waits at most `wait_ns`. The work should end by itself at CLOCK_MONOTONIC
// `stop_ns`, somewhat before the wait does. After TimedOut the thread continues; what it does then must be safe at any
// time.
FlushOutcome run_bounded(void (*work)(uint64_t stop_ns), uint64_t wait_ns);

}  // namespace prof::preload
