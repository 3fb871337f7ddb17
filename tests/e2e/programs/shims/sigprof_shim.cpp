// The driver of sigprof.cpp and signal_steps.cpp: each function may be reentered from a signal handler at any
// instruction, which the simulated driver does not allow. It has the functions that a launch and a completion mark
// call, and counts the launches.
// Soname: libcuda.so.1
#include <cuda.h>

#include <atomic>
#include <cstdint>

#define SHOWN extern "C" __attribute__((visibility("default")))

static std::atomic<uint64_t> launches{0};
static std::atomic<uint64_t> handles{0x1000};
template <class Handle> static CUresult make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(handles.fetch_add(16));
  return CUDA_SUCCESS;
}

SHOWN uint64_t shim_launches() { return launches.load(); }
SHOWN CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
SHOWN CUresult cuDriverGetVersion(int* version) {
  *version = 12080;
  return CUDA_SUCCESS;
}
SHOWN CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  const CUstreamCaptureMode before = current;
  current = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}
SHOWN CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(0x10);
  return CUDA_SUCCESS;
}
SHOWN CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
SHOWN CUresult cuFuncGetName(const char** name, CUfunction function) {
  *name = reinterpret_cast<uintptr_t>(function) == 1 ? "main" : "handler";
  return CUDA_SUCCESS;
}
SHOWN CUresult cuEventCreate(CUevent* event, unsigned) { return make(event); }
SHOWN CUresult cuEventDestroy_v2(CUevent) { return CUDA_SUCCESS; }
SHOWN CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
SHOWN CUresult cuEventQuery(CUevent) { return CUDA_SUCCESS; }
SHOWN CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              CUstream, void**, void**) {
  launches.fetch_add(1);
  return CUDA_SUCCESS;
}
