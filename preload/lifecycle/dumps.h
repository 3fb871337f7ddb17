// When is a flight recorder's log closed, so that it stays as it is? At a moment that the user named: PROF_DUMP, or
// PROF_SIGNAL. The helper thread closes it, so the thread that met the moment waits for nothing; the next log begins
// with the next call (PROF_PARTS). Copying the ring inside the program would cost it the disk; from outside `prof ctl
// PID dump` does that. In the program.
#pragma once

#include "preload/format/ids.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

// PROF_DUMP, read where a life begins.
void open_dumps();

// The ring is to be kept; asked for by the helper's next round. `why` lives for ever. Safe in a signal handler.
void ask_dump(const char* why);

// PROF_DUMP=profiler: cuProfilerStop has returned.
void profiler_dumps();

// PROF_DUMP=nvtx:NAME: a range or mark was recorded.
extern std::atomic<bool> g_dump_at_marker;
inline bool marker_may_dump() { return g_dump_at_marker.load(std::memory_order_relaxed); }
void marker_dumps(std::string_view name);

// PROF_DUMP=slow:SECONDS, looked for by the helper thread: a launch that takes so long is noticed while it still does,
// even if it never returns, and no launch is slower for it. How often it must look; 0: never.
uint64_t slow_launch_poll_ns();
void look_for_slow_launch(uint64_t life);

}  // namespace prof::preload
