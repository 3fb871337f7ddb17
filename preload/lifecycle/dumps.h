// When does the log of a flight recorder end, so that its ring is kept? At a moment that the user named with PROF_DUMP
// or PROF_SIGNAL. The helper thread finishes the log, so the thread that reached the moment does not wait. The next log
// starts with the next call (PROF_PARTS). This code must not copy the ring, because the program would wait for the
// disk. From outside, `prof ctl PID dump` copies it. This code runs in the program.
#pragma once

#include "preload/format/ids.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

// Reads PROF_DUMP when a recording starts.
void open_dumps();

// Requests that the ring is kept. The helper thread does it in its next round. `why` must remain valid until the
// process ends. Safe in a signal handler.
void request_dump(const char* why);

// PROF_DUMP=profiler: cuProfilerStop has returned.
void profiler_dumps();

// PROF_DUMP=nvtx:NAME: a range or mark was recorded.
extern std::atomic<bool> g_dump_at_marker;
inline bool marker_may_dump() { return g_dump_at_marker.load(std::memory_order_relaxed); }
void marker_dumps(std::string_view name);

// PROF_DUMP=slow:SECONDS: the helper thread looks for a launch that takes that long. It notices the launch while the
// call is still running, even if the call never returns, and no launch becomes slower. slow_launch_poll_ns() is how
// often it must look; 0: never.
uint64_t slow_launch_poll_ns();
void look_for_slow_launch(uint64_t life);

}  // namespace prof::preload
