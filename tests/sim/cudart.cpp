// A small CUDA runtime on the driver API: libcudart.so.13 (symbols versioned as the real one's) and sim_cudart_static.
// It reaches the driver as the real runtime does: one dlsym of cuGetProcAddress_v2 on its own handle, a first request for the
// empty string, then cuGetProcAddress itself, and everything else through the pointer which that returned. Kernels are library
// kernels (CUkernel) launched through cuLaunchKernel, loaded at their first use.
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>
#include <dlfcn.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "activity_sink.h"
#include "cuda_headers.h"

namespace sim {
namespace {

// (driver function, prototype, CUDA version asked for, cuGetProcAddress flags)
#define SIM_DRIVER_FUNCTIONS(X)                                                     \
  X(cuInit, cuInit, 2000, 0)                                                        \
  X(cuDriverGetVersion, cuDriverGetVersion, 2020, 0)                                \
  X(cuDeviceGetCount, cuDeviceGetCount, 2000, 0)                                    \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000, 0)                            \
  X(cuDeviceGetName, cuDeviceGetName, 2000, 0)                                      \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, 3020, 0)                                 \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, 0)                    \
  X(cuCtxSetCurrent, cuCtxSetCurrent, 4000, 0)                                      \
  X(cuCtxGetCurrent, cuCtxGetCurrent, 4000, 0)                                      \
  X(cuCtxSynchronize, cuCtxSynchronize, 2000, 0)                                    \
  X(cuLibraryLoadData, cuLibraryLoadData, 12000, 0)                                 \
  X(cuLibraryGetKernel, cuLibraryGetKernel, 12000, 0)                               \
  X(cuMemAlloc, cuMemAlloc_v2, 3020, 0)                                             \
  X(cuMemFree, cuMemFree_v2, 3020, 0)                                               \
  X(cuMemAllocHost, cuMemAllocHost_v2, 3020, 0)                                     \
  X(cuMemFreeHost, cuMemFreeHost, 2000, 0)                                          \
  X(cuMemAllocManaged, cuMemAllocManaged, 6000, 0)                                  \
  X(cuMemGetInfo, cuMemGetInfo_v2, 3020, 0)                                         \
  X(cuStreamCreate, cuStreamCreate, 2000, 0)                                        \
  X(cuStreamCreateWithPriority, cuStreamCreateWithPriority, 5050, 0)                \
  X(cuStreamDestroy, cuStreamDestroy_v2, 4000, 0)                                   \
  X(cuEventCreate, cuEventCreate, 2000, 0)                                          \
  X(cuEventDestroy, cuEventDestroy_v2, 4000, 0)                                     \
  X(cuEventQuery, cuEventQuery, 2000, 0)                                            \
  X(cuEventSynchronize, cuEventSynchronize, 2000, 0)                                \
  X(cuEventElapsedTime, cuEventElapsedTime_v2, 12080, 0)                            \
  X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, 0)             \
  X(cuGraphDestroy, cuGraphDestroy, 10000, 0)                                       \
  X(cuGraphExecDestroy, cuGraphExecDestroy, 10000, 0)                               \
  X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, 10010, 0) \
  X(cuProfilerStart, cuProfilerStart, 4000, 0)                                      \
  X(cuProfilerStop, cuProfilerStop, 4000, 0)
// Those with a per-thread-default-stream form are asked for twice, with flag 2 the second time.
#define SIM_STREAM_FUNCTIONS(X)                                 \
  X(cuMemcpy, cuMemcpy, 4000)                                   \
  X(cuMemcpyAsync, cuMemcpyAsync, 4000)                         \
  X(cuMemcpyHtoD, cuMemcpyHtoD_v2, 3020)                        \
  X(cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020)                        \
  X(cuMemcpyDtoD, cuMemcpyDtoD_v2, 3020)                        \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020)              \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020)              \
  X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 3020)              \
  X(cuMemsetD8, cuMemsetD8_v2, 3020)                            \
  X(cuMemsetD8Async, cuMemsetD8Async, 3020)                     \
  X(cuMemAllocAsync, cuMemAllocAsync, 11020)                    \
  X(cuMemFreeAsync, cuMemFreeAsync, 11020)                      \
  X(cuLaunchKernel, cuLaunchKernel, 4000)                       \
  X(cuLaunchKernelEx, cuLaunchKernelEx, 11060)                  \
  X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000) \
  X(cuLaunchHostFunc, cuLaunchHostFunc, 10000)                  \
  X(cuStreamSynchronize, cuStreamSynchronize, 2000)             \
  X(cuStreamQuery, cuStreamQuery, 2000)                         \
  X(cuStreamWaitEvent, cuStreamWaitEvent, 3020)                 \
  X(cuStreamBeginCapture, cuStreamBeginCapture_v2, 10010)       \
  X(cuStreamEndCapture, cuStreamEndCapture, 10000)              \
  X(cuStreamIsCapturing, cuStreamIsCapturing, 10000)            \
  X(cuEventRecord, cuEventRecord, 2000)                         \
  X(cuGraphLaunch, cuGraphLaunch, 10000)

