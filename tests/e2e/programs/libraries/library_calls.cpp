// A program linked with cuBLAS, cuBLASLt and NCCL: each call is a range with its sizes and types around its launches. A
// call inside a call counts once; FLOPs belong to the main kernel. errno, results and all arguments are passed on.
// 2·16·32·64 = 65536 FLOPs are 0.000066 G.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: log 1: 13 library_call, 0 lost, whole, 6 kernel_launch(gemm), 2 kernel_launch(gemm_lt), 2 kernel_launch(splitKreduce), no nvtx_push
// Expect: log 1: 2 library_call(cublasSgemm_v2(transa=N, transb=T, m=16, n=32, k=64, A=fp32, B=fp32, C=fp32, compute=32f, math=default, beta=0))
// Expect: log 1: 1 library_call(cublasSgemm_v2(transa=N, transb=N, m=16, n=32, k=8192, A=fp32, B=fp32, C=fp32, compute=32f, math=tf32, beta=other))
// Expect: log 1: 1 library_call(cublasSgemm_v2(transa=N, transb=T, m=?, n=32, k=64, A=fp32, B=fp32, C=fp32, compute=32f)), text status=7
// Expect: log 1: 1 library_call(cublasSgemm_v2_64(transa=C, transb=N, m=16, n=32, k=64, A=fp32, B=fp32, C=fp32, compute=32f, math=tf32))
// Expect: log 1: 1 library_call(cublasZgemm_v2(transa=N, transb=N, m=4, n=5, k=6, A=complex128, B=complex128, C=complex128, compute=64f, math=tf32, beta=other))
// Expect: log 1: 1 library_call(cublasGemmEx(transa=T, transb=N, m=128, n=256, k=512, A=bf16, B=bf16, C=bf16, compute=32f, math=tf32))
// Expect: log 1: 1 library_call(cublasLtMatmul(transa=T, transb=N, m=128, n=256, k=512, A=bf16, B=bf16, C=bf16, compute=32f, beta=0))
// Expect: log 1: 1 library_call(cublasLtMatmul(transa=N, transb=N, m=64, n=32, k=8192, batch=3, A=fp16, B=fp8_e4m3, C=fp32, compute=32f_fast_tf32, strideA=0, algorithm=21, tile=20, stages=11, splitk=3))
// Expect: log 1: 1 library_call(cublasGemmStridedBatchedEx(transa=N, transb=N, m=8, n=4, k=2, batch=5, A=fp16, B=fp16, C=fp32, compute=32f, math=tf32, strideB=0))
// Expect: log 1: 1 library_call(ncclAllReduce(count=1000, type=bf16, op=sum, ranks=4, rank=1))
// Expect: log 1: 1 library_call(ncclGroupStart()), 1 library_call(ncclGroupEnd())
// Expect: report kernels --peaks: "?gemm"?$
// Expect: report kernels --peaks: ,library,.*,gemm$
// Expect: report kernels --peaks: ,library,.*,gemm_lt$
// Expect: report kernels --peaks: counted at the operator's main kernel,splitKreduce$
// Expect: trace: 3 x "name":"gemm",.*"kernel_flop":65536[,}]
// Expect: trace: 1 x "name":"gemm_lt",.*"kernel_flop":33554432[,}]
// Expect: trace: 1 x "name":"gemm_lt",.*"kernel_flop":100663296[,}]
#include "tests/e2e/programs/libraries/library_program.h"

#include <cerrno>

int main() {
  sim_program::make_context();
  SimBlas* blas = nullptr;
  if (cublasCreate_v2(&blas) != 0) return 1;
  const float zero = 0, one = 1;
  errno = 77;
  for (int i = 0; i < 2; ++i) {
    if (cublasSgemm_v2(blas, 0, 1, 16, 32, 64, &one, nullptr, 16, nullptr, 32, &zero, nullptr, 16) != 0) return 2;
  }
  cublasSetMathMode(blas, 3);
  if (cublasSgemm_v2(blas, 0, 0, 16, 32, 8192, &one, nullptr, 16, nullptr, 8192, &one, nullptr, 16) != 0) return 3;
  if (cublasSgemm_v2(blas, 0, 1, -1, 32, 64, &one, nullptr, 16, nullptr, 32, &zero, nullptr, 16) != 7) return 4;
  const double imaginary[] = {0, 1};
  if (cublasZgemm_v2(blas, 0, 0, 4, 5, 6, imaginary, nullptr, 4, nullptr, 6, imaginary, nullptr, 4) != 0) return 13;
  cublasSetPointerMode_v2(blas, 1);  // the factors are in the device's memory, which libprof must not read here
  const auto* const on_device = reinterpret_cast<const float*>(0x10);
  if (cublasSgemm_v2_64(blas, 2, 0, 16, 32, 64, on_device, nullptr, 64, nullptr, 64, on_device, nullptr, 16) != 0)
    return 5;
  // The batch is the twenty-first word of the arguments, and the simulated library checks the last one.
  if (cublasGemmStridedBatchedEx(blas, 0, 0, 8, 4, 2, on_device, nullptr, 2, 8, 16, nullptr, 2, 2, 0, on_device,
                                 nullptr, 0, 8, 32, 5, 68, 99) != 0) {
    return 6;
  }
  // cuBLAS calls cuBLASLt, whose pointer mode is host memory.
  if (cublasGemmEx(blas, 1, 0, 128, 256, 512, &one, nullptr, 14, 512, nullptr, 14, 512, &zero, nullptr, 14, 128, 68,
                   -1) != 0)
    return 7;
  if (library_program::batched_matmul(64, 32, 8192, 3) != 0) return 8;
  SimComm* ranks[4];
  ncclCommInitAll(ranks, 4, nullptr);
  if (ncclAllReduce(nullptr, nullptr, 1000, 9, 0, ranks[1], nullptr) != 0) return 9;
  if (ncclGroupStart() != 0 || ncclGroupEnd() != 0) return 10;
  if (cuCtxSynchronize() != CUDA_SUCCESS) return 11;
  return errno == 77 ? 0 : 12;
}
