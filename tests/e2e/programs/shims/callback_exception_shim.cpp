// The driver of callback_exception.cpp: its cuStreamSynchronize and cuLaunchKernel call back into the program.
#include <cuda.h>

#define SHOWN extern "C" __attribute__((visibility("default")))
static void (*callback)();
SHOWN void set_callback(void (*function)()) { callback = function; }
SHOWN CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
SHOWN CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              CUstream, void**, void**) {
  callback();
  return CUDA_SUCCESS;
}
SHOWN CUresult cuStreamSynchronize(CUstream) {
  callback();
  return CUDA_SUCCESS;
}