struct Driver {
#define SIM_MEMBER(name, prototype, version, flags) decltype(&::prototype) name = nullptr;
  SIM_DRIVER_FUNCTIONS(SIM_MEMBER)
#undef SIM_MEMBER
#define SIM_MEMBER(name, prototype, version) decltype(&::prototype) name = nullptr, name##_ptsz = nullptr;
  SIM_STREAM_FUNCTIONS(SIM_MEMBER)
#undef SIM_MEMBER
  const DriverInternals* internals = nullptr;
  bool ready = false;
};

Driver load() {
  Driver made;
  void* handle = dlopen("libcuda.so.1", RTLD_NOW);
  if (handle == nullptr) return made;
  const auto first = reinterpret_cast<decltype(&::cuGetProcAddress_v2)>(dlsym(handle, "cuGetProcAddress_v2"));
  if (first == nullptr) return made;
  CUdriverProcAddressQueryResult status{};
  void* found = nullptr;
  first("", &found, 0, 0, &status);
  first("cuGetProcAddress", &found, 11030, 0, &status);
  first("cuGetProcAddress", &found, 12000, 0, &status);
  const auto ask = reinterpret_cast<decltype(&::cuGetProcAddress_v2)>(found);
  if (ask == nullptr) return made;
#define SIM_ASK(name, prototype, version, flags) \
  ask(#name, &found, version, flags, &status);   \
  made.name = reinterpret_cast<decltype(made.name)>(found);
  SIM_DRIVER_FUNCTIONS(SIM_ASK)
#undef SIM_ASK
#define SIM_ASK(name, prototype, version)                                                                      \
  ask(#name, &found, version, 0, &status);                                                                     \
  made.name = reinterpret_cast<decltype(made.name)>(found);                                                    \
  ask(#name, &found, version < 7000 ? 7000 : version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status); \
  made.name##_ptsz = reinterpret_cast<decltype(made.name##_ptsz)>(found);
  SIM_STREAM_FUNCTIONS(SIM_ASK)
#undef SIM_ASK
  if (const auto internals = reinterpret_cast<const DriverInternals* (*)()>(dlsym(handle, "sim_driver_internals"))) {
    made.internals = internals();
  }
  made.ready = made.cuInit != nullptr && made.cuInit(0) == CUDA_SUCCESS;
  return made;
}

const Driver& driver() {
  static const Driver* const one = new Driver(load());
  return *one;
}

struct Kernel {
  void** image = nullptr;
  std::string name;
  CUkernel loaded = nullptr;
};

struct Registry {
  std::mutex mutex;
  std::map<const void*, Kernel> kernels;
  std::map<void**, CUlibrary> libraries;
};
Registry& registry() {
  static Registry* const one = new Registry;
  return *one;
}

thread_local int tl_device = 0;
thread_local cudaError_t tl_last = cudaSuccess;
struct Call {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<Call> tl_calls;

cudaError_t error_of(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS: return cudaSuccess;
    case CUDA_ERROR_OUT_OF_MEMORY: return cudaErrorMemoryAllocation;
    case CUDA_ERROR_NOT_INITIALIZED: return cudaErrorInitializationError;
    case CUDA_ERROR_INVALID_VALUE: return cudaErrorInvalidValue;
    default: return static_cast<cudaError_t>(result);  // the runtime took the driver's numbers for everything newer
  }
}

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) tl_last = error;
  return error;
}

class RuntimeScope {
 public:
  RuntimeScope(uint32_t cbid, const char* name) {
    if (driver().internals != nullptr) driver().internals->runtime_enter(&call_, cbid, name, nullptr);
  }
  RuntimeScope(const RuntimeScope&) = delete;
  ~RuntimeScope() {
    if (driver().internals != nullptr) driver().internals->runtime_exit(&call_, static_cast<int>(result_));
  }
  cudaError_t leave(cudaError_t result) {
    result_ = result;
    return note(result);
  }
  cudaError_t leave(CUresult result) { return leave(error_of(result)); }

 private:
  RuntimeCall call_{};
  cudaError_t result_ = cudaSuccess;
};

#define SIM_RUNTIME(function, cbid) RuntimeScope scope(CUPTI_RUNTIME_TRACE_CBID_##cbid, #function)

// The current device's primary context becomes current at the first call that needs one.
cudaError_t ready() {
  if (!driver().ready) return cudaErrorInsufficientDriver;
  CUcontext current = nullptr;
  if (driver().cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) return cudaSuccess;
  CUcontext context = nullptr;
  const CUresult result = driver().cuDevicePrimaryCtxRetain(&context, tl_device);
  return result == CUDA_SUCCESS ? error_of(driver().cuCtxSetCurrent(context)) : error_of(result);
}

cudaError_t kernel_of(const void* stub, CUfunction* out) {
  Registry& all = registry();
  std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.kernels.find(stub);
  if (found == all.kernels.end()) return cudaErrorInvalidDeviceFunction;
  Kernel& kernel = found->second;
  if (kernel.loaded == nullptr) {
    CUlibrary& library = all.libraries[kernel.image];
    if (library == nullptr) {
      const CUresult result =
          driver().cuLibraryLoadData(&library, kernel.image, nullptr, nullptr, 0, nullptr, nullptr, 0);
      if (result != CUDA_SUCCESS) return error_of(result);
    }
    const CUresult result = driver().cuLibraryGetKernel(&kernel.loaded, library, kernel.name.c_str());
    if (result != CUDA_SUCCESS) return error_of(result);
  }
  *out = reinterpret_cast<CUfunction>(kernel.loaded);
  return cudaSuccess;
}

cudaError_t launch(decltype(&::cuLaunchKernel) function, const void* stub, dim3 grid, dim3 block, void** args,
                   size_t shared, cudaStream_t stream) {
  if (const cudaError_t not_ready = ready()) return not_ready;
  CUfunction kernel = nullptr;
  if (const cudaError_t missing = kernel_of(stub, &kernel)) return missing;
  return error_of(function(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, static_cast<unsigned>(shared),
                           stream, args, nullptr));
}

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (const cudaError_t not_ready = ready()) return not_ready;
  switch (kind) {
    case cudaMemcpyHostToDevice: return error_of(driver().cuMemcpyHtoD(address(to), from, bytes));
    case cudaMemcpyDeviceToHost: return error_of(driver().cuMemcpyDtoH(to, address(from), bytes));
    case cudaMemcpyDeviceToDevice: return error_of(driver().cuMemcpyDtoD(address(to), address(from), bytes));
    default: return error_of(driver().cuMemcpy(address(to), address(from), bytes));
  }
}

