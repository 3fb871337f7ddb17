// What of CUPTI is on for us: kinds of records, and by which records it tells what call an operation came from. What another profiler of the
// program uses stays on when ours is turned off, and what we use stays on when theirs is (cupti_stand_ins.cpp).
#pragma once

#include "preload/capture/cupti_headers.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

// Empty: they are on; else the reason, and nothing is.
std::string_view enable_cupti_kinds();
// What was reached, for the log.
const char* enable_cupti_calls();
const char* enable_cupti_graphs();
void enable_unified_memory();
// PROF_DEVICE_GRAPHS: graphs that kernels launch are timed as a whole. Only while there is no context: attached later, it ends the program
// when a graph is traced (SIGSEGV, measured with CUPTI 13.0 on an H100). First of all that is asked of CUPTI, callbacks included. True: it is on.
bool prepare_device_graphs();
// The same, said; and what was reached, for the log.
const char* enable_device_graphs();
// Some call has made a context, recorded or not.
void context_was_made();
// Around a call that instantiates or uploads a graph that kernels may launch. GRAPH_TRACE is on from the first one to the next launch by the
// host: CUPTI traces the graphs that it sees made and uploaded meanwhile as a whole where a kernel launches them, and their nodes where the host
// does.
void before_device_graph();
void after_device_graph();
enum class GraphsForKernels : uint32_t { No, Changing, Yes };
extern std::atomic<GraphsForKernels> g_graphs_for_kernels;  // whether GRAPH_TRACE is on for them
void end_device_graphs();
inline void before_graph_launch() {
  if (g_graphs_for_kernels.load(std::memory_order_relaxed) != GraphsForKernels::No) [[unlikely]]
    end_device_graphs();
}
void disable_cupti_kinds();
// Until the next burst: operations are off, calls stay on. A call that is under way when calls are turned off leaves its thread with its
// correlation id for all later calls (measured, CUPTI 13.0 on an H200).
void rest_cupti_kinds();
// Some driver call is recorded while the first context is made, else none ever is; cuInit is over and costs a launch nothing.
void show_driver_calls();
// The child of a fork.
void forget_cupti_kinds();

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
// GPU. (Turned off as a kind and on again call by call, CUPTI 13.0 records none.)
bool gpu_activity_keeps_calls(CUpti_ActivityKind kind);

}  // namespace prof::preload
