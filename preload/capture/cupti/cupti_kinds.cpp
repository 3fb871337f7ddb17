#include "preload/capture/cupti/cupti_kinds.h"

#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/capture/cupti/launching_calls.h"
#include "preload/driver/driver.h"
#include "preload/record/launch_extras.h"
#include "preload/record/recording_window.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <algorithm>
#include <cstring>

namespace prof::preload {

std::atomic<bool> g_whole_graphs{false};

namespace {

std::atomic<bool> g_driver_calls{false};       // the calls that submit operations are enabled for us
std::atomic<bool> g_every_call{false};         // all other calls too: this CUPTI cannot select single ones
std::atomic<bool> g_runtime_calls{false};      // collected: another profiler came, or every call is enabled
std::atomic<bool> g_runtime_callbacks{false};  // another profiler has callbacks of runtime calls
std::atomic<bool> g_unified_memory{false};

struct Kind {
  CUpti_ActivityKind kind;
  bool needed;
};
constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, true},
    {CUPTI_ACTIVITY_KIND_MEMSET, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, false},
};

std::string_view result_name(CUptiResult result) {
  const char* text = nullptr;
  if (g_cupti.api.cuptiGetResultString != nullptr && g_cupti.api.cuptiGetResultString(result, &text) == CUPTI_SUCCESS &&
      text != nullptr) {
    return text;
  }
  return "an error";
}

// False: CUPTI of a CUDA before 12.5.
bool enable_driver_call(uint32_t cbid) {
  const auto enable = g_cupti.api.cuptiActivityEnableDriverApi;
  return enable != nullptr && enable(cbid, 1) == CUPTI_SUCCESS;
}

// The kind DRIVER contains only the calls that the program makes itself, not those inside a runtime call (measured,
// CUPTI 13.0). Records of runtime calls cover those.
bool enable_every_call() {
  if (g_every_call.load(std::memory_order_relaxed)) return true;
  if (g_cupti.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER) != CUPTI_SUCCESS) return false;
  if (g_cupti.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME) == CUPTI_SUCCESS) gpu_activity_meets_runtime_calls();
  g_every_call.store(true, std::memory_order_relaxed);
  return true;
}

bool enable_driver_calls() {
  if (g_driver_calls.load(std::memory_order_relaxed)) return true;
  const Cupti& api = g_cupti.api;
  if (!enable_driver_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)) {
    g_driver_calls.store(enable_every_call(), std::memory_order_relaxed);
    return g_driver_calls.load(std::memory_order_relaxed);
  }
  for (uint32_t i = 0; i < launching_driver_calls().count; ++i) {
    const uint32_t cbid = launching_driver_calls().data[i].cbid;
    if (driver_call_known(g_cupti.version, cbid)) api.cuptiActivityEnableDriverApi(cbid, 1);
  }
  g_driver_calls.store(true, std::memory_order_relaxed);
  return true;
}

// While another profiler has callbacks of runtime calls, CUPTI records no driver call inside of one. The record of the
// runtime call has the operation's id then.
void enable_runtime_calls() {
  if (g_every_call.load(std::memory_order_relaxed)) return;  // they are enabled
  const auto enable = g_cupti.api.cuptiActivityEnableRuntimeApi;
  bool any = false;
  for (uint32_t cbid = 1; enable != nullptr && cbid < CUPTI_RUNTIME_TRACE_CBID_SIZE; ++cbid) {
    if (is_launching_runtime_call(cbid) || is_newer_launching_runtime_call(cbid))
      any |= enable(cbid, 1) == CUPTI_SUCCESS;
  }
  if (!any) g_cupti.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  g_runtime_calls.store(true, std::memory_order_relaxed);
}

void disable(CUpti_ActivityKind kind) {
  if (!cupti_client_uses(kind)) g_cupti.api.cuptiActivityDisable(kind);
}

