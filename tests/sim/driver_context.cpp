// Devices and contexts: initialisation, attributes, primary and created contexts, the current-context stack.
#include <algorithm>
#include <cstring>

#include "api_call.h"
#include "capture.h"
#include "device.h"
#include "objects.h"

namespace sim {
namespace {

constexpr int kStackDepth = 32;
// Plain data: usable in every destructor and signal handler of the program.
thread_local Context* tl_stack[kStackDepth];
thread_local int tl_depth = 0;

std::atomic<bool> g_initialised{false};
uint32_t g_next_context = 1;
std::atomic<unsigned long long> g_next_stream{3};  // 1 and 2 are the legacy and the per-thread default stream

std::vector<Context*>& contexts() {
  static auto* const all = new std::vector<Context*>;
  return *all;
}
std::mutex g_contexts_mutex;  // innermost: may be taken with the device locked

std::vector<Device>& devices() {
  static auto* const all = [] {
    auto* made = new std::vector<Device>(script().devices.size());
    for (size_t i = 0; i < made->size(); ++i) {
      (*made)[i].ordinal = static_cast<int>(i);
      (*made)[i].told = script().devices[i];
    }
    return made;
  }();
  return *all;
}

Stream* make_default_stream(Context* context, Stream::Kind kind) {
  Stream* one = new Stream;
  one->context = context;
  one->kind = kind;
  one->cupti_id = kind == Stream::Kind::Legacy ? 7 : context->next_stream++;
  one->id = kind == Stream::Kind::Legacy ? 1 : 2;
  return one;
}

}  // namespace

bool initialised() { return g_initialised.load(); }
int device_count() { return static_cast<int>(devices().size()); }
Device* device_at(CUdevice ordinal) {
  return ordinal >= 0 && ordinal < device_count() ? &devices()[static_cast<size_t>(ordinal)] : nullptr;
}

const char* intern(const std::string& text) {
  static auto* const all = new std::set<std::string>;
  static auto* const mutex = new std::mutex;
  std::lock_guard<std::mutex> lock(*mutex);
  return all->insert(text).first->c_str();
}

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

Context* make_context(Device* device, bool primary) {
  Context* one = new Context;
  one->id = g_next_context++;
  one->device = device;
  one->primary = primary;
  one->legacy = make_default_stream(one, Stream::Kind::Legacy);
  std::lock_guard<std::mutex> lock(g_contexts_mutex);
  contexts().push_back(one);
  return one;
}

unsigned long long next_stream_id() { return g_next_stream.fetch_add(1); }

Stream* resolve_stream_in(Context* context, CUstream handle, bool per_thread) {
  if (handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) return object<Stream>(handle);
  if (context == nullptr) return nullptr;
  if (handle == CU_STREAM_LEGACY || (handle == nullptr && !per_thread)) return context->legacy;
  Lock lock(device_mutex());
  Stream*& mine = context->per_thread[pthread_self()];
  if (mine == nullptr) mine = make_default_stream(context, Stream::Kind::PerThread);
  return mine;
}

Stream* resolve_stream(CUstream handle) { return resolve_stream_in(current_context(), handle, tl_per_thread_stream); }

namespace {

void destroy_context(Context* context) {
  if (ActivitySink* sink = activity_sink())
    sink->resource(ResourceEvent::ContextDestroyStarting, handle_of<CUcontext>(context), nullptr);
  Lock lock(device_mutex());
  wait_for_context(lock, context);
  std::lock_guard<std::mutex> list_lock(g_contexts_mutex);
  auto& all = contexts();
  all.erase(std::remove(all.begin(), all.end(), context), all.end());
  // The memory stays: handles of a destroyed context must read as dead, not crash.
}

void announce(Context* context) {
  if (ActivitySink* sink = activity_sink())
    sink->resource(ResourceEvent::ContextCreated, handle_of<CUcontext>(context), nullptr);
}

CUresult create(CUcontext* out, unsigned flags, CUdevice dev) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (const CUresult refused = allow_unsafe_call()) return refused;
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

int attribute(const Device& device, CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 232448;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 233472;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1980000;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT: return 512;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return device.told.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: return 1;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return 0x18 + device.ordinal;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: return 0;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID: return 0;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 3201000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 6144;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 62914560;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return 32;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return device.told.major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return device.told.minor;
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: return 1;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS: return 1;
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return 1;
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED: return 1;
    default: return 0;
  }
}

}  // namespace
}  // namespace sim

SIM_API(cuInit)(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (device_count() == 0) return CUDA_ERROR_NO_DEVICE;
  g_initialised.store(true);
  return CUDA_SUCCESS;
}

SIM_API(cuDriverGetVersion)(int* driverVersion) {
  if (driverVersion == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = script().driver_version;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGet)(CUdevice* device, int ordinal) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (device_at(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetCount)(int* count) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  *count = device_count();
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetName)(char* name, int len, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (name == nullptr || len <= 0) return CUDA_ERROR_INVALID_VALUE;
  const size_t length = std::min(device->told.name.size(), static_cast<size_t>(len - 1));
  memcpy(name, device->told.name.data(), length);
  name[length] = '\0';
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetUuid_v2)(CUuuid* uuid, CUdevice dev) {
  if (device_at(dev) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(0x10 * (dev + 1) + i);
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetUuid)(CUuuid* uuid, CUdevice dev) { return impl_cuDeviceGetUuid_v2(uuid, dev); }

SIM_API(cuDeviceGetLuid)(char*, unsigned int*, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }

SIM_API(cuDeviceTotalMem_v2)(size_t* bytes, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = device->told.memory_bytes;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetAttribute)(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (pi == nullptr || attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  *pi = attribute(*device, attrib);
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceComputeCapability)(int* major, int* minor, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *major = device->told.major;
  *minor = device->told.minor;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceCanAccessPeer)(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  if (device_at(dev) == nullptr || device_at(peerDev) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *canAccessPeer = dev != peerDev;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetP2PAttribute)(int* value, CUdevice_P2PAttribute, CUdevice src, CUdevice dst) {
  if (device_at(src) == nullptr || device_at(dst) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *value = 1;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetPCIBusId)(char* pciBusId, int len, CUdevice dev) {
  if (device_at(dev) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  snprintf(pciBusId, static_cast<size_t>(len), "0000:%02x:00.0", 0x18 + dev);
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetByPCIBusId)(CUdevice* dev, const char* pciBusId) {
  for (int i = 0; i < device_count(); ++i) {
    char own[32];
    impl_cuDeviceGetPCIBusId(own, sizeof own, i);
    if (strcmp(own, pciBusId) != 0) continue;
    *dev = i;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

SIM_API(cuDevicePrimaryCtxRetain)(CUcontext* pctx, CUdevice dev) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
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
