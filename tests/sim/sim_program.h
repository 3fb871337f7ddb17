// Helpers for test programs written against the driver API on the simulated GPU (link sim_cuda, or dlopen libcuda.so.1
// and call through pointers). Plain inline functions. A failing call ends the program with its name and status 99, so
// that a test program contains only the calls that it tests.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" uint64_t sim_now_ns();
extern "C" void sim_advance_ns(uint64_t amount);
extern "C" void sim_launch_from_device(CUgraphExec exec, CUstream stream);

namespace sim_program {

inline void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  fprintf(stderr, "%s: %s\n", what, name != nullptr ? name : "unknown error");
  exit(99);
}
#define SIM_CHECK(call) ::sim_program::check(call, #call)

inline CUcontext make_context(int device = 0) {  // the primary context, current on this thread
  SIM_CHECK(cuInit(0));
  CUdevice found = 0;
  SIM_CHECK(cuDeviceGet(&found, device));
  CUcontext context = nullptr;
  SIM_CHECK(cuDevicePrimaryCtxRetain(&context, found));
  SIM_CHECK(cuCtxSetCurrent(context));
  return context;
}

inline CUfunction kernel(const char* name) {  // any name is accepted; the script sets how long it runs
  static CUmodule module = nullptr;
  if (module == nullptr) SIM_CHECK(cuModuleLoadData(&module, "image"));
  CUfunction function = nullptr;
  SIM_CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}

inline CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
  CUstream stream = nullptr;
  SIM_CHECK(cuStreamCreate(&stream, flags));
  return stream;
}

inline CUresult launch(CUfunction function, CUstream stream = nullptr, unsigned blocks = 1, unsigned threads = 32) {
  return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, nullptr, nullptr);
}

inline CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr memory = 0;
  SIM_CHECK(cuMemAlloc(&memory, bytes));
  return memory;
}

}  // namespace sim_program