cudaError_t copy_async(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                       bool per_thread) {
  if (const cudaError_t not_ready = ready()) return not_ready;
  const Driver& call = driver();
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return error_of(
          (per_thread ? call.cuMemcpyHtoDAsync_ptsz : call.cuMemcpyHtoDAsync)(address(to), from, bytes, stream));
    case cudaMemcpyDeviceToHost:
      return error_of(
          (per_thread ? call.cuMemcpyDtoHAsync_ptsz : call.cuMemcpyDtoHAsync)(to, address(from), bytes, stream));
    case cudaMemcpyDeviceToDevice:
      return error_of((per_thread ? call.cuMemcpyDtoDAsync_ptsz : call.cuMemcpyDtoDAsync)(address(to), address(from),
                                                                                          bytes, stream));
    default:
      return error_of(
          (per_thread ? call.cuMemcpyAsync_ptsz : call.cuMemcpyAsync)(address(to), address(from), bytes, stream));
  }
}

}  // namespace
}  // namespace sim

using namespace sim;

// A function that only makes the context ready and passes its arguments on.
#define SIM_PASS(function, cbid, parameters, call)                            \
  SIM_EXPORT cudaError_t function parameters {                                \
    SIM_RUNTIME(function, cbid);                                              \
    if (const cudaError_t not_ready = ready()) return scope.leave(not_ready); \
    return scope.leave(driver().call);                                        \
  }

