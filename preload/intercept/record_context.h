// Contexts, modules and functions: ApiCall records; destruction starts a new generation of function handles. In the program.
#pragma once

#include "preload/intercept/functions.h"
#include "preload/intercept/record_call.h"

namespace prof::preload {

// The primary context of a device, as cuDevicePrimaryCtxRetain told: its destruction names only the device.
void primary_context_retained(CUdevice device, CUcontext context);
CUcontext primary_context(CUdevice device);
bool primary_context_active(CUdevice device);
void context_gone(CUcontext context);

namespace topic {

struct ContextCreate {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUcontext* made, Args... args) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if constexpr (sizeof...(Args) == 1) {  // cuDevicePrimaryCtxRetain
      if (ok) primary_context_retained(args..., *made);
    }
    record_call(scope, C::kApi, {}, ok ? as_object(*made) : 0, result);
  }
};

struct ContextDestroy {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUcontext context) {
    context_gone(context);
    return {};
  }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUcontext context) {
    record_call(scope, C::kApi, {}, as_object(context), result);
  }
};

// cuDevicePrimaryCtxRelease and …Reset: the context goes with the last release. Other threads that still use it are wrong.
struct PrimaryRelease {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static CUcontext enter(C, const CallScope&, CUdevice device) { return primary_context(device); }
  template <class C> static void leave(C, const CallScope& scope, CUcontext context, CUresult result, CUdevice device) {
    if (result == CUDA_SUCCESS && !primary_context_active(device)) context_gone(context);
    record_call(scope, C::kApi, {}, as_object(context), result);
  }
};

// cuCtxSynchronize(), cuCtxSynchronize_v2(context)
struct ContextFinish {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, Args... args) {
    if (result == CUDA_SUCCESS) context_synchronized(argument<CUcontext>(args...), scope.begin_tick());
    record_wait(scope, C::kApi, {}, object_of(args...), result);
  }
};

struct Unload {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class Handle> static Nothing enter(C, const CallScope&, Handle) {
    functions_unloaded();
    return {};
  }
  template <class C, class Handle>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, Handle handle) {
    record_call(scope, C::kApi, {}, as_object(handle), result);
  }
};

struct FunctionGet {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class Made, class From, class... Name>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, Made* made, From, Name... name) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if (ok) learn(*made, argument<const char*>(name...));
    record_call(scope, C::kApi, {}, 0, result);  // a handle is 7 bytes, and libraries ask at every launch
  }
  static void learn(CUfunction function, const char* name) { learn_function(function, name); }
  static void learn(CUkernel kernel, const char* name) { learn_kernel(kernel, name); }
};

}  // namespace topic
}  // namespace prof::preload
