#include "preload/intercept/cupti_guard.h"

#include "preload/capture/gpu_activity.h"
#include "preload/intercept/image.h"
#include "preload/runtime/libc.h"
#include "preload/runtime/recorder.h"

#undef __CUDA_API_VERSION_INTERNAL  // cupti.h does not compile with it; no driver function is named here
#include <cupti.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace prof::preload {
namespace {

enum class Guard {
#define CUPTI_GUARD(name) name,
#include "preload/intercept/cupti_api.def"
#undef CUPTI_GUARD
};
constexpr const char* kGuardNames[] = {
#define CUPTI_GUARD(name) #name,
#include "preload/intercept/cupti_api.def"
#undef CUPTI_GUARD
};
constexpr size_t kGuards = sizeof(kGuardNames) / sizeof(kGuardNames[0]);

template <Guard> struct GuardType;
#define CUPTI_GUARD(name) \
  template <> struct GuardType<Guard::name> { using Function = decltype(&::name); };
#include "preload/intercept/cupti_api.def"
#undef CUPTI_GUARD

// One stand-in per library: with two CUPTIs in a process (pip wheels bring their own) a shared one would misroute.
constexpr size_t kLibraries = 6;
std::atomic<void*> g_guarded[kGuards][kLibraries];

void noticed(const char* function) {
  if (t_local.helper != 0) return;
  const int error = errno;
  gpu_activity_taken_away(function);
  errno = error;
}

template <Guard guard, size_t library, class Function = typename GuardType<guard>::Function> struct Stand;
template <Guard guard, size_t library, class... Args> struct Stand<guard, library, CUptiResult(CUPTIAPI*)(Args...)> {
  static CUptiResult call(Args... args) {
    using Function = CUptiResult(CUPTIAPI*)(Args...);
    noticed(kGuardNames[static_cast<size_t>(guard)]);
    return reinterpret_cast<Function>(g_guarded[static_cast<size_t>(guard)][library].load(std::memory_order_acquire))(
        args...);
  }
};

template <Guard guard, size_t... library>
constexpr std::array<void* (*)(), kLibraries> stands_of(std::index_sequence<library...>) {
  return {[] { return reinterpret_cast<void*>(&Stand<guard, library>::call); }...};
}
constexpr std::array<void* (*)(), kLibraries> kStands[] = {
#define CUPTI_GUARD(name) stands_of<Guard::name>(std::make_index_sequence<kLibraries>{}),
#include "preload/intercept/cupti_api.def"
#undef CUPTI_GUARD
};

// For calls through the exported symbol: the library that the caller was linked with, or any that is loaded.
template <class Function> Function behind(const void* caller, const char* name) {
  return reinterpret_cast<Function>(exported_for_caller(caller, "libcupti.so", name));
}

}  // namespace

void* cupti_guard(void* handle, const char* name) {
  for (size_t guard = 0; guard < kGuards; ++guard) {
    if (std::strcmp(name, kGuardNames[guard]) != 0) continue;
    const DlsymFunction dlsym_of_libc = real_dlsym();
    void* const real = dlsym_of_libc != nullptr ? dlsym_of_libc(handle, name) : nullptr;
    for (size_t library = 0; real != nullptr && library < kLibraries; ++library) {
      void* expected = nullptr;
      std::atomic<void*>& slot = g_guarded[guard][library];
      if (slot.load(std::memory_order_acquire) == real || slot.compare_exchange_strong(expected, real) ||
          expected == real) {
        return kStands[guard][library]();
      }
    }
    return real;
  }
  return nullptr;
}

}  // namespace prof::preload

#define PROF_EXPORT extern "C" __attribute__((visibility("default")))
#define PROF_GUARDED(name, ...)                                                                   \
  const auto real = prof::preload::behind<decltype(&::name)>(__builtin_return_address(0), #name); \
  if (real == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;                                        \
  prof::preload::noticed(#name);                                                                  \
  return real(__VA_ARGS__)

PROF_EXPORT CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                                void* data) {
  PROF_GUARDED(cuptiSubscribe, subscriber, callback, data);
}
PROF_EXPORT CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                                   void* data, CUpti_SubscriberParams* params) {
  PROF_GUARDED(cuptiSubscribe_v2, subscriber, callback, data, params);
}
PROF_EXPORT CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                                CUpti_BuffersCallbackCompleteFunc completed) {
  PROF_GUARDED(cuptiActivityRegisterCallbacks, requested, completed);
}
PROF_EXPORT CUptiResult CUPTIAPI cuptiFinalize() { PROF_GUARDED(cuptiFinalize); }
