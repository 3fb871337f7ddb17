#include "preload/intercept/cupti/cupti_stand_ins.h"

#include "preload/base/image.h"
#include "preload/base/libc.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/cupti/cupti_client_requests.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_kinds.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti_records.h"
#include "preload/capture/gpu_activity.h"
#include "preload/intercept/cupti/cupti_subscribers.h"
#include "preload/intercept/cupti/second_cupti.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/pc_sampling/cubin_store.h"
#include "preload/pc_sampling/pc_sampling.h"
#include "preload/record/thread_local.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace prof::preload {
namespace {

enum class Function {
#define CUPTI_API(name, parameters, arguments) name,
#include "preload/intercept/cupti/cupti_api.def"
#undef CUPTI_API
};
constexpr const char* kNames[] = {
#define CUPTI_API(name, parameters, arguments) #name,
#include "preload/intercept/cupti/cupti_api.def"
#undef CUPTI_API
};
constexpr size_t kFunctions = sizeof(kNames) / sizeof(kNames[0]);
constexpr const char* kNewNames[] = {
#define CUPTI_API(name, parameters, arguments)
#define CUPTI_NEW_API(name, parameters, arguments) #name,
#include "preload/intercept/cupti/cupti_api.def"
#undef CUPTI_NEW_API
#undef CUPTI_API
};

template <Function> struct Row;
#define CUPTI_API(name, parameters, arguments)      \
  template <> struct Row<Function::name> {          \
    using Type = CUptiResult(CUPTIAPI*) parameters; \
    static constexpr const char* kName = #name;     \
  };
#include "preload/intercept/cupti/cupti_api.def"
#undef CUPTI_API

// A function of a libcupti as the program requested it.
struct Asked {
  const void* real;    // the function in the library
  const void* caller;  // the address in the program that calls it
};
template <class Type> struct CuptiFunction;
template <class... Args> struct CuptiFunction<CUptiResult(CUPTIAPI*)(Args...)> : Asked {
  using Pointer = CUptiResult(CUPTIAPI*)(Args...);
  Pointer function() const { return reinterpret_cast<Pointer>(const_cast<void*>(real)); }
  CUptiResult operator()(Args... args) const { return function()(args...); }
};

// Whether a call goes to the library in which libprof.so has the only registration. Calls by libprof.so and by CUPTI
// itself never do. Before anything is recorded, the first such call opens the front, also if a recording starts only
// later. It does not if GPU times are off or the library cannot be used.
bool shared(const Asked& asked, const char* name) {
  if (inside_our_calls()) return false;
  if (!cupti_front_open()) {
    const int error = errno;
    const EventScope scope;
    const bool wanted = (scope.recording() || prepare_for_a_later_recording()) && options().gpu;
    if (wanted && !cupti_front_open()) open_cupti_front_for(asked.real, read_cupti_buffer);
    errno = error;
  }
  notice_second_library(asked.real, name, asked.caller);
  return cupti_front_has(asked.real);
}

// What each function does instead of the real one. `real` is a CuptiFunction.
template <Function function> struct StandIn {
  template <class Real, class... Args> static CUptiResult call(Real real, Args... args) { return real(args...); }
};

// As shared(), for a request of the global API. `result`: what CUPTI answers if subscribers exclude it.
bool shared_globally(const Asked& asked, const char* name, CUptiResult& result) {
  if (!shared(asked, name)) return false;
  result = enter_cupti_scope(CuptiScope::Global) ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_COMPATIBLE;
  return true;
}

CUptiResult subscribed(CUptiResult result, const CUpti_SubscriberHandle* handle, bool several) {
  if (result == CUPTI_SUCCESS && handle != nullptr) add_cupti_subscriber(*handle, several);
  return result;
}
template <> struct StandIn<Function::cuptiSubscribe> {
  template <class Real>
  static CUptiResult call(Real real, CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user) {
    if (inside_our_calls()) return real(handle, callback, user);
    notice_second_library(real.real, "cuptiSubscribe", real.caller);
    const RealSubscribe of_cupti = [](const void* function, CUpti_SubscriberHandle* to, CUpti_CallbackFunc called,
                                      void* with, CuptiSubscriberParams*) {
      return reinterpret_cast<typename Real::Pointer>(const_cast<void*>(function))(to, called, with);
    };
    return subscribed(subscribe_to_cupti(real.real, of_cupti, handle, {callback, user, nullptr}), handle, false);
  }
};
// A subscriber of the subscriber-scoped API uses it soon: libprof.so registers first, with the global one.
template <> struct StandIn<Function::cuptiSubscribe_v2> {
  template <class Real>
  static CUptiResult call(Real real, CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user,
                          CuptiSubscriberParams* params) {
    if (inside_our_calls()) return real(handle, callback, user, params);
    constexpr size_t kSince = offsetof(CuptiSubscriberParams, several) + sizeof params->several;
    shared(real, "cuptiSubscribe_v2");
    const bool several = params != nullptr && params->size >= kSince && params->several != 0;
    const RealSubscribe of_cupti = [](const void* function, CUpti_SubscriberHandle* to, CUpti_CallbackFunc called,
                                      void* with, CuptiSubscriberParams* how) {
      return reinterpret_cast<typename Real::Pointer>(const_cast<void*>(function))(to, called, with, how);
    };
    return subscribed(subscribe_to_cupti(real.real, of_cupti, handle, {callback, user, params}), handle, several);
  }
};
template <> struct StandIn<Function::cuptiUnsubscribe> {
  template <class Real> static CUptiResult call(Real real, CUpti_SubscriberHandle handle) {
    if (inside_our_calls()) return real(handle);
    const bool kept = cupti_front_has(real.real);
    if (CuptiClient* const client = cupti_client_of(handle); client != nullptr) {
      if (kept) release_everything(*client);
      remove_cupti_subscriber(handle);
    }
    CUptiResult result{};
    return unsubscribe_from_cupti(handle, kept, result) ? result : real(handle);
  }
};

// Callbacks of runtime calls change which records of calls CUPTI makes (cupti_kinds.h).
CUptiResult meet_callbacks(CUptiResult result, const Asked& asked, bool enabled, bool of_runtime_calls) {
  if (result == CUPTI_SUCCESS && enabled && of_runtime_calls && !inside_our_calls() &&
      (!cupti_front_open() || cupti_front_has(asked.real)))
    gpu_activity_meets_runtime_callbacks();
  return result;
}
template <> struct StandIn<Function::cuptiEnableCallback> {
  template <class Real>
  static CUptiResult call(Real real, uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                          CUpti_CallbackId cbid) {
    return meet_callbacks(real(enable, subscriber, domain, cbid), real, enable != 0,
                          domain == CUPTI_CB_DOMAIN_RUNTIME_API);
  }
};
template <> struct StandIn<Function::cuptiEnableDomain> {
  template <class Real>
  static CUptiResult call(Real real, uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain) {
    return meet_callbacks(real(enable, subscriber, domain), real, enable != 0, domain == CUPTI_CB_DOMAIN_RUNTIME_API);
  }
};
template <> struct StandIn<Function::cuptiEnableAllDomains> {
  template <class Real> static CUptiResult call(Real real, uint32_t enable, CUpti_SubscriberHandle subscriber) {
    return meet_callbacks(real(enable, subscriber), real, enable != 0, true);
  }
};

template <> struct StandIn<Function::cuptiGetLastError> {
  template <class Real> static CUptiResult call(Real real) {
    const CUptiResult result = real();
    return cupti_front_has(real.real) ? cupti_error_for_program(result) : result;
  }
};

template <> struct StandIn<Function::cuptiActivityRegisterCallbacks> {
  template <class Real>
  static CUptiResult call(Real real, CUpti_BuffersCallbackRequestFunc requested,
                          CUpti_BuffersCallbackCompleteFunc completed) {
    CUptiResult result{};
    if (requested == nullptr || completed == nullptr ||
        !shared_globally(real, "cuptiActivityRegisterCallbacks", result))
      return real(requested, completed);
    if (result != CUPTI_SUCCESS) return result;
    const EventScope scope;  // for what the log records about the client
    set_cupti_client(global_cupti_client(), requested, completed);
    return CUPTI_SUCCESS;
  }
};
template <> struct StandIn<Function::cuptiActivityRegisterTimestampCallback> {
  template <class Real> static CUptiResult call(Real real, CUpti_TimestampCallbackFunc clock) {
    CUptiResult result{};
    if (clock == nullptr || !shared_globally(real, "cuptiActivityRegisterTimestampCallback", result))
      return real(clock);
    if (result == CUPTI_SUCCESS) set_cupti_client_clock(global_cupti_client(), clock);
    return result;
  }
};

template <> struct StandIn<Function::cuptiActivityEnable> {
  template <class Real> static CUptiResult call(Real real, CUpti_ActivityKind kind) {
    CUptiResult result{};
    if (!shared_globally(real, "cuptiActivityEnable", result)) return real(kind);
    return result == CUPTI_SUCCESS ? request_kind(global_cupti_client(), kind, real.function()) : result;
  }
};
template <> struct StandIn<Function::cuptiActivityEnableAndDump> : StandIn<Function::cuptiActivityEnable> {};
template <> struct StandIn<Function::cuptiActivityDisable> {
  template <class Real> static CUptiResult call(Real real, CUpti_ActivityKind kind) {
    if (!shared(real, "cuptiActivityDisable")) return real(kind);
    if (cupti_scope_is(CuptiScope::Subscribers)) return CUPTI_ERROR_NOT_COMPATIBLE;
    return release_kind(global_cupti_client(), kind, real.function());
  }
};
// For one context. The other profiler gets the kind's records of all contexts.
template <> struct StandIn<Function::cuptiActivityEnableContext> {
  template <class Real> static CUptiResult call(Real real, CUcontext context, CUpti_ActivityKind kind) {
    CUptiResult result{};
    if (!shared_globally(real, "cuptiActivityEnableContext", result)) return real(context, kind);
    if (result != CUPTI_SUCCESS) return result;
    result = gpu_activity_uses(kind) ? CUPTI_SUCCESS : real(context, kind);
    if (result == CUPTI_SUCCESS) enable_for_cupti_client(global_cupti_client(), kind);
    return result;
  }
};
template <> struct StandIn<Function::cuptiActivityDisableContext> {
  template <class Real> static CUptiResult call(Real real, CUcontext context, CUpti_ActivityKind kind) {
    if (!shared(real, "cuptiActivityDisableContext")) return real(context, kind);
    disable_for_cupti_client(global_cupti_client(), kind);
    return gpu_activity_uses(kind) ? CUPTI_SUCCESS : real(context, kind);
  }
};
template <Function function, CUpti_ActivityKind kind> struct EnableOneCall {
  template <class Real> static CUptiResult call(Real real, CUpti_CallbackId cbid, uint8_t enable) {
    CUptiResult result{};
    if (!shared_globally(real, Row<function>::kName, result)) return real(cbid, enable);
    return result == CUPTI_SUCCESS ? request_call(global_cupti_client(), kind, cbid, enable != 0, real.function())
                                   : result;
  }
};
template <>
struct StandIn<Function::cuptiActivityEnableDriverApi>
    : EnableOneCall<Function::cuptiActivityEnableDriverApi, CUPTI_ACTIVITY_KIND_DRIVER> {};
template <>
struct StandIn<Function::cuptiActivityEnableRuntimeApi>
    : EnableOneCall<Function::cuptiActivityEnableRuntimeApi, CUPTI_ACTIVITY_KIND_RUNTIME> {};

// After a flush the other profiler has all its records. It also gets back the spare buffer that was requested from it
// in advance.
template <> struct StandIn<Function::cuptiActivityFlushAll> {
  template <class Real, class... Args> static CUptiResult call(Real real, Args... args) {
    const CUptiResult result = real(args...);
    if (!inside_our_calls() && cupti_front_has(real.real)) return_spares_to_cupti_clients();
    return result;
  }
};
template <> struct StandIn<Function::cuptiActivityFlush> : StandIn<Function::cuptiActivityFlushAll> {};

// libprof.so decides how CUPTI fills its buffers. If the attribute changes while CUPTI fills them, the result is
// undefined. The other profiler gets back what it set.
bool is_of_buffers(CUpti_ActivityAttribute attribute) {
  return attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
         static_cast<int>(attribute) == kPerThreadBuffers;
}
template <> struct StandIn<Function::cuptiActivitySetAttribute> {
  template <class Real>
  static CUptiResult call(Real real, CUpti_ActivityAttribute attribute, size_t* size, void* value) {
    if (is_of_buffers(attribute) && shared(real, "cuptiActivitySetAttribute"))
      return set_subscriber_attribute(global_cupti_client(), attribute, size, value);
    return real(attribute, size, value);
  }
};
template <> struct StandIn<Function::cuptiActivityGetAttribute> {
  template <class Real>
  static CUptiResult call(Real real, CUpti_ActivityAttribute attribute, size_t* size, void* value) {
    if (is_of_buffers(attribute) && !inside_our_calls() && cupti_front_has(real.real))
      return get_subscriber_attribute(global_cupti_client(), attribute, size, value);
    return real(attribute, size, value);
  }
};
template <> struct StandIn<Function::cuptiActivityGetNumDroppedRecords> {
  template <class Real> static CUptiResult call(Real real, CUcontext context, uint32_t stream, size_t* dropped) {
    if (dropped == nullptr || inside_our_calls() || !cupti_front_has(real.real)) return real(context, stream, dropped);
    if (cupti_scope_is(CuptiScope::Subscribers)) return CUPTI_ERROR_NOT_COMPATIBLE;
    count_cupti_dropped();
    *dropped = cupti_dropped_for_client(global_cupti_client());
    return CUPTI_SUCCESS;
  }
};
template <> struct StandIn<Function::cuptiGetTimestamp> {
  template <class Real> static CUptiResult call(Real real, uint64_t* timestamp) {
    if (timestamp == nullptr || inside_our_calls() || !cupti_front_has(real.real)) return real(timestamp);
    if (cupti_scope_is(CuptiScope::Subscribers)) return CUPTI_ERROR_NOT_COMPATIBLE;
    *timestamp = cupti_client_now(global_cupti_client());
    return CUPTI_SUCCESS;
  }
};
template <> struct StandIn<Function::cuptiActivityPushExternalCorrelationId> {
  template <class Real, class... Args> static CUptiResult call(Real real, Args... args) {
    const bool excluded = !inside_our_calls() && cupti_scope_is(CuptiScope::Subscribers) && cupti_front_has(real.real);
    return excluded ? CUPTI_ERROR_NOT_COMPATIBLE : real(args...);
  }
};
template <>
struct StandIn<Function::cuptiActivityPopExternalCorrelationId>
    : StandIn<Function::cuptiActivityPushExternalCorrelationId> {};
template <> struct StandIn<Function::cuptiSetThreadIdType> {
  template <class Real> static CUptiResult call(Real real, CUpti_ActivityThreadIdType type) {
    const bool known = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT || type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    if (!known || !shared(real, "cuptiSetThreadIdType")) return real(type);
    set_cupti_client_system_thread_ids(global_cupti_client(), type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    return CUPTI_SUCCESS;
  }
};
template <> struct StandIn<Function::cuptiGetThreadIdType> {
  template <class Real> static CUptiResult call(Real real, CUpti_ActivityThreadIdType* type) {
    if (type == nullptr || inside_our_calls() || !cupti_front_has(real.real)) return real(type);
    *type = cupti_client_has_system_thread_ids(global_cupti_client()) ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                                                      : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
    return CUPTI_SUCCESS;
  }
};

// The other profilers finish here. Their records are delivered, and what only they used is disabled.
template <> struct StandIn<Function::cuptiFinalize> {
  template <class Real> static CUptiResult call(Real real) {
    if (inside_our_calls() || !cupti_front_has(real.real)) {
      notice_second_library(real.real, "cuptiFinalize", real.caller);
      if (!inside_our_calls() && !cupti_front_open()) forget_cupti_subscribers();
      return real();
    }
    const KeepCuptiError keep;
    release_all_cupti_clients();
    reset_cupti_clients();
    unsubscribe_all_from_cupti();
    return CUPTI_SUCCESS;
  }
};

// A function of the subscriber-scoped API: `What` answers for the client of the handle. CUPTI itself is used by the
// global API only.
template <Function function, class What> struct Scoped {
  template <class Real, class... Args> static CUptiResult call(Real real, CUpti_SubscriberHandle handle, Args... args) {
    // Also inside calls of ours: the profiler's functions are called while the helper thread flushes.
    if (!cupti_front_has(real.real) && !shared(real, Row<function>::kName)) return real(handle, args...);
    CuptiClient* const client = cupti_client_of(handle);
    return client == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : What::of(*client, args...);
  }
};
#define PROF_SCOPED(name, ...)        \
  struct What_##name {                \
    static CUptiResult of __VA_ARGS__ \
  };                                  \
  template <> struct StandIn<Function::name> : Scoped<Function::name, What_##name> {};

PROF_SCOPED(
    cuptiActivityRegisterCallbacks_v2, (CuptiClient & client, CuptiRequestedV2 requested, CuptiCompletedV2 completed) {
      const EventScope scope;  // for what the log records about the client
      return register_subscriber(client, requested, completed);
    })
PROF_SCOPED(
    cuptiActivityEnable_v2, (CuptiClient & client, CUpti_ActivityKind kind, CuptiActivityConfig* config) {
      return enable_for_subscriber(client, kind, config, g_cupti.api.cuptiActivityEnable);
    })
PROF_SCOPED(
    cuptiActivityEnableAndDump_v2, (CuptiClient & client, CUpti_ActivityKind kind, CuptiActivityConfig* config) {
      const EnableKind dump = g_cupti.api.cuptiActivityEnableAndDump;
      return enable_for_subscriber(client, kind, config, dump != nullptr ? dump : g_cupti.api.cuptiActivityEnable);
    })
PROF_SCOPED(
    cuptiActivityDisable_v2, (CuptiClient & client, CUpti_ActivityKind kind, CuptiActivityConfig*) {
      return release_kind(client, kind, g_cupti.api.cuptiActivityDisable);
    })
PROF_SCOPED(
    cuptiActivityEnableDriverApi_v2, (CuptiClient & client, CUpti_CallbackId cbid, uint8_t enable) {
      return enable_call_for_subscriber(client, CUPTI_ACTIVITY_KIND_DRIVER, cbid, enable != 0);
    })
PROF_SCOPED(
    cuptiActivityEnableRuntimeApi_v2, (CuptiClient & client, CUpti_CallbackId cbid, uint8_t enable) {
      return enable_call_for_subscriber(client, CUPTI_ACTIVITY_KIND_RUNTIME, cbid, enable != 0);
    })
PROF_SCOPED(
    cuptiActivitySetAttribute_v2, (CuptiClient & client, int attribute, size_t* size, void* value) {
      return set_subscriber_attribute(client, attribute, size, value);
    })
PROF_SCOPED(
    cuptiActivityGetAttribute_v2, (CuptiClient & client, int attribute, size_t* size, void* value) {
      return get_subscriber_attribute(client, attribute, size, value);
    })
PROF_SCOPED(
    cuptiActivityGetNextRecord_v2, (CuptiClient & client, uint8_t* buffer, size_t valid, CUpti_Activity** record) {
      return next_record_of_subscriber(client, buffer, valid, record);
    })
PROF_SCOPED(
    cuptiActivityGetNumDroppedRecords_v2, (CuptiClient & client, CUcontext, uint32_t, size_t* dropped) {
      if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
      count_cupti_dropped();
      *dropped = cupti_dropped_for_client(client);
      return CUPTI_SUCCESS;
    })
PROF_SCOPED(
    cuptiActivityPushExternalCorrelationId_v2, (CuptiClient&, CUpti_ExternalCorrelationKind kind, uint64_t id) {
      const auto push = g_cupti.api.cuptiActivityPushExternalCorrelationId;
      return push != nullptr ? push(kind, id) : CUPTI_ERROR_NOT_SUPPORTED;
    })
PROF_SCOPED(
    cuptiActivityPopExternalCorrelationId_v2, (CuptiClient&, CUpti_ExternalCorrelationKind kind, uint64_t* last) {
      const auto pop = g_cupti.api.cuptiActivityPopExternalCorrelationId;
      return pop != nullptr ? pop(kind, last) : CUPTI_ERROR_NOT_SUPPORTED;
    })
PROF_SCOPED(
    cuptiGetTimestamp_v2, (CuptiClient & client, uint64_t* timestamp) {
      if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
      *timestamp = cupti_client_now(client);
      return CUPTI_SUCCESS;
    })
#undef PROF_SCOPED
template <> struct StandIn<Function::cuptiActivityGetEnabledKinds> {
  template <class Real>
  static CUptiResult call(Real real, CUpti_SubscriberHandle handle, CUpti_ActivityKind* kinds, uint32_t* room,
                          uint32_t* count) {
    if (!cupti_front_has(real.real)) return real(handle, kinds, room, count);
    const CuptiClient* const client = cupti_client_of(handle);
    if (handle != nullptr && client == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    return enabled_kinds(client, kinds, room, count);
  }
};

// Functions that need the hardware of PC sampling, or use it on a context on which libprof.so may have enabled it.
template <Function function> struct NeedsPcSampling {
  template <class Real> static CUptiResult call(Real real, void* params) {
    if (!inside_our_calls() && pc_sampling_on()) {
      const EventScope scope;
      yield_pc_sampling(Row<function>::kName);
    }
    return real(params);
  }
};
#define PROF_NEEDS_PC_SAMPLING(name) \
  template <> struct StandIn<Function::name> : NeedsPcSampling<Function::name> {};
PROF_NEEDS_PC_SAMPLING(cuptiPCSamplingEnable)
PROF_NEEDS_PC_SAMPLING(cuptiPCSamplingDisable)
PROF_NEEDS_PC_SAMPLING(cuptiPCSamplingSetConfigurationAttribute)
PROF_NEEDS_PC_SAMPLING(cuptiPCSamplingGetConfigurationAttribute)
PROF_NEEDS_PC_SAMPLING(cuptiPCSamplingGetData)
PROF_NEEDS_PC_SAMPLING(cuptiPCSamplingStart)
PROF_NEEDS_PC_SAMPLING(cuptiPCSamplingStop)
PROF_NEEDS_PC_SAMPLING(cuptiProfilerBeginSession)
PROF_NEEDS_PC_SAMPLING(cuptiRangeProfilerEnable)
PROF_NEEDS_PC_SAMPLING(cuptiPmSamplingEnable)
#undef PROF_NEEDS_PC_SAMPLING

// CUPTI has one callback. While libprof.so's is registered, it calls the program's and passes its checksum on.
template <> struct StandIn<Function::cuptiRegisterComputeCrcCallback> {
  using Callback = void (*)(const void*, size_t, uint64_t*);
  template <class Real> static CUptiResult call(Real real, Callback callback) {
    if (inside_our_calls() || callback == nullptr) return real(callback);
    set_program_crc_callback(callback);
    return cubin_callback_registered() && cupti_front_has(real.real) ? CUPTI_SUCCESS : real(callback);
  }
};

// One entry per library. A process may have two CUPTIs (pip wheels bring their own), and a shared entry would call the
// wrong one.
constexpr size_t kLibraries = 6;
std::atomic<void*> g_real_cupti[kFunctions][kLibraries];

template <Function function, size_t library, class Type = typename Row<function>::Type> struct Entry;
template <Function function, size_t library, class... Args>
struct Entry<function, library, CUptiResult(CUPTIAPI*)(Args...)> {
  static CUptiResult call(Args... args) {
    const CuptiFunction<typename Row<function>::Type> real{
        {g_real_cupti[static_cast<size_t>(function)][library].load(std::memory_order_acquire),
         __builtin_return_address(0)}};
    return StandIn<function>::call(real, args...);
  }
};

template <Function function, size_t... library>
constexpr std::array<void* (*)(), kLibraries> entries_of(std::index_sequence<library...>) {
  return {[] { return reinterpret_cast<void*>(&Entry<function, library>::call); }...};
}
constexpr std::array<void* (*)(), kLibraries> kEntries[] = {
#define CUPTI_API(name, parameters, arguments) entries_of<Function::name>(std::make_index_sequence<kLibraries>{}),
#include "preload/intercept/cupti/cupti_api.def"
#undef CUPTI_API
};

// For calls through the exported symbol: the function in the library that the caller was linked with, or in any that is
// loaded.
template <Function function> CuptiFunction<typename Row<function>::Type> real_for_caller(const void* caller) {
  return {{exported_for_caller(caller, "libcupti.so", Row<function>::kName), caller}};
}

}  // namespace

void* new_cupti_stand_in(void* handle, const char* name) {
  for (const char* one : kNewNames) {
    if (std::strcmp(name, one) == 0) return cupti_stand_in(handle, name);
  }
  return nullptr;
}

void* cupti_stand_in(void* handle, const char* name) {
  for (size_t function = 0; function < kFunctions; ++function) {
    if (std::strcmp(name, kNames[function]) != 0) continue;
    const DlsymFunction dlsym_of_libc = real_dlsym();
    void* const real = dlsym_of_libc != nullptr ? dlsym_of_libc(handle, name) : nullptr;
    for (size_t library = 0; real != nullptr && library < kLibraries; ++library) {
      void* expected = nullptr;
      std::atomic<void*>& slot = g_real_cupti[function][library];
      if (slot.load(std::memory_order_acquire) == real || slot.compare_exchange_strong(expected, real) ||
          expected == real) {
        return kEntries[function][library]();
      }
    }
    return real;
  }
  return nullptr;
}

}  // namespace prof::preload

