#include "preload/intercept/cupti/cupti_stand_ins.h"

#include "preload/base/image.h"
#include "preload/base/libc.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_kinds.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti_records.h"
#include "preload/capture/gpu_activity.h"
#include "preload/intercept/cupti/second_cupti.h"
#include "preload/lifecycle/call_scope.h"
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

template <Function> struct Row;
#define CUPTI_API(name, parameters, arguments)  \
  template <> struct Row<Function::name> {      \
    using Type = decltype(&::name);             \
    static constexpr const char* kName = #name; \
  };
#include "preload/intercept/cupti/cupti_api.def"
#undef CUPTI_API

std::atomic<CUpti_SubscriberHandle> g_subscriber{nullptr};  // of the other profiler

// A function of a libcupti as the program requested it.
struct Asked {
  const void* real;    // the function in the library
  const void* caller;  // the address in the program that calls it
};
template <class Type> struct CuptiFunction;
template <class... Args> struct CuptiFunction<CUptiResult(CUPTIAPI*)(Args...)> : Asked {
  CUptiResult operator()(Args... args) const {
    return reinterpret_cast<CUptiResult(CUPTIAPI*)(Args...)>(const_cast<void*>(real))(args...);
  }
};

// Whether a call goes to the library in which libprof.so has the only registration. Calls by libprof.so and by CUPTI
// itself never do. Before anything is recorded, the first such call opens the front. It does not if GPU times are off
// or the library cannot be used.
bool shared(const Asked& asked, const char* name) {
  if (inside_our_calls()) return false;
  if (!cupti_front_open()) {
    const int error = errno;
    const EventScope scope;
    const bool wanted = scope.recording() && options().gpu;
    if (wanted) open_cupti_front_for(asked.real, read_cupti_buffer);
    errno = error;
  }
  notice_second_library(asked.real, name, asked.caller);
  return cupti_front_has(asked.real);
}

// Whether a kind that the other profiler disables must stay enabled for libprof.so.
bool turn_off(CUpti_ActivityKind kind) {
  const bool calls = kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  return calls ? gpu_activity_keeps_calls(kind) : gpu_activity_uses(kind);
}

// What each function does instead of the real one. `real` is a CuptiFunction.
template <Function function> struct StandIn {
  template <class Real, class... Args> static CUptiResult call(Real real, Args... args) { return real(args...); }
};

// CUPTI allows one subscriber, and libprof.so is not one.
template <> struct StandIn<Function::cuptiSubscribe> {
  template <class Real, class... Args>
  static CUptiResult call(Real real, CUpti_SubscriberHandle* handle, Args... args) {
    notice_second_library(real.real, "cuptiSubscribe", real.caller);
    const CUptiResult result = real(handle, args...);
    if (result == CUPTI_SUCCESS && handle != nullptr) g_subscriber.store(*handle, std::memory_order_release);
    return result;
  }
};
template <> struct StandIn<Function::cuptiSubscribe_v2> : StandIn<Function::cuptiSubscribe> {};
template <> struct StandIn<Function::cuptiUnsubscribe> {
  template <class Real> static CUptiResult call(Real real, CUpti_SubscriberHandle handle) {
    CUpti_SubscriberHandle known = handle;
    g_subscriber.compare_exchange_strong(known, nullptr);
    return real(handle);
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
    if (requested == nullptr || completed == nullptr || !shared(real, "cuptiActivityRegisterCallbacks"))
      return real(requested, completed);
    const EventScope scope;  // for what the log records about the client
    set_cupti_client(requested, completed);
    return CUPTI_SUCCESS;
  }
};
template <> struct StandIn<Function::cuptiActivityRegisterTimestampCallback> {
  template <class Real> static CUptiResult call(Real real, CUpti_TimestampCallbackFunc clock) {
    if (clock == nullptr || !shared(real, "cuptiActivityRegisterTimestampCallback")) return real(clock);
    set_cupti_client_clock(clock);
    return CUPTI_SUCCESS;
  }
};

