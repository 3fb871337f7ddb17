// The subscriber-scoped activity API of the simulated CUPTI. One subscriber at a time, as the driver of today allows.
// It has the kinds, buffers and delivery of the global API to itself, because CUPTI refuses a mixture of the two.
#include "tests/sim/cupti/cupti_scope.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>

#include "tests/sim/cupti/cupti_external.h"
#ifdef SIM_NO_RANGE_PROFILER  // an older CUPTI
#define SIM_SCOPED __attribute__((visibility("hidden")))
#else
#define SIM_SCOPED __attribute__((visibility("default")))
#endif

namespace sim {
namespace {

struct Field {
  int kind, id;
  size_t offset, bytes, user_bytes;
};
// The members of CUPTI's structs that the fields of user-defined records are.
constexpr Field kFields[] = {
#define CUPTI_FIELD(kind, id, offset, bytes, user_bytes, what) {kind, id, offset, bytes, user_bytes},
#include "preload/capture/cupti/cupti_fields.def"
#undef CUPTI_FIELD
};

struct Selection {
  std::vector<cupti_v2::FieldPlace> fields;
  std::vector<Field> from;
  cupti_v2::RecordPlaces places;
};
struct Scoped {
  cupti_v2::Requested request = nullptr;
  cupti_v2::Completed complete = nullptr;
  bool user_defined = false;
  std::map<int, std::unique_ptr<Selection>> selection;
  std::vector<std::unique_ptr<Selection>> earlier;  // buffers may still have such records
  std::map<int, std::vector<uint8_t>> attributes;
};
// One lasts until the next subscriber: State::mutex.
Scoped& scoped() {
  static Scoped* const one = new Scoped;
  return *one;
}

bool is_subscriber(State& now, CUpti_SubscriberHandle handle) {
  std::lock_guard<std::mutex> lock(now.mutex);
  return handle != nullptr && reinterpret_cast<Subscriber*>(handle) == now.subscriber.get();
}

// Measured, CUPTI 13.5.
size_t alignment_of(const Field& field) {
  if (field.user_bytes <= 8) return field.user_bytes;
  if (field.user_bytes == sizeof(CUuuid)) return 1;
  return field.kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER ? sizeof(uint64_t) : sizeof(uint32_t);
}

bool has_fields(int kind) {
  return std::any_of(std::begin(kFields), std::end(kFields), [&](const Field& one) { return one.kind == kind; });
}

std::unique_ptr<Selection> select(int kind, const cupti_v2::Config* config) {
  if (config == nullptr || config->fields.count == 0 || config->fields.ids == nullptr || config->fields.ids[0] != 0)
    return nullptr;
  auto made = std::make_unique<Selection>();
  size_t end = 0, largest = 1;
  for (size_t i = 0; i < config->fields.count; ++i) {
    const Field* const field = std::find_if(std::begin(kFields), std::end(kFields), [&](const Field& one) {
      return one.kind == kind && one.id == config->fields.ids[i];
    });
    const bool known = field != std::end(kFields);
    cupti_v2::FieldPlace place;
    place.id = config->fields.ids[i];
    place.bytes = known ? field->user_bytes : 0;
    place.alignment = known ? alignment_of(*field) : 1;
    place.offset = (end + place.alignment - 1) / place.alignment * place.alignment;
    end = place.offset + place.bytes;
    largest = std::max(largest, place.alignment);
    made->fields.push_back(place);
    made->from.push_back(known ? *field : Field{});
  }
  made->places.fields = made->fields.data();
  made->places.count = made->fields.size();
  made->places.record_bytes = (end + largest - 1) / largest * largest;
  return made;
}

CUptiResult enter_scope(State& now, CUpti_SubscriberHandle handle) {
  if (!is_subscriber(now, handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard<std::mutex> lock(now.mutex);
  if (now.scope == Scope::Global) return CUPTI_ERROR_NOT_COMPATIBLE;
  now.scope = Scope::Subscriber;
  return CUPTI_SUCCESS;
}

CUptiResult enable_scoped(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind, cupti_v2::Config* config) {
  State& now = state();
  if (!is_subscriber(now, subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= kKinds) return CUPTI_SUCCESS;
  if (const CUptiResult result = enter_scope(now, subscriber); result != CUPTI_SUCCESS) {
    std::lock_guard<std::mutex> lock(now.mutex);
    return now.global_kinds ? CUPTI_SUCCESS : result;  // nothing happens
  }
  const cupti_v2::CallSelection* calls = nullptr;
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    Scoped& mine = scoped();
    if (mine.user_defined) {
      if (!has_fields(kind)) {
        const CUptiResult refused = refusal(kind);
        return refused != CUPTI_SUCCESS ? refused : CUPTI_ERROR_NOT_SUPPORTED;
      }
      auto made = select(kind, config);
      if (made == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
      auto& kept = mine.selection[kind];
      if (kept != nullptr) mine.earlier.push_back(std::move(kept));
      kept = std::move(made);
      if (kind == CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS && now.enabled[CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE] &&
          !now.enabled[CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS])
        return CUPTI_ERROR_NOT_COMPATIBLE;
    } else if (kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE) {
      return CUPTI_ERROR_INVALID_KIND;
    }
    if (config != nullptr && config->kind_options != nullptr &&
        (kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME))
      calls = static_cast<const cupti_v2::CallOptions*>(config->kind_options)->calls;
  }
  const CUptiResult result = enable_kind(kind, true);
  if (result != CUPTI_SUCCESS || calls == nullptr) return result;
  std::lock_guard<std::mutex> lock(now.mutex);
  const auto choose = [&](auto& bits) {
    if (calls->only) bits.reset();
    for (size_t i = 0; i < calls->count; ++i) bits[calls->ids[i]] = calls->only != 0;
  };
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) now.driver_kind_alone = false;
  kind == CUPTI_ACTIVITY_KIND_DRIVER ? choose(now.driver_api) : choose(now.runtime_api);
  return CUPTI_SUCCESS;
}

template <class Value> CUptiResult copy_out(size_t* size, void* to, Value value) {
  if (*size < sizeof value) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  memcpy(to, &value, sizeof value);
  *size = sizeof value;
  return CUPTI_SUCCESS;
}

}  // namespace

bool excluded_by_subscriber(State& now, bool enters) {
  std::lock_guard<std::mutex> lock(now.mutex);
  if (now.scope == Scope::Subscriber) return true;
  if (enters) now.scope = Scope::Global;
  return false;
}

void end_subscriber(State& now) {
  std::lock_guard<std::recursive_mutex> delivery(now.delivery);
  std::lock_guard<std::mutex> lock(now.mutex);
  scoped() = Scoped{};
  if (now.scope == Scope::Global && now.subscriber != nullptr && now.subscriber->scoped) now.operations_stopped = true;
  if (now.scope != Scope::Subscriber) return;
  now.finished.clear();
  now.open = Buffer{};
  now.full.clear();
  now.scope = Scope::None;
  now.enabled.reset();
  now.driver_api.reset();
  now.runtime_api.reset();
  now.driver_kind_alone = false;
  now.timestamp = real_time;
  now.anchors.clear();
  now.thread_id_type = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
}

bool request_scoped(State& now, uint8_t** buffer, size_t* size, size_t* most) {
  cupti_v2::Requested request = nullptr;
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    request = scoped().request;
  }
  if (request != nullptr) request(buffer, size, most, nullptr);  // as CUPTI 13.5
  return request != nullptr;
}

void complete_scoped(State& now, uint8_t* buffer, size_t size, size_t used) {
  cupti_v2::Completed complete = nullptr;
  cupti_v2::CompleteInfo info;
  std::vector<cupti_v2::RecordPlaces*> places;
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    Scoped& mine = scoped();
    complete = mine.complete;
    if (mine.user_defined) {
      places.resize(kKinds);
      for (const auto& [kind, selection] : mine.selection) places[static_cast<size_t>(kind)] = &selection->places;
      info.places = places.data();
      info.kinds = places.size();
    }
  }
  info.thread = static_cast<uint64_t>(pthread_self());
  if (complete != nullptr) complete(buffer, size, used, &info);
}

size_t write_scoped(const uint8_t* record, size_t bytes, uint8_t* to) {
  Scoped& mine = scoped();
  if (!mine.user_defined) {
    memcpy(to, record, bytes);
    return bytes;
  }
  CUpti_ActivityKind kind;
  memcpy(&kind, record, sizeof kind);
  const auto found = mine.selection.find(kind);
  if (found == mine.selection.end()) return 0;
  const Selection& selection = *found->second;
  memset(to, 0, selection.places.record_bytes);
  for (size_t i = 0; i < selection.from.size(); ++i) {
    const Field& from = selection.from[i];
    if (from.offset + from.bytes > bytes) continue;
    memcpy(to + selection.fields[i].offset, record + from.offset, std::min(from.bytes, from.user_bytes));
    const bool thread = from.user_bytes == 8 && from.bytes == 4 && from.id == 5 &&
                        (kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME);
    if (thread && state().thread_id_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT) {
      const uint64_t whole = thread_of_half(record + from.offset);
      memcpy(to + selection.fields[i].offset, &whole, sizeof whole);
    }
  }
  return selection.places.record_bytes;
}

}  // namespace sim

