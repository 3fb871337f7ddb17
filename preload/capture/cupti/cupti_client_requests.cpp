#include "preload/capture/cupti/cupti_client_requests.h"

#include "preload/capture/cupti/cupti_client_state.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_kinds.h"

#include <cstring>

namespace prof::preload {

namespace {

// Whether a kind that the other profiler disables must stay enabled for the recorder or for another client.
bool stays_enabled(CUpti_ActivityKind kind) {
  if (cupti_client_uses(kind)) return true;
  const bool calls = kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  return calls ? gpu_activity_keeps_calls(kind) : gpu_activity_uses(kind);
}

void client_collects(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL) gpu_activity_times_nodes();
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) gpu_activity_meets_runtime_calls();
}

bool is_kind(CUpti_ActivityKind kind) { return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < kCuptiKinds; }

// The kind that CUPTI enables with another one, for records with all fields. INVALID: none.
CUpti_ActivityKind implied_kind(const CuptiClient& client, CUpti_ActivityKind kind) {
  if (client.user_defined()) return CUPTI_ACTIVITY_KIND_INVALID;
  return kind == CUPTI_ACTIVITY_KIND_MEMCPY        ? CUPTI_ACTIVITY_KIND_MEMCPY2
         : kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE ? CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE
                                                   : CUPTI_ACTIVITY_KIND_INVALID;
}

// A kind that only subscribers with user-defined records may enable; the global API answers INVALID_KIND. CUPTI makes
// its records while it traces graphs.
bool is_by_fields_only(CUpti_ActivityKind kind) { return kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE; }