void disable_operations() {
  for (const Kind& kind : kKinds) disable(kind.kind);
  if (g_whole_graphs.exchange(false)) disable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

}  // namespace

std::string_view enable_cupti_kinds() {
  for (const Kind& kind : kKinds) {
    const CUptiResult result = g_cupti.api.cuptiActivityEnable(kind.kind);
    if (result == CUPTI_SUCCESS || !kind.needed) continue;
    disable_cupti_kinds();
    return result_name(result);
  }
  return {};
}

void pause_cupti_kinds() {
  if (g_driver_calls.load(std::memory_order_relaxed)) {
    disable_operations();
  } else {
    disable_cupti_kinds();
  }
}

void disable_cupti_kinds() {
  disable_operations();
  if (g_unified_memory.exchange(false)) disable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  if (g_runtime_calls.exchange(false)) disable(CUPTI_ACTIVITY_KIND_RUNTIME);
  const bool driver_calls = g_driver_calls.exchange(false);
  if (g_every_call.exchange(false)) return disable(CUPTI_ACTIVITY_KIND_DRIVER);
  if (!driver_calls || cupti_client_uses(CUPTI_ACTIVITY_KIND_DRIVER)) return;
  for (uint32_t i = 0; i < launching_driver_calls().count; ++i) {
    const uint32_t cbid = launching_driver_calls().data[i].cbid;
    if (driver_call_known(g_cupti.version, cbid)) g_cupti.api.cuptiActivityEnableDriverApi(cbid, 0);
  }
}

const char* enable_cupti_calls() {
  if (!enable_driver_calls()) return "none";
  if (g_runtime_callbacks.load(std::memory_order_relaxed)) enable_runtime_calls();
  return g_every_call.load(std::memory_order_relaxed) ? "every call" : "driver calls";
}

// "whole" if requested and possible: CUPTI then leaves out the records of a graph's nodes. A graph that was
// instantiated before ends the program by SIGSEGV at its next launch, inside CUPTI (measured: CUPTI 13.0, driver 580,
// an H100).
const char* enable_cupti_graphs() {
  if (options().graphs != option::Graphs::Whole) return "nodes";
  static std::atomic<bool> late_said{false};
  if (budget_on() || !recorded_from_start()) {
    say(late_said, "whole graphs can be timed only where GPU times are taken from the start on; each node is timed");
    return "nodes: whole graphs only from the start on";
  }
  const CUptiResult result = g_cupti.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  g_whole_graphs.store(result == CUPTI_SUCCESS, std::memory_order_relaxed);
  if (result == CUPTI_SUCCESS) return "whole";
  static std::atomic<bool> said{false};
  say(said, "CUPTI cannot time whole graphs (", result_name(result), "); each node is timed");
  return "nodes: whole graphs were refused";
}

// Enables unified memory records if requested and possible; the log gets "on" or "refused".
void enable_unified_memory() {
  if (!options().unified) return;
  constexpr uint32_t kMostDevices = 16, kCounters = 8;  // CUPTI's kinds are 1 to 8
  CUpti_ActivityUnifiedMemoryCounterConfig wanted[kMostDevices * kCounters] = {};
  const Cupti& api = g_cupti.api;
  int devices = 0;
  if (g_driver.cuDeviceGetCount == nullptr || g_driver.cuDeviceGetCount(&devices) != CUDA_SUCCESS) devices = 0;
  uint32_t count = 0;
  for (uint32_t device = 0; device < std::min(kMostDevices, static_cast<uint32_t>(devices)); ++device) {
    for (uint32_t kind = 1; kind <= kCounters; ++kind) {
      wanted[count].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
      wanted[count].kind = static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(kind);
      wanted[count].deviceId = device;
      wanted[count++].enable = 1;
    }
  }
  CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
  if (api.cuptiActivityConfigureUnifiedMemoryCounter != nullptr)
    result = api.cuptiActivityConfigureUnifiedMemoryCounter(wanted, count);
  if (result == CUPTI_SUCCESS) result = api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  g_unified_memory.store(result == CUPTI_SUCCESS, std::memory_order_relaxed);
  define_meta("unified_memory", result == CUPTI_SUCCESS ? "on" : "refused");
  static std::atomic<bool> said{false};
  if (result != CUPTI_SUCCESS)
    say(said, "CUPTI cannot tell what happens to managed memory (", result_name(result), ")");
}

