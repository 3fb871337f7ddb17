// What of CUPTI is enabled for the recorder: which kinds of records, and which records assign an operation to its call?
// gpu_activity.cpp, gpu_bursts.cpp and the stand-ins use it. What another profiler of the program uses stays enabled
// when ours is disabled, and the reverse (cupti_stand_ins.cpp).
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

// Empty: the kinds are enabled. Else the reason, and none is enabled.
std::string_view enable_cupti_kinds();
// Returns what was reached, for the log. "driver calls": the launching ones. "every call": all of driver and runtime,
// because CUPTI cannot select single ones (before CUDA 12.5); the others are left out when they are read. "none".
const char* enable_cupti_calls();
const char* enable_cupti_graphs();
void enable_unified_memory();
void disable_cupti_kinds();
// Until the next burst, operations are disabled and calls stay enabled. If calls are disabled while a thread is inside
// one, CUPTI reports that call's correlation id for all later calls of the thread. (Measured: CUPTI 13.0 on an H200.)
void pause_cupti_kinds();
// Records one driver call, cuInit, while the first context is made; otherwise CUPTI never records any. cuInit is over,
// so this costs a launch nothing. (Before CUDA 12.5 every call is enabled, until the recording ends.)
void show_driver_calls();
// Called in the child of a fork.
void abandon_cupti_kinds();

// Whether one launch of a graph is one operation with one GPU record (PROF_GRAPHS=whole).
extern std::atomic<bool> g_whole_graphs;

// What the recorder needs enabled, whatever another profiler disables.
bool gpu_activity_uses(CUpti_ActivityKind kind);
bool gpu_activity_uses_driver_call(uint32_t cbid);
bool gpu_activity_uses_runtime_call(uint32_t cbid);
// Called when another profiler collects kernels. CUPTI leaves these out of graphs that are timed as a whole, so nodes
// are timed from now on.
void gpu_activity_times_nodes();
// Called when another profiler collects runtime calls. From then on CUPTI reports no driver call inside a runtime call,
// also after they are disabled again (measured, CUPTI 13.0). Runtime calls then assign those operations to their calls.
void gpu_activity_meets_runtime_calls();
// Another profiler has callbacks of runtime calls from now on.
void gpu_activity_meets_runtime_callbacks();
// Called when another profiler disables KIND_DRIVER or KIND_RUNTIME. True: the kind stays enabled for us; if CUPTI can
// select single calls, those that submit no operation are disabled. (If the kind is disabled and then enabled call by
// call, CUPTI 13.0 records none.)
bool gpu_activity_keeps_calls(CUpti_ActivityKind kind);

}  // namespace prof::preload