// CUPTI refuses records of decompression to a subscriber that has the kind of device graphs, unless they are enabled
// already (measured, CUPTI 13.5 on an H100).
bool is_excluded_by_fields(const CuptiClient& client, CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS && !cupti_client_uses(client, kind) &&
         cupti_client_uses(client, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
}

// CUPTI refuses a kind without fields to a subscriber with user-defined records, with the error of the kind if it has
// one (measured, CUPTI 13.5 on an H100).
CUptiResult refuse_without_fields(CUpti_ActivityKind kind, EnableKind real) {
  const CUptiResult result = real(kind);
  if (result != CUPTI_SUCCESS) return result;
  if (!stays_enabled(kind)) g_cupti.api.cuptiActivityDisable(kind);
  return CUPTI_ERROR_NOT_SUPPORTED;
}

// The fields that a subscriber with user-defined records selects for a kind.
CUptiResult select_fields(CuptiClient& client, CUpti_ActivityKind kind, const CuptiActivityConfig* config) {
  if (config == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  CuptiLayout* const before = client.layout[kind].load(std::memory_order_acquire);
  if (before != nullptr && same_cupti_layout(*before, config->fields)) return CUPTI_SUCCESS;
  CuptiLayout* const layout = make_cupti_layout(kind, config->fields);
  if (layout == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  // What was collected with the other selection goes out with it.
  if (before != nullptr) g_cupti.api.cuptiActivityFlushAll(0);
  client.layout[kind].store(layout, std::memory_order_release);  // the old one stays: a buffer may be read later
  return CUPTI_SUCCESS;
}

const CuptiCallSelection* selected_calls(CUpti_ActivityKind kind, const CuptiActivityConfig* config) {
  constexpr size_t kSince = offsetof(CuptiActivityConfig, kind_options) + sizeof config->kind_options;
  const bool calls = kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  if (!calls || config == nullptr || config->size < kSince || config->kind_options == nullptr) return nullptr;
  const CuptiCallSelection* const selection = static_cast<const CuptiCallOptions*>(config->kind_options)->calls;
  return selection != nullptr && selection->ids != nullptr && selection->count != 0 ? selection : nullptr;
}

EnableCall enable_call_of(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_DRIVER ? g_cupti.api.cuptiActivityEnableDriverApi
                                            : g_cupti.api.cuptiActivityEnableRuntimeApi;
}

// The function of the global API that switches what an attribute of a subscriber does. Null: there is none.
using Switch = CUptiResult(CUPTIAPI*)(uint8_t enable);
bool is_switch(int attribute, Switch& function) {
  const Cupti& api = g_cupti.api;
  switch (attribute) {
    case kHardwareTrace: function = api.cuptiActivityEnableHWTrace; return true;
    case kAllocationSource: function = api.cuptiActivityEnableAllocationSource; return true;
    case kLatencyTimestamps: function = api.cuptiActivityEnableLatencyTimestamps; return true;
    case kAllSyncRecords: function = api.cuptiActivityEnableAllSyncRecords; return true;
    case kEventTimestamps: function = api.cuptiActivityEnableCudaEventDeviceTimestamps; return true;
    case kLaunchAttributes: function = api.cuptiActivityEnableLaunchAttributes; return true;
    case kDeviceGraphs: function = api.cuptiActivityEnableDeviceGraph; return true;
    default: return false;
  }
}

// Attributes of one byte that only say how the subscriber's own records and buffers are.
bool is_own_byte(int attribute) {
  return attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER || attribute == kPerThreadBuffers ||
         attribute == kUserDefinedRecords || attribute == kWholeGraphsForAll;
}

// Attributes that are on unless they are set.
bool is_usually_on(int attribute) { return attribute == kPerThreadBuffers || attribute == kAllSyncRecords; }

template <class Value> CUptiResult give(size_t* size, void* to, Value value) {
  if (*size < sizeof value) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  std::memcpy(to, &value, sizeof value);
  *size = sizeof value;
  return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult request_kind(CuptiClient& client, CUpti_ActivityKind kind, EnableKind real) {
  // CUPTI collects either serialized or concurrent kernels, not both. libprof.so uses concurrent kernels.
  const bool serial = kind == CUPTI_ACTIVITY_KIND_KERNEL && gpu_activity_uses(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  const CUptiResult result = serial ? CUPTI_SUCCESS : real(kind);
  if (result != CUPTI_SUCCESS) return result;
  enable_for_cupti_client(client, kind);
  client_collects(kind);
  return CUPTI_SUCCESS;
}

CUptiResult release_kind(CuptiClient& client, CUpti_ActivityKind kind, EnableKind real) {
  const bool by_fields_only = is_by_fields_only(kind) && cupti_client_uses(client, kind);
  disable_for_cupti_client(client, kind);
  return by_fields_only || stays_enabled(kind) ? CUPTI_SUCCESS : real(kind);
}

CUptiResult request_call(CuptiClient& client, CUpti_ActivityKind kind, uint32_t cbid, bool on, EnableCall real) {
  const bool driver = kind == CUPTI_ACTIVITY_KIND_DRIVER;
  const bool needed = driver ? gpu_activity_uses_driver_call(cbid) : gpu_activity_uses_runtime_call(cbid);
  const CUptiResult result = !on && needed ? CUPTI_SUCCESS : real(cbid, on ? 1 : 0);
  if (result != CUPTI_SUCCESS) return result;
  enable_call_for_cupti_client(client, kind, cbid, on);
  if (!driver) gpu_activity_meets_runtime_calls();
  return CUPTI_SUCCESS;
}

void release_everything(CuptiClient& client) {
  for (uint32_t i = 1; i < kCuptiKinds; ++i) {
    const auto kind = static_cast<CUpti_ActivityKind>(i);
    if (cupti_client_uses(client, kind)) release_kind(client, kind, g_cupti.api.cuptiActivityDisable);
  }
  return_spares_to_cupti_clients();
}

void release_all_cupti_clients() {
  g_cupti.api.cuptiActivityFlushAll(0);
  for (CuptiClient& client : g_cupti_clients) release_everything(client);
}

CUptiResult register_subscriber(CuptiClient& client, CuptiRequestedV2 requested, CuptiCompletedV2 completed) {
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!enter_cupti_scope(CuptiScope::Subscribers)) return CUPTI_ERROR_NOT_COMPATIBLE;
  set_cupti_client(client, requested, completed);
  return CUPTI_SUCCESS;
}

CUptiResult enable_for_subscriber(CuptiClient& client, CUpti_ActivityKind kind, const CuptiActivityConfig* config,
                                  EnableKind real) {
  if (!is_kind(kind)) return CUPTI_SUCCESS;  // CUPTI accepts it and does nothing
  // CUPTI accepts it and does nothing if the global API enabled a kind before.
  if (!enter_cupti_scope(CuptiScope::Subscribers))
    return global_api_enabled_kinds() ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_COMPATIBLE;
  if (client.user_defined()) {
    if (!cupti_kind_has_fields(kind)) return refuse_without_fields(kind, real);
    const CUptiResult result = select_fields(client, kind, config);
    if (result != CUPTI_SUCCESS) return result;
    if (is_excluded_by_fields(client, kind)) return CUPTI_ERROR_NOT_COMPATIBLE;
    if (is_by_fields_only(kind)) {
      enable_for_cupti_client(client, kind);
      return CUPTI_SUCCESS;
    }
  }
  const CuptiCallSelection* const calls = selected_calls(kind, config);
  if (calls == nullptr) return request_kind(client, kind, real);
  if (calls->only == 0) {
    const CUptiResult result = request_kind(client, kind, real);
    for (size_t i = 0; result == CUPTI_SUCCESS && i < calls->count; ++i)
      enable_call_for_cupti_client(client, kind, calls->ids[i], false);
    return result;
  }
  const EnableCall enable = enable_call_of(kind);
  CUptiResult result = enable != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_SUPPORTED;
  for (size_t i = 0; result == CUPTI_SUCCESS && i < calls->count; ++i)
    result = request_call(client, kind, calls->ids[i], true, enable);
  return result;
}

CUptiResult enable_call_for_subscriber(CuptiClient& client, CUpti_ActivityKind kind, uint32_t cbid, bool on) {
  const EnableCall enable = enable_call_of(kind);
  if (enable == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  // Without the kind, CUPTI accepts it and records nothing.
  return cupti_client_uses(client, kind) ? request_call(client, kind, cbid, on, enable) : CUPTI_SUCCESS;
}

CUptiResult set_subscriber_attribute(CuptiClient& client, int attribute, size_t* size, void* value) {
  if (size == nullptr || value == nullptr || attribute < 0 || attribute >= kAttributes)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (attribute == kTimestampCallback) {
    TimestampFunction clock = nullptr;
    if (*size < sizeof clock) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    std::memcpy(&clock, value, sizeof clock);
    set_cupti_client_clock(client, clock);
    return CUPTI_SUCCESS;
  }
  if (attribute == kThreadIdType) {
    CUpti_ActivityThreadIdType type{};
    if (*size < sizeof type) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    std::memcpy(&type, value, sizeof type);
    if (type < 0 || type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    set_cupti_client_system_thread_ids(client, type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    return CUPTI_SUCCESS;
  }
  if (attribute == kSeveralSubscribers) return CUPTI_ERROR_NOT_SUPPORTED;  // only subscribing sets it
  const bool several = client.several.load(std::memory_order_relaxed);
  if (attribute == kWholeGraphsForAll && !several) return CUPTI_SUCCESS;  // and nothing happens
  Switch function = nullptr;
  const bool of_cupti = is_switch(attribute, function);
  if (!of_cupti && !is_own_byte(attribute)) {
    if (g_cupti.api.cuptiActivitySetAttribute == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
    return g_cupti.api.cuptiActivitySetAttribute(static_cast<CUpti_ActivityAttribute>(attribute), size, value);
  }
  if (*size < sizeof(uint8_t)) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  uint8_t on = 0;
  std::memcpy(&on, value, sizeof on);
  if (of_cupti) {
    const CUptiResult result = function != nullptr ? function(on) : CUPTI_ERROR_NOT_SUPPORTED;
    if (result != CUPTI_SUCCESS) return result;
  }
  client.attribute[attribute].store(on + uint64_t{is_usually_on(attribute)}, std::memory_order_release);
  return CUPTI_SUCCESS;
}

CUptiResult get_subscriber_attribute(const CuptiClient& client, int attribute, size_t* size, void* value) {
  if (size == nullptr || value == nullptr || attribute < 0 || attribute >= kAttributes)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (attribute == kTimestampCallback) return give(size, value, cupti_client_clock(client));
  if (attribute == kThreadIdType) {
    return give(size, value,
                cupti_client_has_system_thread_ids(client) ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                                           : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
  }
  if (attribute == kSeveralSubscribers)
    return give(size, value, static_cast<uint8_t>(client.several.load(std::memory_order_relaxed)));
  const uint64_t stored = client.attribute[attribute].load(std::memory_order_acquire);
  // 0 is "not set", 1 "off".
  if (is_usually_on(attribute)) return give(size, value, static_cast<uint8_t>(stored != 1));
  if (attribute == kHardwareTraceBuffer) return give(size, value, stored);
  Switch function = nullptr;
  if (is_switch(attribute, function) || is_own_byte(attribute)) return give(size, value, static_cast<uint8_t>(stored));
  if (g_cupti.api.cuptiActivityGetAttribute == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  return g_cupti.api.cuptiActivityGetAttribute(static_cast<CUpti_ActivityAttribute>(attribute), size, value);
}

CUptiResult next_record_of_subscriber(const CuptiClient& client, uint8_t* buffer, size_t valid,
                                      CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!client.user_defined()) return g_cupti.api.cuptiActivityGetNextRecord(buffer, valid, record);
  const auto bytes_of = [&](const uint8_t* at) -> size_t {
    uint32_t kind = 0;
    if (at + sizeof kind > buffer + valid) return 0;
    std::memcpy(&kind, at, sizeof kind);
    const CuptiLayout* const layout =
        kind < kCuptiKinds ? client.layout[kind].load(std::memory_order_acquire) : nullptr;
    return layout != nullptr ? layout->places.record_bytes : 0;
  };
  uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<uint8_t*>(*record) + bytes_of(reinterpret_cast<uint8_t*>(*record));
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  const size_t bytes = bytes_of(next);
  if (bytes == 0 || next + bytes > buffer + valid) return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult enabled_kinds(const CuptiClient* client, CUpti_ActivityKind* kinds, const uint32_t* room, uint32_t* count) {
  if (count == nullptr || (kinds != nullptr && room == nullptr)) return CUPTI_ERROR_INVALID_PARAMETER;
  bool enabled[kCuptiKinds] = {};
  for (const CuptiClient& one : g_cupti_clients) {
    if (client != nullptr && client != &one) continue;
    for (uint32_t i = 1; i < kCuptiKinds; ++i) {
      const auto kind = static_cast<CUpti_ActivityKind>(i);
      if (!cupti_client_uses(one, kind)) continue;
      enabled[i] = true;
      enabled[implied_kind(one, kind)] = true;
    }
  }
  uint32_t found = 0;
  for (uint32_t i = 1; i < kCuptiKinds; ++i) {
    if (!enabled[i]) continue;
    if (kinds != nullptr && (found + 1) * sizeof *kinds <= *room) kinds[found] = static_cast<CUpti_ActivityKind>(i);
    ++found;
  }
  *count = found;
  return CUPTI_SUCCESS;
}

}  // namespace prof::preload
