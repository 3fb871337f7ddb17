// Without PROF_LIBS there is no record and dlsym returns the library's own functions. Linked calls reach the library by
// a jump, so the library sees the program as its caller.
// Link: libraries
// Expect: status 0
// Expect: log 1: no library_call, 3 kernel_launch(gemm), 1 kernel_launch(ncclDevKernel), 1 kernel_launch(vector_fft), 0 lost, whole
#include "tests/e2e/programs/libraries/library_program.h"

#include <dlfcn.h>

#include <cstring>

static const char* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

static int own() { return 0; }

int main() {
  sim_program::make_context();
  SimBlas* blas = nullptr;
  if (cublasCreate_v2(&blas) != 0) return 1;
  const float zero = 0, one = 1;
  for (int i = 0; i < 3; ++i) {
    if (cublasSgemm_v2(blas, 0, 1, 16, 32, 64, &one, nullptr, 16, nullptr, 32, &zero, nullptr, 16) != 0) return 2;
  }
  if (std::strcmp(file_of(sim_sgemm_caller()), file_of(reinterpret_cast<const void*>(&own))) != 0) return 3;
  void* const library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (std::strstr(file_of(dlsym(library, "cublasSgemm_v2")), "libcublas.so.13") == nullptr) return 4;
  SimComm* communicator = nullptr;
  if (ncclCommInitAll(&communicator, 1, nullptr) != 0) return 7;
  if (ncclAllReduce(nullptr, nullptr, 5, 7, 0, communicator, nullptr) != 0) return 8;
  if (std::strstr(file_of(dlsym(RTLD_DEFAULT, "ncclAllReduce")), "libnccl.so.2") == nullptr) return 5;
  int plan = 0;
  if (cufftPlan1d(&plan, 64, 0x29, 1) != 0 || plan == 0) return 9;
  if (cufftExecC2C(plan, nullptr, nullptr, -1) != 0 || cufftDestroy(plan) != 0) return 10;
  if (dlsym(library, "cublasNoSuch") != nullptr || dlsym(RTLD_DEFAULT, "ncclNoSuch") != nullptr) return 6;
  return 0;
}
