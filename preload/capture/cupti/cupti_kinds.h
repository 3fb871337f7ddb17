// What of CUPTI is on for us: kinds of records, and by which records it tells what call an operation came from. What another profiler of the
// program uses stays on when ours is turned off, and what we use stays on when theirs is (cupti_stand_ins.cpp).
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

// Empty: they are on; else the reason, and nothing is.
std::string_view enable_cupti_kinds();
// What was reached, for the log: "driver calls", the launching ones; "every call" of driver and run time, of which the others are left out
// when they are read, where CUPTI cannot name single ones (before CUDA 12.5); "none".
const char* enable_cupti_calls();
const char* enable_cupti_graphs();
void enable_unified_memory();
void disable_cupti_kinds();
// Until the next burst: operations are off, calls stay on. A call that is under way when calls are turned off leaves its thread with its
// correlation id for all later calls (measured, CUPTI 13.0 on an H200).
void pause_cupti_kinds();
// Some driver call is recorded while the first context is made, else none ever is; cuInit is over and costs a launch nothing. (Before CUDA
// 12.5 it is every call, until the recording ends.)
void show_driver_calls();
// The child of a fork.
void abandon_cupti_kinds();

// Whether one launch of a graph is one operation with one GPU record (PROF_GRAPHS=whole).
extern std::atomic<bool> g_whole_graphs;

// What we need on, whatever another profiler turns off.
bool gpu_activity_uses(CUpti_ActivityKind kind);
bool gpu_activity_uses_driver_call(uint32_t cbid);
bool gpu_activity_uses_runtime_call(uint32_t cbid);
// Another profiler collects kernels, which CUPTI leaves out of graphs that are timed as a whole: nodes are timed from now on.
void gpu_activity_times_nodes();
// Another profiler collects runtime calls. From then on CUPTI names no driver call inside a runtime call any more, also when they are
// turned off again (measured, CUPTI 13.0), so runtime calls tell where those operations came from.
void gpu_activity_meets_runtime_calls();
// Another profiler turns KIND_DRIVER or KIND_RUNTIME off: true if it stays on for us, now without the calls that put no work on a
// GPU where CUPTI can tell them apart. (Turned off as a kind and on again call by call, CUPTI 13.0 records none.)
bool gpu_activity_keeps_calls(CUpti_ActivityKind kind);

}  // namespace prof::preload