template <> struct StandIn<Function::cuptiActivityEnable> {
  template <class Real> static CUptiResult call(Real real, CUpti_ActivityKind kind) {
    if (!shared(real, "cuptiActivityEnable")) return real(kind);
    // CUPTI collects either serialized or concurrent kernels, not both. libprof.so uses concurrent kernels.
    const bool serial = kind == CUPTI_ACTIVITY_KIND_KERNEL && gpu_activity_uses(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    const CUptiResult result = serial ? CUPTI_SUCCESS : real(kind);
    if (result == CUPTI_SUCCESS) {
      enable_for_cupti_client(kind);
      if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL)
        gpu_activity_times_nodes();
      if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) gpu_activity_meets_runtime_calls();
    }
    return result;
  }
};
template <> struct StandIn<Function::cuptiActivityEnableAndDump> : StandIn<Function::cuptiActivityEnable> {};
template <> struct StandIn<Function::cuptiActivityDisable> {
  template <class Real> static CUptiResult call(Real real, CUpti_ActivityKind kind) {
    if (!shared(real, "cuptiActivityDisable")) return real(kind);
    disable_for_cupti_client(kind);
    return turn_off(kind) ? CUPTI_SUCCESS : real(kind);
  }
};
// For one context. The other profiler gets the kind's records of all contexts.
template <> struct StandIn<Function::cuptiActivityEnableContext> {
  template <class Real> static CUptiResult call(Real real, CUcontext context, CUpti_ActivityKind kind) {
    if (!shared(real, "cuptiActivityEnableContext")) return real(context, kind);
    const CUptiResult result = gpu_activity_uses(kind) ? CUPTI_SUCCESS : real(context, kind);
    if (result == CUPTI_SUCCESS) enable_for_cupti_client(kind);
    return result;
  }
};
template <> struct StandIn<Function::cuptiActivityDisableContext> {
  template <class Real> static CUptiResult call(Real real, CUcontext context, CUpti_ActivityKind kind) {
    if (!shared(real, "cuptiActivityDisableContext")) return real(context, kind);
    disable_for_cupti_client(kind);
    return gpu_activity_uses(kind) ? CUPTI_SUCCESS : real(context, kind);
  }
};
template <Function function, CUpti_ActivityKind kind, bool (*needed)(uint32_t)> struct EnableCall {
  template <class Real> static CUptiResult call(Real real, CUpti_CallbackId cbid, uint8_t enable) {
    if (!shared(real, Row<function>::kName)) return real(cbid, enable);
    const CUptiResult result = enable == 0 && needed(cbid) ? CUPTI_SUCCESS : real(cbid, enable);
    if (result == CUPTI_SUCCESS) {
      enable_call_for_cupti_client(kind, cbid, enable != 0);
      if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) gpu_activity_meets_runtime_calls();
    }
    return result;
  }
};
template <>
struct StandIn<Function::cuptiActivityEnableDriverApi>
    : EnableCall<Function::cuptiActivityEnableDriverApi, CUPTI_ACTIVITY_KIND_DRIVER, gpu_activity_uses_driver_call> {};
template <>
struct StandIn<Function::cuptiActivityEnableRuntimeApi>
    : EnableCall<Function::cuptiActivityEnableRuntimeApi, CUPTI_ACTIVITY_KIND_RUNTIME, gpu_activity_uses_runtime_call> {
};

// After a flush the other profiler has all its records. It also gets back the spare buffer that was requested from it
// in advance.
template <> struct StandIn<Function::cuptiActivityFlushAll> {
  template <class Real, class... Args> static CUptiResult call(Real real, Args... args) {
    const CUptiResult result = real(args...);
    if (!inside_our_calls() && cupti_front_has(real.real)) return_spare_to_cupti_client();
    return result;
  }
};
template <> struct StandIn<Function::cuptiActivityFlush> : StandIn<Function::cuptiActivityFlushAll> {};

