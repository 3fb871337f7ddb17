// Products with a vector, of one matrix and of a batch in fp16 that accumulates in fp32, and a complex product by three
// multiplications, whose FLOPs are those of any complex product. 2·48·32 = 3072 and 2·48·32·5 = 15360 FLOPs,
// 8·4·5·6 = 960.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: log 1: 4 library_call, 0 lost, whole, 4 kernel_launch(gemm)
// Expect: log 1: 1 library_call(cublasSgemv_v2(trans=N, m=48, n=32, A=fp32, B=fp32, C=fp32, compute=32f, math=default, beta=0))
// Expect: log 1: 1 library_call(cublasSgemv_v2(trans=T, m=48, n=32, A=fp32, B=fp32, C=fp32, compute=32f, math=default, beta=other))
// Expect: log 1: 1 library_call(cublasHSSgemvStridedBatched(trans=T, m=48, n=32, batch=5, A=fp16, B=fp16, C=fp32, compute=32f, math=default, strideA=0, beta=0))
// Expect: log 1: 1 library_call(cublasCgemm3m(transa=N, transb=C, m=4, n=5, k=6, A=complex64, B=complex64, C=complex64, compute=32f, math=default, beta=other))
// Expect: trace: 1 x "name":"gemm",.*"kernel_flop":3072,.*"kernel_num_gb":6.464e-06,
// Expect: trace: 1 x "name":"gemm",.*"kernel_flop":3072,.*"kernel_num_gb":6.592e-06,
// Expect: trace: 1 x "name":"gemm",.*"kernel_flop":15360,.*"kernel_num_gb":4.192e-06,
// Expect: trace: 1 x "name":"gemm",.*"kernel_flop":960,
#include "tests/e2e/programs/libraries/library_program.h"

int main() {
  sim_program::make_context();
  SimBlas* blas = nullptr;
  if (cublasCreate_v2(&blas) != 0) return 1;
  const float zero = 0, one = 1, complex_one[] = {1, 0};
  if (cublasSgemv_v2(blas, 0, 48, 32, &one, nullptr, 48, nullptr, 1, &zero, nullptr, 1) != 0) return 2;
  if (cublasSgemv_v2(blas, 1, 48, 32, &one, nullptr, 48, nullptr, 1, &one, nullptr, 1) != 0) return 3;
  if (cublasHSSgemvStridedBatched(blas, 1, 48, 32, &one, nullptr, 48, 0, nullptr, 1, 48, &zero, nullptr, 1, 32, 5) != 0)
    return 4;
  if (cublasCgemm3m(blas, 0, 2, 4, 5, 6, complex_one, nullptr, 4, nullptr, 5, complex_one, nullptr, 4) != 0) return 5;
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
