// Contexts: primary and created ones, the current-context stack, and the stream of a handle.
#include <algorithm>

#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"
#include "tests/sim/objects.h"

namespace sim {
namespace {

constexpr int kStackDepth = 32;
// Plain data: usable in every destructor and signal handler of the program.
thread_local Context* tl_stack[kStackDepth];
thread_local int tl_depth = 0;
thread_local CUresult tl_why_no_stream = CUDA_SUCCESS;

uint32_t g_next_context = 1;
std::atomic<unsigned long long> g_next_stream{3};  // 1 and 2 are the legacy and the per-thread default stream

std::vector<Context*>& contexts() {
  static auto* const all = new std::vector<Context*>;
  return *all;
}
std::mutex g_contexts_mutex;  // innermost: may be locked while the device is locked

Stream* make_default_stream(Context* context, Stream::Kind kind) {
  Stream* one = new Stream;
  one->context = context;
  one->kind = kind;
  one->cupti_id = kind == Stream::Kind::Legacy ? 7 : context->next_stream++;
  one->id = kind == Stream::Kind::Legacy ? 1 : 2;
  return one;
}

}  // namespace

Context* current_context() { return tl_depth == 0 ? nullptr : tl_stack[tl_depth - 1]; }
CUcontext current_context_handle() { return handle_of<CUcontext>(current_context()); }
uint32_t current_context_id() { return current_context() == nullptr ? 0 : current_context()->id; }
void push_context(Context* context) {
  if (tl_depth < kStackDepth) tl_stack[tl_depth++] = context;
}
Context* pop_context() { return tl_depth == 0 ? nullptr : tl_stack[--tl_depth]; }
void set_current_context(Context* context) {
  if (tl_depth == 0) {
    if (context != nullptr) tl_stack[tl_depth++] = context;
  } else if (context == nullptr) {
    --tl_depth;
  } else {
    tl_stack[tl_depth - 1] = context;
  }
}
void forget_context(Context* context) {
  if (current_context() == context) --tl_depth;
}

std::vector<Context*> all_contexts() {
  std::lock_guard<std::mutex> lock(g_contexts_mutex);
  return contexts();
}
bool context_exists(Context* context) {
  std::lock_guard<std::mutex> lock(g_contexts_mutex);
  return std::find(contexts().begin(), contexts().end(), context) != contexts().end();
}

// A device's primary context always has the same handle; each new activation has its own id.
Context* make_context(Device* device, bool primary) {
  decide_on_driver_calls();
  Context* one = primary && device->last_primary != nullptr ? device->last_primary : new Context;
  *one = Context{};
  if (primary) device->last_primary = one;
  one->id = g_next_context++;
  one->device = device;
  one->primary = primary;
  one->legacy = make_default_stream(one, Stream::Kind::Legacy);
  std::lock_guard<std::mutex> lock(g_contexts_mutex);
  contexts().push_back(one);
  return one;
}

unsigned long long next_stream_id() { return g_next_stream.fetch_add(1); }

ObjectPool<Stream>& stream_pool() {
  static auto* const all = new ObjectPool<Stream>;
  return *all;
}

CUresult why_no_stream() { return tl_why_no_stream; }

Stream* resolve_stream_in(Context* context, CUstream handle, bool per_thread) {
  if (handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
    const Life life = stream_pool().life(handle);
    if (life == Life::Alive) return object<Stream>(handle);
    tl_why_no_stream = life == Life::Orphan ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_HANDLE;
    return nullptr;
  }
  tl_why_no_stream = context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (context == nullptr || context->destroyed) return nullptr;
  if (handle == CU_STREAM_LEGACY || (handle == nullptr && !per_thread)) return context->legacy;
  Lock lock(device_mutex());
  Stream*& mine = context->per_thread[pthread_self()];
  if (mine == nullptr) mine = make_default_stream(context, Stream::Kind::PerThread);
  return mine;
}

Stream* resolve_stream(CUstream handle) { return resolve_stream_in(current_context(), handle, tl_per_thread_stream); }

void destroy_context(Context* context) {
  if (ActivitySink* sink = activity_sink())
    sink->resource(ResourceEvent::ContextDestroyStarting, handle_of<CUcontext>(context), nullptr);
  Lock lock(device_mutex());
  wait_for_context(lock, context);
  std::lock_guard<std::mutex> list_lock(g_contexts_mutex);
  auto& all = contexts();
  all.erase(std::remove(all.begin(), all.end(), context), all.end());
  // The memory is not freed: handles of a destroyed context and of its streams must read as destroyed, not crash.
  context->destroyed = true;
  for (Stream* stream : context->streams) stream_pool().orphan(stream);
}

void announce(Context* context) {
  if (ActivitySink* sink = activity_sink())
    sink->resource(ResourceEvent::ContextCreated, handle_of<CUcontext>(context), nullptr);
}

namespace {

CUresult create(CUcontext* out, unsigned flags, CUdevice dev) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (const CUresult refused = allow_unsafe_call()) return refused;
  take_first_call_time(FirstCall::Context);
  Context* made = nullptr;
  {
    Lock lock(device_mutex());
    made = make_context(device, false);
    made->flags = flags;
  }
  push_context(made);
  *out = handle_of<CUcontext>(made);
  announce(made);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace sim

SIM_API(cuDevicePrimaryCtxRetain)(CUcontext* pctx, CUdevice dev) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  take_first_call_time(FirstCall::Context);
  Context* made = nullptr;
  {
    Lock lock(device_mutex());
    ++device->primary_references;
    if (device->primary == nullptr) {
      made = device->primary = make_context(device, true);
      made->flags = device->primary_flags;
    }
  }
  *pctx = handle_of<CUcontext>(device->primary);
  if (made != nullptr) announce(made);
  return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxRelease_v2)(CUdevice dev) {
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (device->primary_references == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--device->primary_references != 0) return CUDA_SUCCESS;
  Context* gone = device->primary;
  device->primary = nullptr;
  destroy_context(gone);
  return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxRelease)(CUdevice dev) { return impl_cuDevicePrimaryCtxRelease_v2(dev); }

SIM_API(cuDevicePrimaryCtxReset_v2)(CUdevice dev) {
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  Context* gone = device->primary;
  device->primary = nullptr;
  if (gone != nullptr) destroy_context(gone);
  return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxReset)(CUdevice dev) { return impl_cuDevicePrimaryCtxReset_v2(dev); }

SIM_API(cuDevicePrimaryCtxSetFlags_v2)(CUdevice dev, unsigned int flags) {
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  device->primary_flags = flags;
  if (device->primary != nullptr) device->primary->flags = flags;
  return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxSetFlags)(CUdevice dev, unsigned int flags) {
  return impl_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

SIM_API(cuDevicePrimaryCtxGetState)(CUdevice dev, unsigned int* flags, int* active) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (flags != nullptr) *flags = device->primary_flags;
  if (active != nullptr) *active = device->primary != nullptr;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxCreate_v2)(CUcontext* pctx, unsigned int flags, CUdevice dev) { return create(pctx, flags, dev); }
SIM_API(cuCtxCreate_v3)(CUcontext* pctx, CUexecAffinityParam*, int, unsigned int flags, CUdevice dev) {
  return create(pctx, flags, dev);
}
SIM_API(cuCtxCreate_v4)(CUcontext* pctx, CUctxCreateParams*, unsigned int flags, CUdevice dev) {
  return create(pctx, flags, dev);
}

SIM_API(cuCtxDestroy_v2)(CUcontext ctx) {
  Context* context = object<Context>(ctx);
  if (!context_exists(context) || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (const CUresult refused = allow_unsafe_call()) return refused;
  destroy_context(context);
  forget_context(context);
  return CUDA_SUCCESS;
}

SIM_API(cuCtxDestroy)(CUcontext ctx) { return impl_cuCtxDestroy_v2(ctx); }

SIM_API(cuCtxPushCurrent_v2)(CUcontext ctx) {
  if (!context_exists(object<Context>(ctx))) return CUDA_ERROR_INVALID_CONTEXT;
  push_context(object<Context>(ctx));
  return CUDA_SUCCESS;
}

SIM_API(cuCtxPushCurrent)(CUcontext ctx) { return impl_cuCtxPushCurrent_v2(ctx); }

SIM_API(cuCtxPopCurrent_v2)(CUcontext* pctx) {
  Context* popped = pop_context();
  if (popped == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (pctx != nullptr) *pctx = handle_of<CUcontext>(popped);
  return CUDA_SUCCESS;
}

SIM_API(cuCtxPopCurrent)(CUcontext* pctx) { return impl_cuCtxPopCurrent_v2(pctx); }

SIM_API(cuCtxSetCurrent)(CUcontext ctx) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (ctx != nullptr && !context_exists(object<Context>(ctx))) return CUDA_ERROR_INVALID_CONTEXT;
  set_current_context(object<Context>(ctx));
  return CUDA_SUCCESS;
}

SIM_API(cuCtxGetCurrent)(CUcontext* pctx) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  *pctx = current_context_handle();
  return CUDA_SUCCESS;
}

SIM_API(cuCtxGetDevice)(CUdevice* device) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = current_context()->device->ordinal;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxGetDevice_v2)(CUdevice* device, CUcontext ctx) {
  Context* context = ctx == nullptr ? current_context() : object<Context>(ctx);
  if (!context_exists(context)) return CUDA_ERROR_INVALID_CONTEXT;
  *device = context->device->ordinal;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxGetFlags)(unsigned int* flags) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *flags = current_context()->flags;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxSetFlags)(unsigned int flags) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  current_context()->flags = flags;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxGetId)(CUcontext ctx, unsigned long long* ctxId) {
  Context* context = ctx == nullptr ? current_context() : object<Context>(ctx);
  if (!context_exists(context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *ctxId = context->id;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxGetApiVersion)(CUcontext ctx, unsigned int* version) {
  Context* context = ctx == nullptr ? current_context() : object<Context>(ctx);
  if (!context_exists(context)) return CUDA_ERROR_INVALID_CONTEXT;
  *version = context->api_version;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxSynchronize)() {
  Context* context = current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  Lock lock(device_mutex());
  if (context_has_capture(context)) {
    invalidate_captures(context);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  wait_for_context(lock, context);
  return CUDA_SUCCESS;
}

SIM_API(cuCtxSynchronize_v2)(CUcontext ctx) {
  Context* context = ctx == nullptr ? current_context() : object<Context>(ctx);
  if (!context_exists(context)) return CUDA_ERROR_INVALID_CONTEXT;
  Lock lock(device_mutex());
  wait_for_context(lock, context);
  return CUDA_SUCCESS;
}

SIM_API(cuCtxSetLimit)(CUlimit limit, size_t value) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  current_context()->limits[limit] = value;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxGetLimit)(size_t* pvalue, CUlimit limit) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *pvalue = current_context()->limits[limit];
  return CUDA_SUCCESS;
}

SIM_API(cuCtxGetCacheConfig)(CUfunc_cache* pconfig) {
  *pconfig = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}
SIM_API(cuCtxSetCacheConfig)(CUfunc_cache) { return CUDA_SUCCESS; }

SIM_API(cuCtxGetStreamPriorityRange)(int* leastPriority, int* greatestPriority) {
  if (leastPriority != nullptr) *leastPriority = 0;
  if (greatestPriority != nullptr) *greatestPriority = -5;
  return CUDA_SUCCESS;
}

SIM_API(cuCtxEnablePeerAccess)(CUcontext, unsigned int) { return CUDA_SUCCESS; }
SIM_API(cuCtxDisablePeerAccess)(CUcontext) { return CUDA_SUCCESS; }
SIM_API(cuCtxResetPersistingL2Cache)() { return CUDA_SUCCESS; }
SIM_API(cuProfilerStart)() { return CUDA_SUCCESS; }
SIM_API(cuProfilerStop)() { return CUDA_SUCCESS; }
