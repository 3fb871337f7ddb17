// Products of sparse matrices of each format, with the sizes and non-zeros of their descriptors; one whose format has
// no number of non-zeros, and one that is refused, whose descriptors libprof does not query. 2·300·64 = 38400 FLOPs;
// 300·(4 + 4) + 101·4 + 200·64·4 + 100·64·4 = 79604 bytes.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 9 library_call, 0 lost, whole, 5 kernel_launch(csrmm), 2 kernel_launch(csrmv), 1 kernel_launch(sddmm)
// Expect: log 1: 1 library_call(cusparseSpMM(sparse=A, format=csr, transa=N, transb=N, m=100, n=64, k=200, nnz=300, A=fp32, B=fp32, C=fp32, index=int32, offset=int32, compute=fp32, beta=0))
// Expect: log 1: 1 library_call(cusparseSpMM(sparse=A, format=coo, transa=T, transb=N, m=200, n=64, k=100, nnz=300, A=fp16, B=fp16, C=fp32, index=int64, compute=fp32, beta=other, algorithm=5))
// Expect: log 1: 1 library_call(cusparseSpMM(sparse=A, format=csc, transa=N, transb=N, m=100, n=64, k=200, nnz=300, A=complex64, B=complex64, C=complex64, index=int32, offset=int64, compute=complex64, beta=other))
// Expect: log 1: 1 library_call(cusparseSpMM(sparse=A, format=csr, transa=N, transb=N, m=100, n=64, k=200, nnz=300, batch=5, A=fp32, B=fp32, C=fp32, index=int32, offset=int32, compute=fp32, strideA=0))
// Expect: log 1: 1 library_call(cusparseSpMM(sparse=A, format=blocked_ell))
// Expect: log 1: 1 library_call(cusparseSpMM(sparse=A)), text status=3
// Expect: log 1: 1 library_call(cusparseSpMV(sparse=A, format=csr, transa=N, m=100, n=1, k=200, nnz=300, A=fp32, B=fp32, C=fp32, index=int32, offset=int32, compute=fp32, beta=0))
// Expect: log 1: 1 library_call(cusparseSpMV(sparse=A, format=csr, transa=C, m=200, n=1, k=100, nnz=300, A=fp32, B=fp32, C=fp32, index=int32, offset=int32, compute=fp32, beta=0))
// Expect: log 1: 1 library_call(cusparseSDDMM(sparse=C, format=csr, transa=N, transb=N, m=100, n=200, k=32, nnz=300, A=fp32, B=fp32, C=fp32, index=int32, offset=int32, compute=fp32, beta=0))
// Expect: trace: 2 x "name":"csrmm",.*"kernel_flop":38400,
// Expect: trace: 1 x "name":"csrmm",.*"kernel_flop":38400,.*"kernel_num_gb":7.9604e-05,.*"flops from":"library"
// Expect: trace: 1 x "name":"csrmm",.*"kernel_flop":153600,
// Expect: trace: 1 x "name":"csrmm",.*"kernel_flop":192000,
// Expect: trace: 2 x "name":"csrmv",.*"kernel_flop":600,
// Expect: trace: 1 x "name":"sddmm",.*"kernel_flop":19200,
#include "tests/e2e/programs/libraries/library_program.h"

constexpr int kFp32 = 0, kFp16 = 2, kComplex = 4, kInt32 = 2, kInt64 = 3;

static SimSparse* dense(int64_t rows, int64_t columns, int type) {
  SimSparse* made = nullptr;
  cusparseCreateDnMat(&made, rows, columns, rows, nullptr, type, 1);
  return made;
}
static SimSparse* vector(int64_t size) {
  SimSparse* made = nullptr;
  cusparseCreateDnVec(&made, size, nullptr, kFp32);
  return made;
}

int main() {
  sim_program::make_context();
  SimSparse *handle = nullptr, *csr = nullptr, *csc = nullptr, *coo = nullptr, *ell = nullptr;
  cusparseCreate(&handle);
  cusparseCreateCsr(&csr, 100, 200, 300, nullptr, nullptr, nullptr, kInt32, kInt32, 0, kFp32);
  cusparseCreateCsc(&csc, 100, 200, 300, nullptr, nullptr, nullptr, kInt64, kInt32, 0, kComplex);
  cusparseCreateCoo(&coo, 100, 200, 300, nullptr, nullptr, nullptr, kInt64, 0, kFp16);
  cusparseCreateBlockedEll(&ell, 128, 256, 16, 64, nullptr, nullptr, kInt32, 0, kFp16);
  SimSparse *const b = dense(200, 64, kFp32), *const c = dense(100, 64, kFp32);
  const float zero = 0, one = 1, imaginary[] = {0, 1};
  if (cusparseSpMM(handle, 0, 0, &one, csr, b, &zero, c, kFp32, 0, nullptr) != 0) return 1;
  if (cusparseSpMM(handle, 1, 0, &one, coo, dense(100, 64, kFp16), &one, dense(200, 64, kFp32), kFp32, 5, nullptr) != 0)
    return 2;
  if (cusparseSpMM(handle, 0, 0, imaginary, csc, dense(200, 64, kComplex), imaginary, dense(100, 64, kComplex),
                   kComplex, 0, nullptr) != 0)
    return 3;
  if (cusparseSpMM(handle, 0, 0, &one, ell, dense(256, 8, kFp16), &zero, dense(128, 8, kFp16), kFp32, 0, nullptr) != 0)
    return 4;
  if (cusparseSpMM(handle, 0, 0, &one, csr, nullptr, &zero, c, kFp32, 0, nullptr) != 3) return 5;
  if (cusparseSpMV(handle, 0, &one, csr, vector(200), &zero, vector(100), kFp32, 0, nullptr) != 0) return 6;
  if (cusparseSpMV(handle, 2, &one, csr, vector(100), &zero, vector(200), kFp32, 0, nullptr) != 0) return 7;
  if (cusparseSDDMM(handle, 0, 0, &one, dense(100, 32, kFp32), dense(32, 200, kFp32), &zero, csr, kFp32, 0, nullptr) !=
      0)
    return 8;
  // One matrix for the whole batch; factors in the device's memory, which libprof must not read.
  cusparseSetPointerMode(handle, 1);
  const auto* const on_device = reinterpret_cast<const float*>(0x10);
  cusparseDnMatSetStridedBatch(b, 5, 12800);
  cusparseDnMatSetStridedBatch(c, 5, 6400);
  if (cusparseSpMM(handle, 0, 0, on_device, csr, b, on_device, c, kFp32, 0, nullptr) != 0) return 9;
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
