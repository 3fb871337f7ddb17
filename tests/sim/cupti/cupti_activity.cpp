// The activity API of the simulated CUPTI: enabled kinds, buffers, flushes and external ids.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/sim/cupti/cupti_external.h"
#include "tests/sim/cupti/cupti_scope.h"
#include "tests/sim/cupti/cupti_state.h"
#define SIM_EXPORT __attribute__((visibility("default")))

namespace sim {
namespace {

struct ExternalStacks {
  std::vector<uint64_t> ids[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];
};
thread_local ExternalStacks tl_external;

void note_global_kind() {
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  now.global_kinds = true;
}

bool valid(CUpti_ActivityKind kind) { return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < kKinds; }

CUptiResult enable(CUpti_ActivityKind kind, bool on) {
  if (!valid(kind)) return CUPTI_ERROR_INVALID_KIND;
  if (excluded_by_subscriber(state(), on)) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE)
    return CUPTI_ERROR_INVALID_KIND;  // with user-defined records only
  if (on) note_global_kind();
  return enable_kind(kind, on);
}

}  // namespace

// Kinds of profilers that no longer exist, kinds that CUPTI does not implement, and one that needs a configuration (an
// H100, CUPTI 13.5).
CUptiResult refusal(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_EVENT:
    case CUPTI_ACTIVITY_KIND_METRIC:
    case CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR:
    case CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS:
    case CUPTI_ACTIVITY_KIND_BRANCH:
    case CUPTI_ACTIVITY_KIND_EVENT_INSTANCE:
    case CUPTI_ACTIVITY_KIND_METRIC_INSTANCE:
    case CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION:
    case CUPTI_ACTIVITY_KIND_SHARED_ACCESS:
    case CUPTI_ACTIVITY_KIND_PC_SAMPLING:
    case CUPTI_ACTIVITY_KIND_PC_SAMPLING_RECORD_INFO:
    case CUPTI_ACTIVITY_KIND_INSTRUCTION_CORRELATION:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT_INSTANCE:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC_INSTANCE: return CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
    case CUPTI_ACTIVITY_KIND_MODULE: return CUPTI_ERROR_INVALID_KIND;
    case CUPTI_ACTIVITY_KIND_ENVIRONMENT: return CUPTI_ERROR_NOT_COMPATIBLE;
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return state().unified_configured ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_READY;
    default: return CUPTI_SUCCESS;
  }
}

CUptiResult enable_kind(CUpti_ActivityKind kind, bool on) {
  if (!valid(kind)) return CUPTI_ERROR_INVALID_KIND;
  const CUptiResult refused = refusal(kind);
  if (refused == CUPTI_ERROR_INVALID_KIND || (on && refused != CUPTI_SUCCESS)) return refused;
  if (on && kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && script().cupti.no_graph_trace) return CUPTI_ERROR_NOT_SUPPORTED;
  if (on) std::this_thread::sleep_for(std::chrono::milliseconds(script().cupti.enable_ms));
  if (on && script().cupti.enable_result != 0) return static_cast<CUptiResult>(script().cupti.enable_result);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  State& now = state();
  const bool pc_sampling = pc_sampling_enabled();
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    // As on an H200 (CUPTI 13.0): PC sampling excludes this kind, unless it was enabled first.
    if (on && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && pc_sampling && !now.enabled[static_cast<size_t>(kind)])
      return CUPTI_ERROR_NOT_COMPATIBLE;
    now.enabled[static_cast<size_t>(kind)] = on;
    if (kind == CUPTI_ACTIVITY_KIND_DRIVER) {
      now.driver_kind_alone = on && (now.driver_kind_alone || now.driver_api.none());
      on ? now.driver_api.set() : now.driver_api.reset();
    }
    if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) on ? now.runtime_api.set() : now.runtime_api.reset();
  }
  if (on) start_worker();
  return CUPTI_SUCCESS;
}

