// The factor of C (beta) is a number of the call's scale type: an imaginary factor is not 0, and with an unknown type
// nothing is known. A wrong factor would make the bytes of C wrong. 8·4·5·6 = 960 FLOPs; (24 + 30 + 2·20) · 8 =
// 752 bytes, and 592 with factor 0.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: log 1: 9 library_call, 0 lost, whole, 7 kernel_launch(gemm_lt)
// Expect: log 1: 2 library_call(cublasLtMatmul(transa=N, transb=N, m=4, n=5, k=6, A=complex64, B=complex64, C=complex64, compute=32f, beta=other))
// Expect: log 1: 1 library_call(cublasLtMatmul(transa=N, transb=N, m=4, n=5, k=6, A=complex64, B=complex64, C=complex64, compute=32f, beta=0))
// Expect: log 1: 1 library_call(cublasLtMatmul(transa=N, transb=N, m=4, n=5, k=6, A=complex128, B=complex128, C=complex128, compute=64f, beta=other))
// Expect: log 1: 1 library_call(cublasLtMatmul(transa=N, transb=N, m=4, n=5, k=6, A=fp16, B=fp16, C=fp16, compute=16f, beta=0))
// Expect: log 1: 1 library_call(cublasLtMatmul(transa=N, transb=N, m=4, n=5, k=6, A=complex64, B=complex64, C=complex64, compute=32f))
// Expect: log 1: 1 library_call(cublasGemmEx(transa=N, transb=N, m=4, n=5, k=6, A=complex64, B=complex64, C=complex64, compute=32f, math=default, beta=other))
// Expect: log 1: 1 library_call(cublasGemmEx(transa=N, transb=N, m=4, n=5, k=6, A=complex64, B=complex64, C=complex64, compute=99, math=default))
// Expect: trace: 2 x "name":"gemm_lt",.*"kernel_flop":960,.*"kernel_num_gb":7.52e-07,
// Expect: trace: 3 x "name":"gemm_lt",.*"kernel_flop":960,.*"kernel_num_gb":5.92e-07,
#include "tests/e2e/programs/libraries/library_program.h"

#include <initializer_list>

namespace {

struct Types {
  int compute, scale, elements;
};

int matmul(Types types, const void* beta) {
  SimMatmul* matmul = nullptr;
  SimLayout *a = nullptr, *b = nullptr, *d = nullptr;
  cublasLtMatmulDescCreate(&matmul, types.compute, types.scale);
  cublasLtMatrixLayoutCreate(&a, types.elements, 4, 6, 4);
  cublasLtMatrixLayoutCreate(&b, types.elements, 6, 5, 6);
  cublasLtMatrixLayoutCreate(&d, types.elements, 4, 5, 4);
  const int status = cublasLtMatmul(nullptr, matmul, beta, nullptr, a, nullptr, b, beta, nullptr, d, nullptr, d,
                                    nullptr, nullptr, 0, nullptr);
  for (SimLayout* const each : {a, b, d}) cublasLtMatrixLayoutDestroy(each);
  cublasLtMatmulDescDestroy(matmul);
  return status;
}

}  // namespace

int main() {
  sim_program::make_context();
  SimBlas* blas = nullptr;
  if (cublasCreate_v2(&blas) != 0) return 1;
  const float imaginary[] = {0, 1}, zero[] = {0, -0.0f};
  const double wide_imaginary[] = {0, 1};
  const uint16_t half_zero[] = {0, 0x3c00};  // the bytes after the first number belong to something else
  if (matmul({68, 4, 4}, imaginary) != 0 || matmul({68, 4, 4}, zero) != 0) return 2;
  if (matmul({70, 5, 5}, wide_imaginary) != 0) return 3;
  if (matmul({64, 2, 2}, half_zero) != 0) return 4;
  if (matmul({68, 77, 4}, zero) != 0) return 5;
  for (const int compute : {68, 99}) {
    if (cublasGemmEx(blas, 0, 0, 4, 5, 6, imaginary, nullptr, 4, 4, nullptr, 4, 6, imaginary, nullptr, 4, 4, compute,
                     -1) != 0)
      return 6;
  }
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