void show_driver_calls() {
  if (!enable_driver_call(CUPTI_DRIVER_TRACE_CBID_cuInit)) enable_every_call();
}

void abandon_cupti_kinds() {
  for (std::atomic<bool>* const on : {&g_whole_graphs, &g_driver_calls, &g_every_call, &g_runtime_callbacks})
    on->store(false, std::memory_order_relaxed);
}

bool gpu_activity_uses(CUpti_ActivityKind kind) {
  if (!gpu_activity_collecting()) return false;
  for (const Kind& ours : kKinds) {
    if (ours.kind == kind) return true;
  }
  return kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && g_whole_graphs.load(std::memory_order_relaxed);
}

void gpu_activity_times_nodes() {
  if (!gpu_activity_collecting() || !g_whole_graphs.exchange(false)) return;
  {
    const OwnCalls own;
    const KeepCuptiError keep;
    if (!cupti_client_uses(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
      g_cupti.api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    }
  }
  const ThreadScope scope;
  if (scope.recording()) define_meta("graphs", "nodes: another profiler in the program collects kernels");
}

bool gpu_activity_uses_driver_call(uint32_t cbid) {
  return g_driver_calls.load(std::memory_order_relaxed) && is_launching_driver_call(cbid);
}

bool gpu_activity_uses_runtime_call(uint32_t cbid) {
  return gpu_activity_collecting() && g_runtime_calls.load(std::memory_order_relaxed) &&
         (is_launching_runtime_call(cbid) || is_newer_launching_runtime_call(cbid));
}

void gpu_activity_meets_runtime_callbacks() {
  if (g_runtime_callbacks.exchange(true) || !g_driver_calls.load(std::memory_order_relaxed)) return;
  const OwnCalls own;
  const KeepCuptiError keep;
  enable_runtime_calls();
}

void gpu_activity_meets_runtime_calls() { g_runtime_calls.store(true, std::memory_order_relaxed); }

bool gpu_activity_keeps_calls(CUpti_ActivityKind kind) {
  const Cupti& api = g_cupti.api;
  const bool driver = kind == CUPTI_ACTIVITY_KIND_DRIVER;
  const bool ours = driver ? g_driver_calls.load(std::memory_order_relaxed)
                           : gpu_activity_collecting() && g_runtime_calls.load(std::memory_order_relaxed);
  if (!ours) return false;
  const auto set = driver ? api.cuptiActivityEnableDriverApi : api.cuptiActivityEnableRuntimeApi;
  if (set == nullptr || (driver && g_every_call.load(std::memory_order_relaxed))) return true;
  const OwnCalls own;
  const KeepCuptiError keep;
  const bool known = g_cupti.version >= CUPTI_API_VERSION;  // ids are only appended; all CUPTIs have those of CUDA 11.8
  const uint32_t driver_end = known ? +CUPTI_DRIVER_TRACE_CBID_SIZE : +CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
  const uint32_t runtime_end =
      known ? +CUPTI_RUNTIME_TRACE_CBID_SIZE : +CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060;
  const uint32_t end = driver ? driver_end : runtime_end;
  for (uint32_t cbid = 1; cbid < end; ++cbid) {
    const bool launching = driver ? is_launching_driver_call(cbid)
                                  : is_launching_runtime_call(cbid) || is_newer_launching_runtime_call(cbid);
    if (!launching) set(cbid, 0);
  }
  return true;
}

}  // namespace prof::preload
