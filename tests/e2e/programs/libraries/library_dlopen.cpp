// Libraries are opened as Python and plugins do it: RTLD_LOCAL, and with their own symbols first (RTLD_DEEPBIND). dlsym
// returns the recording functions, the same pointer each time, and names that do not exist stay unknown. (The simulated
// library with its own symbols first launches without passing libprof's hooks.)
// Env: PROF_LIBS=1 PROF_GPU=off
// Expect: status 0
// Expect: log 1: 4 library_call, 4 kernel_launch, 0 lost, whole
// Expect: log 1: 1 library_call(cublasSgemm_v2(transa=N, transb=T, m=16, n=32, k=64, A=fp32, B=fp32, C=fp32, compute=32f, math=default, beta=0))
// Expect: log 1: 1 library_call(cublasLtMatmul(transa=N, transb=N, m=16, n=32, k=64, A=fp32, B=fp32, C=fp32, compute=32f, beta=0))
// Expect: log 1: 1 library_call(cufftExecC2C(points=512, batch=2, A=complex64, C=complex64, direction=forward))
// Expect: log 1: 1 library_call(ncclAllReduce(count=5, type=fp32, op=max, ranks=2, rank=0))
#include "tests/e2e/programs/libraries/library_program.h"

#include <dlfcn.h>

#include <initializer_list>

template <class Function> static Function get(void* library, const char* name, Function) {
  void* const found = dlsym(library, name);
  if (found == nullptr || found != dlsym(library, name)) exit(50);
  return reinterpret_cast<Function>(found);
}
#define GET(library, name) get(library, #name, static_cast<decltype(&name)>(nullptr))

int main() {
  sim_program::make_context();
  if (dlsym(RTLD_DEFAULT, "cublasSgemm_v2") != nullptr || dlsym(RTLD_DEFAULT, "ncclAllReduce") != nullptr ||
      dlsym(RTLD_DEFAULT, "cufftExecC2C") != nullptr)
    return 1;
  void* const lt = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
  void* const blas = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  void* const nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (blas == nullptr || lt == nullptr || nccl == nullptr) return 2;
  SimBlas* handle = nullptr;
  const float zero = 0, one = 1;
  if (GET(blas, cublasCreate_v2)(&handle) != 0) return 3;
  if (GET(blas, cublasSgemm_v2)(handle, 0, 1, 16, 32, 64, &one, nullptr, 16, nullptr, 32, &zero, nullptr, 16) != 0)
    return 4;
  SimMatmul* matmul = nullptr;
  SimLayout *a = nullptr, *b = nullptr, *d = nullptr;
  GET(lt, cublasLtMatmulDescCreate)(&matmul, 68, 0);
  const auto layout = GET(lt, cublasLtMatrixLayoutCreate);
  layout(&a, 0, 16, 64, 16), layout(&b, 0, 64, 32, 64), layout(&d, 0, 16, 32, 16);
  if (GET(lt, cublasLtMatmul)(nullptr, matmul, &one, nullptr, a, nullptr, b, &zero, nullptr, d, nullptr, d, nullptr,
                              nullptr, 0, nullptr) != 0) {
    return 5;
  }
  SimComm* ranks[2];
  GET(nccl, ncclCommInitAll)(ranks, 2, nullptr);
  if (GET(nccl, ncclAllReduce)(nullptr, nullptr, 5, 7, 2, ranks[0], nullptr) != 0) return 6;
  void* const fft = dlopen("libcufft.so.12", RTLD_NOW | RTLD_LOCAL);
  int plan = 0;
  if (GET(fft, cufftPlan1d)(&plan, 512, 0x29, 2) != 0) return 8;
  if (GET(fft, cufftExecC2C)(plan, nullptr, nullptr, -1) != 0) return 9;
  for (void* const each : {blas, nccl, fft}) {
    for (const char* const name : {"cublasNoSuch", "cufftNoSuch", "cusparseNoSuch", "ncclNoSuch"}) {
      if (dlsym(each, name) != nullptr) return 7;
    }
  }
  return 0;
}
