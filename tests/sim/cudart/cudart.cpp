// A small CUDA runtime on the driver API: libcudart.so.13 (with the symbol versions of the real one) and
// sim_cudart_static. Kernels are library kernels (CUkernel) launched through cuLaunchKernel.
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>

#include "tests/sim/activity_sink.h"
#include "tests/sim/cuda_headers.h"
#include "tests/sim/cudart/cudart_driver.h"
#include "tests/sim/cudart/cudart_kernels.h"

namespace sim {
namespace {

thread_local int tl_device = 0;
thread_local cudaError_t tl_last = cudaSuccess;

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

// The current device's primary context becomes current at the first call that needs a context.
cudaError_t ready() {
  if (!driver().ready) return cudaErrorInsufficientDriver;
  CUcontext current = nullptr;
  if (driver().cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) return cudaSuccess;
  CUcontext context = nullptr;
  const CUresult result = driver().cuDevicePrimaryCtxRetain(&context, tl_device);
  return result == CUDA_SUCCESS ? error_of(driver().cuCtxSetCurrent(context)) : error_of(result);
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
// The implementation of <<<>>> since CUDA 13.
SIM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* func) {
  if (const cudaError_t not_ready = ready()) return not_ready;
  CUfunction found = nullptr;
  const cudaError_t missing = kernel_of(func, &found);
  *kernel = reinterpret_cast<cudaKernel_t>(found);
  return missing;
}
SIM_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared,
                                          cudaStream_t stream) {
  SIM_RUNTIME(cudaLaunchKernel, cudaLaunchKernel_v7000);
  return scope.leave(
      error_of(driver().cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y,
                                       block.z, static_cast<unsigned>(shared), stream, args, nullptr)));
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