template <> struct StandIn<Function::cuptiActivitySetAttribute> {
  template <class Real>
  static CUptiResult call(Real real, CUpti_ActivityAttribute attribute, size_t* size, void* value) {
    const bool of_buffers =
        attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER || static_cast<int>(attribute) == kPerThreadBuffers;
    // libprof.so decides how CUPTI fills its buffers. If the attribute changes while CUPTI fills them, the result is
    // undefined.
    if (of_buffers && shared(real, "cuptiActivitySetAttribute")) return CUPTI_SUCCESS;
    return real(attribute, size, value);
  }
  static constexpr int kPerThreadBuffers = 9;  // CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, newer than CUDA 12.2
};
template <> struct StandIn<Function::cuptiActivityGetNumDroppedRecords> {
  template <class Real> static CUptiResult call(Real real, CUcontext context, uint32_t stream, size_t* dropped) {
    if (dropped == nullptr || inside_our_calls() || !cupti_front_has(real.real)) return real(context, stream, dropped);
    count_cupti_dropped();
    *dropped = cupti_dropped_for_client();
    return CUPTI_SUCCESS;
  }
};
template <> struct StandIn<Function::cuptiGetTimestamp> {
  template <class Real> static CUptiResult call(Real real, uint64_t* timestamp) {
    if (timestamp == nullptr || inside_our_calls() || !cupti_front_has(real.real)) return real(timestamp);
    *timestamp = cupti_client_now();
    return CUPTI_SUCCESS;
  }
};
template <> struct StandIn<Function::cuptiSetThreadIdType> {
  template <class Real> static CUptiResult call(Real real, CUpti_ActivityThreadIdType type) {
    const bool known = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT || type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    if (!known || !shared(real, "cuptiSetThreadIdType")) return real(type);
    set_cupti_client_system_thread_ids(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    return CUPTI_SUCCESS;
  }
};
template <> struct StandIn<Function::cuptiGetThreadIdType> {
  template <class Real> static CUptiResult call(Real real, CUpti_ActivityThreadIdType* type) {
    if (type == nullptr || inside_our_calls() || !cupti_front_has(real.real)) return real(type);
    *type = cupti_client_has_system_thread_ids() ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                                 : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
    return CUPTI_SUCCESS;
  }
};

// The other profiler finishes here. Its records are delivered, and what only that profiler used is disabled.
template <> struct StandIn<Function::cuptiFinalize> {
  template <class Real> static CUptiResult call(Real real) {
    if (inside_our_calls() || !cupti_front_has(real.real)) {
      notice_second_library(real.real, "cuptiFinalize", real.caller);
      return real();
    }
    const KeepCuptiError keep;
    g_cupti.api.cuptiActivityFlushAll(0);
    for (uint32_t i = 1; i < CUPTI_ACTIVITY_KIND_COUNT; ++i) {
      const auto kind = static_cast<CUpti_ActivityKind>(i);
      if (!cupti_client_uses(kind)) continue;
      disable_for_cupti_client(kind);
      if (!turn_off(kind)) g_cupti.api.cuptiActivityDisable(kind);
    }
    return_spare_to_cupti_client();
    reset_cupti_client();
    const CUpti_SubscriberHandle subscriber = g_subscriber.exchange(nullptr);
    if (subscriber != nullptr && g_cupti.api.cuptiUnsubscribe != nullptr) g_cupti.api.cuptiUnsubscribe(subscriber);
    return CUPTI_SUCCESS;
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

#define PROF_UNPACK(...) __VA_ARGS__
#define PROF_AFTER(...) __VA_OPT__(, ) __VA_ARGS__
#define CUPTI_API(name, parameters, arguments)                                              \
  extern "C" __attribute__((visibility("default"))) CUptiResult CUPTIAPI name parameters {  \
    using namespace prof::preload;                                                          \
    const auto real = real_for_caller<Function::name>(__builtin_return_address(0));         \
    return real.real == nullptr ? CUPTI_ERROR_NOT_INITIALIZED                               \
                                : StandIn<Function::name>::call(real PROF_AFTER arguments); \
  }
#include "preload/intercept/cupti/cupti_api.def"
#undef CUPTI_API
