// A small cuBLAS: libcublas.so.13 (with the symbol versions of the real one). It multiplies nothing. A product launches
// "gemm", one with half a matrix "symm", "syrk", "trmm" or "trsm", and then "splitKreduce" if k is large. GemmEx calls
// cuBLASLt, like the real one for many types. Negative sizes are refused.
#include "tests/sim/libraries.h"

#include <initializer_list>

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

struct SimBlas {
  CUstream stream;
  int math, pointers;
};

namespace {

int product(SimBlas* handle, int64_t m, int64_t n, int64_t k, const char* kernel = "gemm") {
  if (handle == nullptr) return 1;
  if (m < 0 || n < 0 || k < 0) return 7;
  if (m == 0 || n == 0) return 0;  // nothing to do
  if (const int status = sim_libraries::launch(kernel, handle->stream); status != 0) return status;
  return k > 4096 ? sim_libraries::launch("splitKreduce", handle->stream) : 0;
}

}  // namespace

SIM_EXPORT int cublasCreate_v2(SimBlas** made) {
  *made = new SimBlas{};
  return 0;
}
SIM_EXPORT int cublasDestroy_v2(SimBlas* handle) {
  delete handle;
  return 0;
}
SIM_EXPORT int cublasSetStream_v2(SimBlas* handle, CUstream stream) {
  handle->stream = stream;
  return 0;
}
SIM_EXPORT int cublasSetMathMode(SimBlas* handle, int mode) {
  handle->math = mode;
  return 0;
}
SIM_EXPORT int cublasGetMathMode(SimBlas* handle, int* mode) {
  *mode = handle->math;
  return 0;
}
SIM_EXPORT int cublasSetPointerMode_v2(SimBlas* handle, int mode) {
  handle->pointers = mode;
  return 0;
}
SIM_EXPORT int cublasGetPointerMode_v2(SimBlas* handle, int* mode) {
  *mode = handle->pointers;
  return 0;
}
static thread_local const void* tl_sgemm_caller = nullptr;
SIM_EXPORT const void* sim_sgemm_caller() { return tl_sgemm_caller; }
SIM_EXPORT int cublasSgemm_v2(SimBlas* handle, int, int, int m, int n, int k, const float*, const float*, int,
                              const float*, int, const float*, float*, int) {
  tl_sgemm_caller = __builtin_return_address(0);
  return product(handle, m, n, k);
}
SIM_EXPORT int cublasSgemm_v2_64(SimBlas* handle, int, int, int64_t m, int64_t n, int64_t k, const float*, const float*,
                                 int64_t, const float*, int64_t, const float*, float*, int64_t) {
  return product(handle, m, n, k);
}
SIM_EXPORT int cublasZgemm_v2(SimBlas* handle, int, int, int m, int n, int k, const void*, const void*, int,
                              const void*, int, const void*, void*, int) {
  return product(handle, m, n, k);
}
SIM_EXPORT int cublasCgemm3m(SimBlas* handle, int, int, int m, int n, int k, const void*, const void*, int, const void*,
                             int, const void*, void*, int) {
  return product(handle, m, n, k);
}
SIM_EXPORT int cublasSgemv_v2(SimBlas* handle, int, int m, int n, const float*, const float*, int, const float*, int,
                              const float*, float*, int) {
  return product(handle, m, 1, n);
}
SIM_EXPORT int cublasHSSgemvStridedBatched(SimBlas* handle, int, int m, int n, const float*, const void*, int,
                                           long long, const void*, int, long long, const float*, float*, int, long long,
                                           int batch) {
  return batch <= 0 ? 7 : product(handle, m, batch, n);
}
SIM_EXPORT int cublasSsymm_v2(SimBlas* handle, int, int, int m, int n, const float*, const float*, int, const float*,
                              int, const float*, float*, int) {
  return product(handle, m, n, 1, "symm");
}
SIM_EXPORT int cublasChemm_v2(SimBlas* handle, int, int, int m, int n, const void*, const void*, int, const void*, int,
                              const void*, void*, int) {
  return product(handle, m, n, 1, "symm");
}
SIM_EXPORT int cublasDsyrk_v2(SimBlas* handle, int, int, int n, int k, const double*, const double*, int, const double*,
                              double*, int) {
  return product(handle, n, n, k, "syrk");
}
SIM_EXPORT int cublasCherk_v2(SimBlas* handle, int, int, int n, int k, const float*, const void*, int, const float*,
                              void*, int) {
  return product(handle, n, n, k, "syrk");
}
SIM_EXPORT int cublasSsyr2k_v2_64(SimBlas* handle, int, int, int64_t n, int64_t k, const float*, const float*, int64_t,
                                  const float*, int64_t, const float*, float*, int64_t) {
  return product(handle, n, n, k, "syrk");
}
SIM_EXPORT int cublasCsyrkx(SimBlas* handle, int, int, int n, int k, const void*, const void*, int, const void*, int,
                            const void*, void*, int) {
  return product(handle, n, n, k, "syrk");
}
SIM_EXPORT int cublasStrmm_v2(SimBlas* handle, int, int, int, int, int m, int n, const float*, const float*, int,
                              const float*, int, float*, int) {
  return product(handle, m, n, 1, "trmm");
}
SIM_EXPORT int cublasStrsm_v2(SimBlas* handle, int, int, int, int, int m, int n, const float*, const float*, int,
                              float*, int) {
  return product(handle, m, n, 1, "trsm");
}
SIM_EXPORT int cublasStrsmBatched(SimBlas* handle, int, int, int, int, int m, int n, const float*, const float* const*,
                                  int, float* const*, int, int batch) {
  return batch <= 0 ? 7 : product(handle, m, n, 1, "trsm");
}
SIM_EXPORT int cublasGemmEx(SimBlas* handle, int transa, int transb, int m, int n, int k, const void* alpha,
                            const void* a, int a_type, int lda, const void* b, int b_type, int ldb, const void* beta,
                            void* c, int c_type, int ldc, int compute, int) {
  if (handle == nullptr || m < 0) return 7;
  SimMatmul* matmul = nullptr;
  SimLayout *of_a = nullptr, *of_b = nullptr, *of_c = nullptr;
  const auto wide = [](int size) { return static_cast<uint64_t>(size); };
  cublasLtMatmulDescCreate(&matmul, compute, c_type == 4 ? 4 : 0);  // the type of the factors
  cublasLtMatmulDescSetAttribute(matmul, 3, &transa, sizeof transa);
  cublasLtMatmulDescSetAttribute(matmul, 4, &transb, sizeof transb);
  cublasLtMatrixLayoutCreate(&of_a, a_type, wide(transa == 0 ? m : k), wide(transa == 0 ? k : m), lda);
  cublasLtMatrixLayoutCreate(&of_b, b_type, wide(transb == 0 ? k : n), wide(transb == 0 ? n : k), ldb);
  cublasLtMatrixLayoutCreate(&of_c, c_type, wide(m), wide(n), ldc);
  const int status = cublasLtMatmul(nullptr, matmul, alpha, a, of_a, b, of_b, beta, c, of_c, c, of_c, nullptr, nullptr,
                                    0, handle->stream);
  for (SimLayout* const each : {of_a, of_b, of_c}) cublasLtMatrixLayoutDestroy(each);
  cublasLtMatmulDescDestroy(matmul);
  return status;
}
// The result depends on the first and the last of the argument words, so all 23 have to be passed on.
SIM_EXPORT int cublasGemmStridedBatchedEx(SimBlas* handle, int, int, int m, int n, int k, const void*, const void*, int,
                                          int, long long, const void*, int, int, long long, const void*, void*, int,
                                          int, long long stride_c, int batch, int compute, int algorithm) {
  if (stride_c != int64_t{m} * n || batch <= 0 || compute != 68 || algorithm != 99) return 7;
  return product(handle, m, n, k);
}