void push_external(CUpti_ExternalCorrelationKind kind, uint64_t id) { tl_external.ids[kind].push_back(id); }

bool pop_external(CUpti_ExternalCorrelationKind kind, uint64_t* id) {
  std::vector<uint64_t>& stack = tl_external.ids[kind];
  if (stack.empty()) return false;
  if (id != nullptr) *id = stack.back();
  stack.pop_back();
  return true;
}

std::vector<std::pair<CUpti_ExternalCorrelationKind, uint64_t>> external_ids() {
  std::vector<std::pair<CUpti_ExternalCorrelationKind, uint64_t>> tops;
  for (int kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
    const std::vector<uint64_t>& stack = tl_external.ids[kind];
    if (!stack.empty()) tops.emplace_back(static_cast<CUpti_ExternalCorrelationKind>(kind), stack.back());
  }
  return tops;
}

}  // namespace sim

using namespace sim;

extern "C" {

SIM_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const LeavesErrno leaves_errno;
  return noted(enable(kind, true));
}
SIM_EXPORT CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  const LeavesErrno leaves_errno;
  return noted(enable(kind, true));
}
SIM_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const LeavesErrno leaves_errno;
  return noted(enable(kind, false));
}

SIM_EXPORT CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind) {
  const LeavesErrno leaves_errno;
  if (!valid(kind)) return CUPTI_ERROR_INVALID_KIND;
  if (excluded_by_subscriber(state(), true)) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  State& now = state();
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    now.global_kinds = true;
    now.enabled_in[kind].insert(now.driver.load()->context_id(context));
  }
  start_worker();
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind) {
  const LeavesErrno leaves_errno;
  if (!valid(kind)) return CUPTI_ERROR_INVALID_KIND;
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  now.enabled_in[kind].erase(now.driver.load()->context_id(context));
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  const LeavesErrno leaves_errno;
  if (excluded_by_subscriber(state(), true)) return noted(CUPTI_ERROR_NOT_COMPATIBLE);
  if (script().cupti.absent_driver_api) return noted(CUPTI_ERROR_NOT_SUPPORTED);
  if (cbid == 0 || cbid >= kDriverCallbacks) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  now.global_kinds = true;
  now.driver_api[cbid] = enable != 0;
  now.driver_kind_alone = false;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) {
  const LeavesErrno leaves_errno;
  if (excluded_by_subscriber(state(), true)) return noted(CUPTI_ERROR_NOT_COMPATIBLE);
  if (cbid == 0 || cbid >= kRuntimeCallbacks) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  now.global_kinds = true;
  now.runtime_api[cbid] = enable != 0;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig* config,
                                                                  uint32_t count) {
  const LeavesErrno leaves_errno;
  if (config == nullptr || count == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  now.unified_configured = true;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                                                      CUpti_BuffersCallbackCompleteFunc funcBufferCompleted) {
  const LeavesErrno leaves_errno;
  if (funcBufferRequested == nullptr || funcBufferCompleted == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (excluded_by_subscriber(state(), true)) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  now.request = funcBufferRequested;
  now.complete = funcBufferCompleted;
  return CUPTI_SUCCESS;
}

static bool collects_kernels() {
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  return now.enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
}

SIM_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  const LeavesErrno leaves_errno;
  if (script().cupti.forced_kills && (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0 && collects_kernels()) _exit(94);
  while (script().cupti.flush_hangs) pause();
  deliver(true);
  return CUPTI_SUCCESS;
}
SIM_EXPORT CUptiResult cuptiActivityFlush(CUcontext, uint32_t, uint32_t flag) {
  const LeavesErrno leaves_errno;
  return cuptiActivityFlushAll(flag);
}
SIM_EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t) {
  const LeavesErrno leaves_errno;
  return CUPTI_SUCCESS;
}  // the worker delivers full buffers anyway

SIM_EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t validBufferSizeBytes,
                                                  CUpti_Activity** record) {
  const LeavesErrno leaves_errno;
  if (buffer == nullptr || record == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<uint8_t*>(*record) + record_size((*record)->kind);
  if (next >= buffer + validBufferSizeBytes) return noted(CUPTI_ERROR_MAX_LIMIT_REACHED);
  CUpti_ActivityKind kind;
  memcpy(&kind, next, sizeof kind);
  const size_t size = record_size(kind);
  if (size == 0) return noted(CUPTI_ERROR_INVALID_KIND);
  if (next + size > buffer + validBufferSizeBytes) return noted(CUPTI_ERROR_MAX_LIMIT_REACHED);
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  const LeavesErrno leaves_errno;
  if (dropped == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (excluded_by_subscriber(state(), false)) return noted(CUPTI_ERROR_NOT_COMPATIBLE);
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  *dropped = now.dropped;
  now.dropped = 0;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t* valueSize, void* value) {
  const LeavesErrno leaves_errno;
  if (valueSize == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  const uint8_t* bytes = static_cast<const uint8_t*>(value);
  now.attributes[attr].assign(bytes, bytes + *valueSize);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t* valueSize, void* value) {
  const LeavesErrno leaves_errno;
  if (valueSize == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  memset(value, 0, *valueSize);
  const std::vector<uint8_t>& set = now.attributes[attr];
  memcpy(value, set.data(), std::min(*valueSize, set.size()));
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp) {
  const LeavesErrno leaves_errno;
  if (funcTimestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (excluded_by_subscriber(state(), true)) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  State& now = state();
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    now.timestamp = funcTimestamp;
    now.anchors.clear();
  }
  clock_now(now);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  const LeavesErrno leaves_errno;
  if (excluded_by_subscriber(state(), false)) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID || kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
    return CUPTI_ERROR_INVALID_PARAMETER;
  push_external(kind, id);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t* lastId) {
  const LeavesErrno leaves_errno;
  if (excluded_by_subscriber(state(), false)) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID || kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
    return CUPTI_ERROR_INVALID_PARAMETER;
  return pop_external(kind, lastId) ? CUPTI_SUCCESS : CUPTI_ERROR_QUEUE_EMPTY;
}

// Of functions that change nothing.
static CUptiResult only_answer(CUptiResult result) {
  const LeavesErrno leaves_errno;
  return result;
}
SIM_EXPORT CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) { return only_answer(CUPTI_SUCCESS); }
SIM_EXPORT CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t) { return only_answer(CUPTI_SUCCESS); }
SIM_EXPORT CUptiResult cuptiActivityEnableDeviceGraph(uint8_t) { return only_answer(CUPTI_SUCCESS); }
SIM_EXPORT CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t) { return only_answer(CUPTI_SUCCESS); }
SIM_EXPORT CUptiResult cuptiActivityEnableAllocationSource(uint8_t) { return only_answer(CUPTI_SUCCESS); }
SIM_EXPORT CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) { return only_answer(CUPTI_SUCCESS); }
SIM_EXPORT CUptiResult cuptiActivityEnableHWTrace(uint8_t) {
  return only_answer(CUPTI_ERROR_NOT_SUPPORTED);
}  // Blackwell only

SIM_EXPORT CUptiResult cuptiFinalize() {
  const LeavesErrno leaves_errno;
  State& now = state();
  deliver(true);
  end_subscriber(now);
  detach();
  std::lock_guard<std::mutex> lock(now.mutex);
  now.scope = Scope::None;
  now.global_kinds = false;
  now.operations_stopped = false;
  now.enabled.reset();
  now.enabled_in.clear();
  now.driver_api.reset();
  now.driver_kind_alone = false;
  now.runtime_api.reset();
  now.request = nullptr;
  now.complete = nullptr;
  now.timestamp = real_time;
  now.anchors.clear();
  now.finished.clear();
  now.subscriber.reset();
  now.others.clear();
  now.worker_running = false;
  now.worker_wake.notify_all();
  return CUPTI_SUCCESS;
}

}  // extern "C"