#define PROF_AFTER(...) __VA_OPT__(, ) __VA_ARGS__
// Exported under CUPTI's name, and named differently in C++: the headers may declare it with types of their own.
#define PROF_CUPTI_EXPORT(name, parameters, arguments)                                                  \
  extern "C" __attribute__((visibility("default"))) CUptiResult CUPTIAPI prof_cupti_##name parameters { \
    using namespace prof::preload;                                                                      \
    const auto real = real_for_caller<Function::name>(__builtin_return_address(0));                     \
    return real.real == nullptr ? CUPTI_ERROR_NOT_INITIALIZED                                           \
                                : StandIn<Function::name>::call(real PROF_AFTER arguments);             \
  }
#define CUPTI_API(name, parameters, arguments)                                 \
  extern "C" CUptiResult CUPTIAPI prof_cupti_##name parameters __asm__(#name); \
  PROF_CUPTI_EXPORT(name, parameters, arguments)
#define CUPTI_NEW_API(name, parameters, arguments) \
  PROF_CUPTI_EXPORT(name, parameters, arguments)   \
  __asm__(".symver prof_cupti_" #name "," #name "@libcupti.so.13");
#include "preload/intercept/cupti/cupti_api.def"
#undef CUPTI_NEW_API
#undef CUPTI_API
