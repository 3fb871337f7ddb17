// Contexts, modules and functions: ApiCall records. Destroying one starts a new generation of function handles. It runs
// in the program.
#pragma once

#include "preload/capture/streams/stream_table.h"
#include "preload/driver/functions.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/intercept/records/record_arguments.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/pc_sampling/pc_sampling.h"

namespace prof::preload {

// The primary context of a device, as cuDevicePrimaryCtxRetain returned it. The calls that destroy it name only the
// device.
void primary_context_retained(CUdevice device, CUcontext context);
CUcontext primary_context(CUdevice device);
bool primary_context_active(CUdevice device);
void context_and_code_destroyed(CUcontext context);
// The context that a green context converts to. It is destroyed together with the green context.
void green_context_known(CUgreenCtx green, CUcontext context);
void green_context_destroyed(CUgreenCtx green);

namespace form {

// Forms of ContextCreate. is_new(): called before the real call; whether the call makes a new context if it succeeds.
struct NewContext {
  template <class... Args> static bool is_new(Args...) { return true; }
  template <class... Args> static void created(CUcontext, Args...) {}
};
// A primary context has the same handle again after a reset. Streams that failed calls used under that handle in
// between belong to no context.
struct PrimaryContext {
  static bool is_new(CUdevice device) { return !primary_context_active(device); }
  static void created(CUcontext context, CUdevice device) { primary_context_retained(device, context); }
};

// Forms of PrimaryRelease: whether the last release or every call ends the context.
struct LastRelease {
  static constexpr bool kAlwaysEnds = false;
};
struct EveryRelease {
  static constexpr bool kAlwaysEnds = true;
};

}  // namespace form

namespace topic {

struct ContextCreate {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C, class... Args> static bool enter(C, const CallScope&, CUcontext*, Args... args) {
    return C::Form::is_new(args...);
  }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, bool fresh, CUresult result, CUcontext* made, Args... args) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if (ok && fresh) context_destroyed(*made);
    if (ok) C::Form::created(*made, args...);
    record_arguments(scope, {argument<unsigned>(args...), 0, 0, nullptr});  // flags of cuCtxCreate
    record_call(scope, C::kApi, {}, ok ? as_object(*made) : 0, result);
  }
};

struct ContextDestroy {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUcontext context) {
    counters_before_context_end(context, true);
    if (pc_sampling_on()) {
      pc_before_context_end(context);
      pc_context_gone(context);
    }
    context_and_code_destroyed(context);
    return {};
  }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUcontext context) {
    record_call(scope, C::kApi, {}, as_object(context), result);
  }
};

// cuCtxFromGreenCtx(context, green)
struct GreenConvert {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUcontext*, CUgreenCtx) { return {}; }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUcontext* made, CUgreenCtx green) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if (ok) green_context_known(green, *made);
    record_call(scope, C::kApi, {}, ok ? as_object(*made) : 0, result);
  }
};

// cuGreenCtxStreamCreate(stream, green, flags, priority)
struct GreenStreamCreate {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUstream*, CUgreenCtx, unsigned, int) { return {}; }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUstream* made, CUgreenCtx green, unsigned,
                    int) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    const StreamState* const stream = ok ? stream_state(*made, C::kNullStream) : nullptr;
    const ContextState* const context = stream != nullptr ? stream->context.load(std::memory_order_relaxed) : nullptr;
    if (context != nullptr) green_context_known(green, context->handle.load(std::memory_order_relaxed));
    record_call(scope, C::kApi, stream_id(stream), ok ? as_object(*made) : 0, result);
  }
};

struct GreenDestroy {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUgreenCtx green) {
    green_context_destroyed(green);
    return {};
  }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgreenCtx green) {
    record_call(scope, C::kApi, {}, as_object(green), result);
  }
};

// cuDevicePrimaryCtxRelease and …Reset: the last release destroys the context. A thread that still uses it is in
// error.
struct PrimaryRelease {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static CUcontext enter(C, const CallScope&, CUdevice device) {
    const CUcontext context = primary_context(device);
    counters_before_context_end(context, C::Form::kAlwaysEnds);
    if (pc_sampling_on()) pc_before_context_end(context);
    return context;
  }
  template <class C> static void leave(C, const CallScope& scope, CUcontext context, CUresult result, CUdevice device) {
    const bool ended = result == CUDA_SUCCESS && !primary_context_active(device);
    if (pc_sampling_on()) ended ? pc_context_gone(context) : pc_context_stays(context);
    if (ended) {
      counters_after_context_end(context);
      context_and_code_destroyed(context);
    }
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
    if (result == CUDA_SUCCESS) want_flush_after_wait();
  }
};

struct Unload {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class Handle> static Nothing enter(C, const CallScope&, Handle) {
    functions_unloaded();
    if (pc_sampling_on()) read_pc_samples_before_unload();
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
    record_call(scope, C::kApi, {}, 0, result);  // a handle is 7 bytes, and libraries make this call at every launch
  }
  static void learn(CUfunction function, const char* name) { learn_function(function, name); }
  static void learn(CUkernel kernel, const char* name) { learn_kernel(kernel, name); }
};

}  // namespace topic
}  // namespace prof::preload
