// How the simulated CUDA runtime gets the driver's functions, like the real one: one dlsym of cuGetProcAddress_v2 on
// its own handle, a first request for the empty string, then cuGetProcAddress itself, and everything else through the
// pointer that it returned.
#pragma once

#include <cuda_runtime_api.h>

#include "tests/sim/activity_sink.h"
#include "tests/sim/cuda_headers.h"

namespace sim {

// (driver function, prototype, requested CUDA version, cuGetProcAddress flags)
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
// Functions with a per-thread-default-stream form are requested twice, with flag 2 the second time.
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

const Driver& driver();  // looked up by the first call

cudaError_t error_of(CUresult result);

}  // namespace sim