extern "C" {

SIM_EXPORT void** __cudaRegisterFatBinary(void* image) { return reinterpret_cast<void**>(new void*(image)); }
SIM_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
SIM_EXPORT void __cudaUnregisterFatBinary(void**) {}
SIM_EXPORT void __cudaRegisterFunction(void** image, const char* stub, char*, const char* name, int, uint3*, uint3*,
                                       dim3*, dim3*, int*) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().kernels[stub] = Kernel{image, name, nullptr};
}
SIM_EXPORT void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
SIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  tl_calls.push_back({grid, block, shared, stream});
  return 0;
}
SIM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (tl_calls.empty()) return cudaErrorMissingConfiguration;
  const Call call = tl_calls.back();
  tl_calls.pop_back();
  *grid = call.grid;
  *block = call.block;
  *shared = call.shared;
  *static_cast<cudaStream_t*>(stream) = call.stream;
  return cudaSuccess;
}

SIM_EXPORT cudaError_t cudaLaunchKernel(const void* func, dim3 grid, dim3 block, void** args, size_t shared,
                                        cudaStream_t stream) {
  SIM_RUNTIME(cudaLaunchKernel, cudaLaunchKernel_v7000);
  return scope.leave(launch(driver().cuLaunchKernel, func, grid, block, args, shared, stream));
}
SIM_EXPORT cudaError_t cudaLaunchKernel_ptsz(const void* func, dim3 grid, dim3 block, void** args, size_t shared,
                                             cudaStream_t stream) {
  SIM_RUNTIME(cudaLaunchKernel_ptsz, cudaLaunchKernel_ptsz_v7000);
  return scope.leave(launch(driver().cuLaunchKernel_ptsz, func, grid, block, args, shared, stream));
}
SIM_EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  SIM_RUNTIME(cudaLaunchKernelExC, cudaLaunchKernelExC_v11060);
  if (const cudaError_t not_ready = ready()) return scope.leave(not_ready);
  CUfunction kernel = nullptr;
  if (const cudaError_t missing = kernel_of(func, &kernel)) return scope.leave(missing);
  CUlaunchConfig lower{};
  lower.gridDimX = config->gridDim.x;
  lower.gridDimY = config->gridDim.y;
  lower.gridDimZ = config->gridDim.z;
  lower.blockDimX = config->blockDim.x;
  lower.blockDimY = config->blockDim.y;
  lower.blockDimZ = config->blockDim.z;
  lower.sharedMemBytes = static_cast<unsigned>(config->dynamicSmemBytes);
  lower.hStream = config->stream;
  lower.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
  lower.numAttrs = config->numAttrs;
  return scope.leave(driver().cuLaunchKernelEx(&lower, kernel, args, nullptr));
}
SIM_EXPORT cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 grid, dim3 block, void** args, size_t shared,
                                                   cudaStream_t stream) {
  SIM_RUNTIME(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_v9000);
  if (const cudaError_t not_ready = ready()) return scope.leave(not_ready);
  CUfunction kernel = nullptr;
  if (const cudaError_t missing = kernel_of(func, &kernel)) return scope.leave(missing);
  return scope.leave(driver().cuLaunchCooperativeKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                        static_cast<unsigned>(shared), stream, args));
}
SIM_PASS(cudaLaunchHostFunc, cudaLaunchHostFunc_v10000, (cudaStream_t stream, cudaHostFn_t fn, void* data),
         cuLaunchHostFunc(stream, fn, data))