using namespace sim;

extern "C" {

SIM_SCOPED CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber, cupti_v2::Requested request,
                                                         cupti_v2::Completed complete) {
  const LeavesErrno leaves_errno;
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  State& now = state();
  if (const CUptiResult result = enter_scope(now, subscriber); result != CUPTI_SUCCESS) return result;
  std::lock_guard<std::mutex> lock(now.mutex);
  scoped().request = request;
  scoped().complete = complete;
  return CUPTI_SUCCESS;
}

SIM_SCOPED CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                              cupti_v2::Config* config) {
  const LeavesErrno leaves_errno;
  return enable_scoped(subscriber, kind, config);
}
SIM_SCOPED CUptiResult cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                                     cupti_v2::Config* config) {
  const LeavesErrno leaves_errno;
  return enable_scoped(subscriber, kind, config);
}
SIM_SCOPED CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                               cupti_v2::Config*) {
  const LeavesErrno leaves_errno;
  State& now = state();
  if (!is_subscriber(now, subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE && !scoped().user_defined) return CUPTI_ERROR_INVALID_KIND;
  }
  return enable_kind(kind, false);
}

SIM_SCOPED CUptiResult cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId cbid,
                                                       uint8_t enable) {
  const LeavesErrno leaves_errno;
  State& now = state();
  if (const CUptiResult result = enter_scope(now, subscriber); result != CUPTI_SUCCESS) return result;
  if (cbid == 0 || cbid >= kDriverCallbacks) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard<std::mutex> lock(now.mutex);
  if (!now.enabled[CUPTI_ACTIVITY_KIND_DRIVER]) return CUPTI_SUCCESS;
  now.driver_api[cbid] = enable != 0;
  now.driver_kind_alone = false;
  return CUPTI_SUCCESS;
}
SIM_SCOPED CUptiResult cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId cbid,
                                                        uint8_t enable) {
  const LeavesErrno leaves_errno;
  State& now = state();
  if (const CUptiResult result = enter_scope(now, subscriber); result != CUPTI_SUCCESS) return result;
  if (cbid == 0 || cbid >= kRuntimeCallbacks) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard<std::mutex> lock(now.mutex);
  if (!now.enabled[CUPTI_ACTIVITY_KIND_RUNTIME]) return CUPTI_SUCCESS;
  now.runtime_api[cbid] = enable != 0;
  return CUPTI_SUCCESS;
}

