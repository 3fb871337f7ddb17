// Products with half a matrix: symmetric, Hermitian and triangular ones, updates of rank k and systems of equations.
// 2·8·8·5 = 640 FLOPs on the left, 4·2·8·5·5 = 1600 complex ones on the right; 6·4·5 = 120 for rank 6, twice
// that for two products; 8·8·5 and 3·8·5·5 for triangular ones.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: log 1: 10 library_call, 0 lost, whole, 2 kernel_launch(symm), 4 kernel_launch(syrk), 1 kernel_launch(trmm), 2 kernel_launch(trsm)
// Expect: log 1: 1 library_call(cublasSsymm_v2(side=L, uplo=U, m=8, n=5, A=fp32, B=fp32, C=fp32, compute=32f, math=tf32, beta=0))
// Expect: log 1: 1 library_call(cublasChemm_v2(side=R, uplo=L, m=8, n=5, A=complex64, B=complex64, C=complex64, compute=32f, math=tf32, beta=other))
// Expect: log 1: 1 library_call(cublasDsyrk_v2(uplo=U, trans=T, n=4, k=6, A=fp64, C=fp64, compute=64f, math=tf32, beta=other))
// Expect: log 1: 1 library_call(cublasCherk_v2(uplo=L, trans=C, n=4, k=6, A=complex64, C=complex64, compute=32f, math=tf32, beta=0))
// Expect: log 1: 1 library_call(cublasSsyr2k_v2_64(uplo=L, trans=N, n=4, k=6, products=2, A=fp32, B=fp32, C=fp32, compute=32f, math=tf32, beta=0))
// Expect: log 1: 1 library_call(cublasCsyrkx(uplo=L, trans=N, n=4, k=6, A=complex64, B=complex64, C=complex64, compute=32f, math=tf32, beta=other))
// Expect: log 1: 1 library_call(cublasStrmm_v2(side=L, uplo=U, trans=N, diag=U, m=8, n=5, A=fp32, B=fp32, C=fp32, compute=32f, math=tf32))
// Expect: log 1: 1 library_call(cublasStrsm_v2(side=L, uplo=L, trans=T, diag=N, m=8, n=5, A=fp32, B=fp32, compute=32f, math=tf32))
// Expect: log 1: 1 library_call(cublasStrsmBatched(side=R, uplo=L, trans=N, diag=N, m=8, n=5, batch=3, A=fp32, B=fp32, compute=32f, math=tf32))
// Expect: log 1: 1 library_call(cublasStrsm_v2(side=L, uplo=L, trans=T, diag=N, m=?, n=5, A=fp32, B=fp32, compute=32f)), text status=7
// Expect: trace: 1 x "name":"symm",.*"kernel_flop":640,.*"kernel_num_gb":4.64e-07,
// Expect: trace: 1 x "name":"symm",.*"kernel_flop":1600,.*"kernel_num_gb":1.08e-06,
// Expect: trace: 1 x "name":"syrk",.*"kernel_flop":120,.*"kernel_num_gb":3.52e-07,
// Expect: trace: 1 x "name":"syrk",.*"kernel_flop":480,.*"kernel_num_gb":2.72e-07,
// Expect: trace: 1 x "name":"syrk",.*"kernel_flop":240,.*"kernel_num_gb":2.32e-07,
// Expect: trace: 1 x "name":"syrk",.*"kernel_flop":480,.*"kernel_num_gb":5.44e-07,
// Expect: trace: 1 x "name":"trmm",.*"kernel_flop":320,.*"kernel_num_gb":4.32e-07,
// Expect: trace: 1 x "name":"trsm",.*"kernel_flop":320,.*"kernel_num_gb":4.64e-07,
// Expect: trace: 1 x "name":"trsm",.*"kernel_flop":600,.*"kernel_num_gb":1.14e-06,
#include "tests/e2e/programs/libraries/library_program.h"

int main() {
  sim_program::make_context();
  SimBlas* blas = nullptr;
  if (cublasCreate_v2(&blas) != 0) return 1;
  cublasSetMathMode(blas, 3);
  const float zero = 0, one = 1, imaginary[] = {0, 1}, real_zero[] = {0, 1};  // a real factor is one number
  const double wide_one = 1;
  if (cublasSsymm_v2(blas, 0, 1, 8, 5, &one, nullptr, 8, nullptr, 8, &zero, nullptr, 8) != 0) return 2;
  if (cublasChemm_v2(blas, 1, 0, 8, 5, imaginary, nullptr, 5, nullptr, 8, imaginary, nullptr, 8) != 0) return 3;
  if (cublasDsyrk_v2(blas, 1, 1, 4, 6, &wide_one, nullptr, 6, &wide_one, nullptr, 4) != 0) return 4;
  if (cublasCherk_v2(blas, 0, 2, 4, 6, real_zero, nullptr, 6, real_zero, nullptr, 4) != 0) return 5;
  if (cublasSsyr2k_v2_64(blas, 0, 0, 4, 6, &one, nullptr, 4, nullptr, 4, &zero, nullptr, 4) != 0) return 6;
  if (cublasCsyrkx(blas, 0, 0, 4, 6, imaginary, nullptr, 4, nullptr, 4, imaginary, nullptr, 4) != 0) return 7;
  if (cublasStrmm_v2(blas, 0, 1, 0, 1, 8, 5, &one, nullptr, 8, nullptr, 8, nullptr, 8) != 0) return 8;
  if (cublasStrsm_v2(blas, 0, 0, 1, 0, 8, 5, &one, nullptr, 8, nullptr, 8) != 0) return 9;
  if (cublasStrsm_v2(blas, 0, 0, 1, 0, -1, 5, &one, nullptr, 8, nullptr, 8) != 7) return 10;
  if (cublasStrsmBatched(blas, 1, 0, 0, 0, 8, 5, &one, nullptr, 5, nullptr, 8, 3) != 0) return 11;
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