SIM_EXPORT cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  SIM_RUNTIME(cudaMalloc, cudaMalloc_v3020);
  if (const cudaError_t not_ready = ready()) return scope.leave(not_ready);
  return scope.leave(driver().cuMemAlloc(reinterpret_cast<CUdeviceptr*>(pointer), bytes));
}
SIM_EXPORT cudaError_t cudaFree(void* pointer) {
  SIM_RUNTIME(cudaFree, cudaFree_v3020);
  if (const cudaError_t not_ready = ready()) return scope.leave(not_ready);
  return scope.leave(driver().cuMemFree(address(pointer)));
}
SIM_PASS(cudaMallocHost, cudaMallocHost_v3020, (void** pointer, size_t bytes), cuMemAllocHost(pointer, bytes))
SIM_PASS(cudaFreeHost, cudaFreeHost_v3020, (void* pointer), cuMemFreeHost(pointer))
SIM_EXPORT cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int flags) {
  SIM_RUNTIME(cudaMallocManaged, cudaMallocManaged_v6000);
  if (const cudaError_t not_ready = ready()) return scope.leave(not_ready);
  return scope.leave(driver().cuMemAllocManaged(reinterpret_cast<CUdeviceptr*>(pointer), bytes, flags));
}
SIM_EXPORT cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  SIM_RUNTIME(cudaMallocAsync, cudaMallocAsync_v11020);
  if (const cudaError_t not_ready = ready()) return scope.leave(not_ready);
  return scope.leave(driver().cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(pointer), bytes, stream));
}
SIM_PASS(cudaFreeAsync, cudaFreeAsync_v11020, (void* pointer, cudaStream_t stream),
         cuMemFreeAsync(address(pointer), stream))
SIM_PASS(cudaMemGetInfo, cudaMemGetInfo_v3020, (size_t * free_bytes, size_t* total_bytes),
         cuMemGetInfo(free_bytes, total_bytes))

SIM_EXPORT cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  SIM_RUNTIME(cudaMemcpy, cudaMemcpy_v3020);
  return scope.leave(copy(to, from, bytes, kind));
}
SIM_EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  SIM_RUNTIME(cudaMemcpyAsync, cudaMemcpyAsync_v3020);
  return scope.leave(copy_async(to, from, bytes, kind, stream, false));
}
SIM_EXPORT cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                            cudaStream_t stream) {
  SIM_RUNTIME(cudaMemcpyAsync_ptsz, cudaMemcpyAsync_ptsz_v7000);
  return scope.leave(copy_async(to, from, bytes, kind, stream, true));
}
SIM_PASS(cudaMemset, cudaMemset_v3020, (void* to, int value, size_t bytes),
         cuMemsetD8(address(to), static_cast<unsigned char>(value), bytes))
SIM_PASS(cudaMemsetAsync, cudaMemsetAsync_v3020, (void* to, int value, size_t bytes, cudaStream_t stream),
         cuMemsetD8Async(address(to), static_cast<unsigned char>(value), bytes, stream))

SIM_PASS(cudaStreamCreate, cudaStreamCreate_v3020, (cudaStream_t * stream), cuStreamCreate(stream, 0))
SIM_PASS(cudaStreamCreateWithFlags, cudaStreamCreateWithFlags_v5000, (cudaStream_t * stream, unsigned int flags),
         cuStreamCreate(stream, flags))
SIM_PASS(cudaStreamCreateWithPriority, cudaStreamCreateWithPriority_v5050,
         (cudaStream_t * stream, unsigned int flags, int priority), cuStreamCreateWithPriority(stream, flags, priority))
SIM_PASS(cudaStreamDestroy, cudaStreamDestroy_v5050, (cudaStream_t stream), cuStreamDestroy(stream))
SIM_PASS(cudaStreamSynchronize, cudaStreamSynchronize_v3020, (cudaStream_t stream), cuStreamSynchronize(stream))
SIM_PASS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize_ptsz_v7000, (cudaStream_t stream),
         cuStreamSynchronize_ptsz(stream))
SIM_PASS(cudaStreamQuery, cudaStreamQuery_v3020, (cudaStream_t stream), cuStreamQuery(stream))
SIM_PASS(cudaStreamWaitEvent, cudaStreamWaitEvent_v3020, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
         cuStreamWaitEvent(stream, event, flags))
SIM_PASS(cudaStreamBeginCapture, cudaStreamBeginCapture_v10000, (cudaStream_t stream, cudaStreamCaptureMode mode),
         cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)))
SIM_PASS(cudaStreamEndCapture, cudaStreamEndCapture_v10000, (cudaStream_t stream, cudaGraph_t* graph),
         cuStreamEndCapture(stream, graph))