SIM_SCOPED CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle subscriber, int attribute, size_t* size,
                                                    void* value) {
  const LeavesErrno leaves_errno;
  State& now = state();
  if (!is_subscriber(now, subscriber) || size == nullptr || value == nullptr || attribute < 0 || attribute > 24)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (attribute == cupti_v2::kSeveralSubscribers) return CUPTI_ERROR_NOT_SUPPORTED;
  if (attribute == cupti_v2::kWholeGraphsForAll) return CUPTI_SUCCESS;  // of several subscribers
  if (attribute == cupti_v2::kHardwareTrace) return CUPTI_ERROR_NOT_SUPPORTED;
  const uint8_t* const bytes = static_cast<const uint8_t*>(value);
  if (attribute == cupti_v2::kTimestampCallback) {
    CUpti_TimestampCallbackFunc clock = nullptr;
    if (*size < sizeof clock) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    memcpy(&clock, value, sizeof clock);
    {
      std::lock_guard<std::mutex> lock(now.mutex);
      now.timestamp = clock != nullptr ? clock : real_time;
      now.anchors.clear();
    }
    clock_now(now);
  }
  std::lock_guard<std::mutex> lock(now.mutex);
  if (attribute == cupti_v2::kUserDefinedRecords) {
    scoped().user_defined = *bytes != 0;
  }
  if (attribute == cupti_v2::kThreadIdType)
    memcpy(static_cast<void*>(&now.thread_id_type), value, sizeof now.thread_id_type);
  if (attribute <= 10 && attribute != cupti_v2::kZeroedBuffers && attribute != cupti_v2::kPerThreadBuffers)
    now.attributes[static_cast<CUpti_ActivityAttribute>(attribute)].assign(bytes, bytes + *size);
  scoped().attributes[attribute].assign(bytes, bytes + *size);
  return CUPTI_SUCCESS;
}

SIM_SCOPED CUptiResult cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle subscriber, int attribute, size_t* size,
                                                    void* value) {
  const LeavesErrno leaves_errno;
  State& now = state();
  if (!is_subscriber(now, subscriber) || size == nullptr || value == nullptr || attribute < 0 || attribute > 24)
    return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard<std::mutex> lock(now.mutex);
  if (attribute == cupti_v2::kTimestampCallback) {
    const CUpti_TimestampCallbackFunc clock = now.timestamp;
    return copy_out(size, value, clock != real_time ? clock : nullptr);
  }
  if (attribute == cupti_v2::kThreadIdType) return copy_out(size, value, now.thread_id_type);
  const bool global = (attribute <= 10 || attribute > 22) && attribute != cupti_v2::kZeroedBuffers &&
                      attribute != cupti_v2::kPerThreadBuffers;
  if (global) {  // sizes of buffers on the device
    memset(value, 0, *size);
    const std::vector<uint8_t>& set = now.attributes[static_cast<CUpti_ActivityAttribute>(attribute)];
    memcpy(value, set.data(), std::min(*size, set.size()));
    return CUPTI_SUCCESS;
  }
  const std::vector<uint8_t>& set = scoped().attributes[attribute];
  if (attribute == 24) return copy_out(size, value, uint64_t{0});
  const uint8_t usual = attribute == cupti_v2::kPerThreadBuffers || attribute == cupti_v2::kAllSyncRecords;
  return copy_out(size, value, set.empty() ? usual : set[0]);
}

SIM_SCOPED CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t* buffer, size_t valid,
                                                     CUpti_Activity** record) {
  const LeavesErrno leaves_errno;
  State& now = state();
  if (!is_subscriber(now, subscriber) || buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard<std::mutex> lock(now.mutex);
  const Scoped& mine = scoped();
  const auto bytes_of = [&](const uint8_t* at) -> size_t {
    CUpti_ActivityKind kind;
    memcpy(&kind, at, sizeof kind);
    if (!mine.user_defined) return record_size(kind);
    const auto found = mine.selection.find(kind);
    return found != mine.selection.end() ? found->second->places.record_bytes : 0;
  };
  uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<uint8_t*>(*record) + bytes_of(reinterpret_cast<uint8_t*>(*record));
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  const size_t bytes = bytes_of(next);
  if (bytes == 0 || next + bytes > buffer + valid) return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

SIM_SCOPED CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber, CUcontext, uint32_t,
                                                            size_t* dropped) {
  const LeavesErrno leaves_errno;
  State& now = state();
  if (!is_subscriber(now, subscriber) || dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard<std::mutex> lock(now.mutex);
  *dropped = now.dropped;
  now.dropped = 0;
  return CUPTI_SUCCESS;
}

SIM_SCOPED CUptiResult cuptiActivityPushExternalCorrelationId_v2(CUpti_SubscriberHandle subscriber,
                                                                 CUpti_ExternalCorrelationKind kind, uint64_t id) {
  const LeavesErrno leaves_errno;
  const bool known = kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
  if (!known || !is_subscriber(state(), subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  push_external(kind, id);
  return CUPTI_SUCCESS;
}
SIM_SCOPED CUptiResult cuptiActivityPopExternalCorrelationId_v2(CUpti_SubscriberHandle subscriber,
                                                                CUpti_ExternalCorrelationKind kind, uint64_t* last) {
  const LeavesErrno leaves_errno;
  const bool known = kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
  if (!known || !is_subscriber(state(), subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  return pop_external(kind, last) ? CUPTI_SUCCESS : CUPTI_ERROR_QUEUE_EMPTY;
}

SIM_SCOPED CUptiResult cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber, uint64_t* timestamp) {
  const LeavesErrno leaves_errno;
  if (timestamp == nullptr || !is_subscriber(state(), subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = clock_now(state());
  return CUPTI_SUCCESS;
}

SIM_SCOPED CUptiResult cuptiActivityGetEnabledKinds(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind* kinds,
                                                    uint32_t* room, uint32_t* count) {
  const LeavesErrno leaves_errno;
  State& now = state();
  if (count == nullptr || (kinds != nullptr && room == nullptr)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (subscriber != nullptr && !is_subscriber(now, subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard<std::mutex> lock(now.mutex);
  uint32_t found = 0;
  auto enabled = now.enabled;
  if (enabled[CUPTI_ACTIVITY_KIND_MEMCPY] && !scoped().user_defined) enabled[CUPTI_ACTIVITY_KIND_MEMCPY2] = true;
  for (size_t kind = 1; kind < enabled.size(); ++kind) {
    if (!enabled[kind]) continue;
    if (kinds != nullptr && (found + 1) * sizeof *kinds <= *room) kinds[found] = static_cast<CUpti_ActivityKind>(kind);
    ++found;
  }
  *count = found;
  return CUPTI_SUCCESS;
}

}  // extern "C"