SIM_PASS(cudaStreamIsCapturing, cudaStreamIsCapturing_v10000, (cudaStream_t stream, cudaStreamCaptureStatus* status),
         cuStreamIsCapturing(stream, reinterpret_cast<CUstreamCaptureStatus*>(status)))

SIM_PASS(cudaEventCreate, cudaEventCreate_v3020, (cudaEvent_t * event), cuEventCreate(event, 0))
SIM_PASS(cudaEventCreateWithFlags, cudaEventCreateWithFlags_v3020, (cudaEvent_t * event, unsigned int flags),
         cuEventCreate(event, flags))
SIM_PASS(cudaEventRecord, cudaEventRecord_v3020, (cudaEvent_t event, cudaStream_t stream), cuEventRecord(event, stream))
SIM_PASS(cudaEventQuery, cudaEventQuery_v3020, (cudaEvent_t event), cuEventQuery(event))
SIM_PASS(cudaEventSynchronize, cudaEventSynchronize_v3020, (cudaEvent_t event), cuEventSynchronize(event))
SIM_PASS(cudaEventDestroy, cudaEventDestroy_v3020, (cudaEvent_t event), cuEventDestroy(event))
SIM_PASS(cudaEventElapsedTime, cudaEventElapsedTime_v3020, (float* ms, cudaEvent_t start, cudaEvent_t end),
         cuEventElapsedTime(ms, start, end))

SIM_PASS(cudaGraphInstantiate, cudaGraphInstantiate_v12000,
         (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
         cuGraphInstantiateWithFlags(exec, graph, flags))
SIM_PASS(cudaGraphLaunch, cudaGraphLaunch_v10000, (cudaGraphExec_t exec, cudaStream_t stream),
         cuGraphLaunch(exec, stream))
SIM_PASS(cudaGraphDestroy, cudaGraphDestroy_v10000, (cudaGraph_t graph), cuGraphDestroy(graph))
SIM_PASS(cudaGraphExecDestroy, cudaGraphExecDestroy_v10000, (cudaGraphExec_t exec), cuGraphExecDestroy(exec))
SIM_PASS(cudaThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode_v10010,
         (cudaStreamCaptureMode * mode),
         cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)))

SIM_PASS(cudaDeviceSynchronize, cudaDeviceSynchronize_v3020, (), cuCtxSynchronize())
SIM_PASS(cudaProfilerStart, cudaProfilerStart_v4000, (), cuProfilerStart())
SIM_PASS(cudaProfilerStop, cudaProfilerStop_v4000, (), cuProfilerStop())

SIM_EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  SIM_RUNTIME(cudaGetDeviceCount, cudaGetDeviceCount_v3020);
  *count = 0;
  if (!driver().ready) return scope.leave(cudaErrorInsufficientDriver);
  return scope.leave(driver().cuDeviceGetCount(count));
}
SIM_EXPORT cudaError_t cudaSetDevice(int device) {
  SIM_RUNTIME(cudaSetDevice, cudaSetDevice_v3020);
  if (!driver().ready) return scope.leave(cudaErrorInsufficientDriver);
  CUcontext context = nullptr;
  const CUresult result = driver().cuDevicePrimaryCtxRetain(&context, device);
  if (result != CUDA_SUCCESS) return scope.leave(result);
  tl_device = device;
  return scope.leave(driver().cuCtxSetCurrent(context));
}
SIM_EXPORT cudaError_t cudaGetDevice(int* device) {
  SIM_RUNTIME(cudaGetDevice, cudaGetDevice_v3020);
  *device = tl_device;
  return scope.leave(cudaSuccess);
}
SIM_EXPORT cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  SIM_RUNTIME(cudaDeviceGetAttribute, cudaDeviceGetAttribute_v5000);
  if (!driver().ready) return scope.leave(cudaErrorInsufficientDriver);
  return scope.leave(driver().cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device));
}
SIM_EXPORT cudaError_t cudaDriverGetVersion(int* version) { return error_of(driver().cuDriverGetVersion(version)); }
SIM_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
SIM_EXPORT cudaError_t cudaGetLastError() {
  const cudaError_t last = tl_last;
  tl_last = cudaSuccess;
  return last;
}
SIM_EXPORT cudaError_t cudaPeekAtLastError() { return tl_last; }
SIM_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}
SIM_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "error of the simulated runtime";
}

}  // extern "C"
