// Calls of cuFFT, cuSPARSE and cuBLAS of known sizes, each in an NVTX range "case NAME FLOPS BYTES" that ends
// synchronised, for the step `library_kinds` of scripts/gpu-check. Prints a checksum of every result: values are small
// integers, whose sums do not depend on the order.
#include "check.cuh"

#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <cufftXt.h>
#include <cusparse.h>
#include <nvtx3/nvToolsExt.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

template <class Status> static void ok(Status status, int line) {
  if (static_cast<int>(status) == 0) return;
  std::fprintf(stderr, "line %d: a library returned %d\n", line, static_cast<int>(status));
  std::exit(100);
}
#define OK(call) ok((call), __LINE__)

constexpr size_t kBytes = 64 << 20;
static char *g_in, *g_more, *g_out;

template <class Work> static void run(const std::string& name, double flops, uint64_t bytes, Work&& work) {
  CHECK(cudaMemset(g_out, 0, kBytes));
  CHECK(cudaDeviceSynchronize());
  nvtxRangePushA(("case " + name + " " + std::to_string(std::llround(flops)) + " " + std::to_string(bytes)).c_str());
  work();
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
  std::vector<uint32_t> words(1 << 18);
  CHECK(cudaMemcpy(words.data(), g_out, words.size() * 4, cudaMemcpyDeviceToHost));
  uint64_t hash = 14695981039346656037u;
  for (const uint32_t word : words) hash = (hash ^ word) * 1099511628211u;
  std::printf("%s %016llx\n", name.c_str(), static_cast<unsigned long long>(hash));
}

template <class T> static void fill(char* to, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<float>(i * 2654435761u >> 7 & 7) - 3.0f);
  CHECK(cudaMemcpy(to, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
}

// --- cuFFT -----------------------------------------------------------------------------------------------------------

static double nominal(double points, double batch, bool real) {
  return (real ? 2.5 : 5) * points * std::log2(points) * batch;
}

static void transforms() {
  using C = cufftComplex;
  using Z = cufftDoubleComplex;
  size_t work = 0;
  fill<float>(g_in, 4 << 20);
  cufftHandle line, prime, plane, back, half;
  OK(cufftPlan1d(&line, 4096, CUFFT_C2C, 64));
  OK(cufftPlan1d(&prime, 1009, CUFFT_C2C, 3));
  OK(cufftPlan2d(&plane, 512, 256, CUFFT_R2C));
  int sizes[] = {100, 60};
  OK(cufftCreate(&back));
  OK(cufftMakePlanMany(back, 2, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2R, 10, &work));
  long long points[] = {1024};
  OK(cufftCreate(&half));
  OK(cufftXtMakePlanMany(half, 1, points, nullptr, 1, 0, CUDA_C_16F, nullptr, 1, 0, CUDA_C_16F, 8, &work, CUDA_C_16F));
  const auto in = [] { return reinterpret_cast<C*>(g_in); };
  const auto out = [] { return reinterpret_cast<C*>(g_out); };
  run("fft_c2c", nominal(4096, 64, false), 2ull * 4096 * 64 * 8,
      [&] { OK(cufftExecC2C(line, in(), out(), CUFFT_FORWARD)); });
  run("fft_inverse", nominal(4096, 64, false), 2ull * 4096 * 64 * 8,
      [&] { OK(cufftExecC2C(line, in(), out(), CUFFT_INVERSE)); });
  run("fft_prime", nominal(1009, 3, false), 2ull * 1009 * 3 * 8,
      [&] { OK(cufftExecC2C(prime, in(), out(), CUFFT_FORWARD)); });
  run("fft_r2c", nominal(512 * 256, 1, true), 512ull * 256 * 4 + 512ull * 129 * 8,
      [&] { OK(cufftExecR2C(plane, reinterpret_cast<float*>(g_in), out())); });
  run("fft_c2r", nominal(6000, 10, true), 10 * (100ull * 31 * 8 + 6000 * 4),
      [&] { OK(cufftExecC2R(back, in(), reinterpret_cast<float*>(g_out))); });
  run("fft_half", nominal(1024, 8, false), 2ull * 1024 * 8 * 4,
      [&] { OK(cufftXtExec(half, g_in, g_out, CUFFT_FORWARD)); });
  OK(cufftDestroy(line));
  fill<double>(g_in, 1 << 20);
  cufftHandle cube;
  OK(cufftPlan3d(&cube, 32, 48, 20, CUFFT_Z2Z));
  run("fft_z2z", nominal(30720, 1, false), 2ull * 30720 * 16,
      [&] { OK(cufftExecZ2Z(cube, reinterpret_cast<Z*>(g_in), reinterpret_cast<Z*>(g_out), CUFFT_FORWARD)); });
  for (const cufftHandle each : {prime, plane, back, half, cube}) OK(cufftDestroy(each));
}

// --- cuSPARSE --------------------------------------------------------------------------------------------------------

constexpr int64_t kRows = 1000, kColumns = 800, kEach = 5, kNonzeros = kRows * kEach, kWidth = 64;

// Five positions in each row, in ascending order.
struct Places {
  int *offsets, *rows, *columns;
};
static Places places() {
  std::vector<int> offsets(kRows + 1), rows(kNonzeros), columns(kNonzeros);
  for (int i = 0; i < kNonzeros; ++i) {
    offsets[i / kEach + 1] = i + 1;
    rows[i] = i / kEach;
    columns[i] = static_cast<int>(i % kEach * 160 + i * 37 % 160);
  }
  Places made;
  const auto copied = [](int** to, const std::vector<int>& from) {
    CHECK(cudaMalloc(to, from.size() * sizeof(int)));
    CHECK(cudaMemcpy(*to, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice));
  };
  copied(&made.offsets, offsets), copied(&made.rows, rows), copied(&made.columns, columns);
  return made;
}

static cusparseDnMatDescr_t dense(int64_t rows, int64_t columns, char* at, cudaDataType type) {
  cusparseDnMatDescr_t made;
  OK(cusparseCreateDnMat(&made, rows, columns, rows, at, type, CUSPARSE_ORDER_COL));
  return made;
}
static cusparseDnVecDescr_t vector(int64_t size, char* at) {
  cusparseDnVecDescr_t made;
  OK(cusparseCreateDnVec(&made, size, at, CUDA_R_32F));
  return made;
}

static void* buffer_of(size_t bytes) {
  void* made = nullptr;
  CHECK(cudaMalloc(&made, bytes + 16));
  return made;
}

static void sparse() {
  constexpr auto kN = CUSPARSE_OPERATION_NON_TRANSPOSE, kT = CUSPARSE_OPERATION_TRANSPOSE;
  constexpr auto kZero = CUSPARSE_INDEX_BASE_ZERO;
  constexpr auto kInt = CUSPARSE_INDEX_32I;
  const Places at = places();
  cusparseHandle_t handle;
  OK(cusparseCreate(&handle));
  fill<float>(g_in, 1 << 20), fill<float>(g_more, 1 << 20);
  cusparseSpMatDescr_t csr, coo, wide, result;
  OK(cusparseCreateCsr(&csr, kRows, kColumns, kNonzeros, at.offsets, at.columns, g_more, kInt, kInt, kZero,
                       CUDA_R_32F));
  OK(cusparseCreateCoo(&coo, kRows, kColumns, kNonzeros, at.rows, at.columns, g_more, kInt, kZero, CUDA_R_32F));
  OK(cusparseCreateCsr(&result, kRows, kColumns, kNonzeros, at.offsets, at.columns, g_out, kInt, kInt, kZero,
                       CUDA_R_32F));
  const uint64_t csr_bytes = kNonzeros * 8 + (kRows + 1) * 4, dense_bytes = (kColumns + kRows) * kWidth * 4;
  const auto matrix = [&](const char* name, cusparseSpMatDescr_t a, cusparseOperation_t transpose, cudaDataType type,
                          auto one, int batch, uint64_t bytes) {
    const bool flipped = transpose == kT;
    const cusparseDnMatDescr_t b = dense(flipped ? kRows : kColumns, kWidth, g_in, type),
                               c = dense(flipped ? kColumns : kRows, kWidth, g_out, type);
    if (batch > 1) {
      OK(cusparseCsrSetStridedBatch(a, batch, 0, kNonzeros));
      OK(cusparseDnMatSetStridedBatch(b, batch, kColumns * kWidth));
      OK(cusparseDnMatSetStridedBatch(c, batch, kRows * kWidth));
    }
    const decltype(one) zero = 0;
    size_t needed = 0;
    OK(cusparseSpMM_bufferSize(handle, transpose, kN, &one, a, b, &zero, c, type, CUSPARSE_SPMM_ALG_DEFAULT, &needed));
    void* const buffer = buffer_of(needed);
    run(name, 2.0 * kNonzeros * kWidth * batch, bytes, [&] {
      OK(cusparseSpMM(handle, transpose, kN, &one, a, b, &zero, c, type, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
    });
    CHECK(cudaFree(buffer));
    if (batch > 1) OK(cusparseCsrSetStridedBatch(a, 1, 0, 0));
  };
  matrix("spmm_csr", csr, kN, CUDA_R_32F, 1.0f, 1, csr_bytes + dense_bytes);
  matrix("spmm_coo", coo, kN, CUDA_R_32F, 1.0f, 1, kNonzeros * 12 + dense_bytes);
  matrix("spmm_transposed", csr, kT, CUDA_R_32F, 1.0f, 1, csr_bytes + dense_bytes);
  matrix("spmm_batched", csr, kN, CUDA_R_32F, 1.0f, 4, 4 * (csr_bytes + dense_bytes));
  for (const cusparseOperation_t transpose : {kN, kT}) {
    const float one = 1, zero = 0;
    const cusparseDnVecDescr_t x = vector(transpose == kN ? kColumns : kRows, g_in),
                               y = vector(transpose == kN ? kRows : kColumns, g_out);
    size_t needed = 0;
    OK(cusparseSpMV_bufferSize(handle, transpose, &one, csr, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                               &needed));
    void* const buffer = buffer_of(needed);
    run(transpose == kN ? "spmv" : "spmv_transposed", 2.0 * kNonzeros, csr_bytes + (kColumns + kRows) * 4, [&] {
      OK(cusparseSpMV(handle, transpose, &one, csr, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    });
    CHECK(cudaFree(buffer));
  }
  const float one = 1, zero = 0;
  const cusparseDnMatDescr_t a = dense(kRows, kWidth, g_in, CUDA_R_32F),
                             b = dense(kWidth, kColumns, g_more, CUDA_R_32F);
  size_t needed = 0;
  OK(cusparseSDDMM_bufferSize(handle, kN, kN, &one, a, b, &zero, result, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT,
                              &needed));
  void* const buffer = buffer_of(needed);
  run("sddmm", 2.0 * kNonzeros * kWidth, csr_bytes + dense_bytes, [&] {
    OK(cusparseSDDMM(handle, kN, kN, &one, a, b, &zero, result, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
  });
  CHECK(cudaFree(buffer));
  fill<double>(g_in, 1 << 19), fill<double>(g_more, 1 << 19);
  OK(cusparseCreateCsr(&wide, kRows, kColumns, kNonzeros, at.offsets, at.columns, g_more, kInt, kInt, kZero,
                       CUDA_R_64F));
  matrix("spmm_fp64", wide, kN, CUDA_R_64F, 1.0, 1, csr_bytes + kNonzeros * 4 + 2 * dense_bytes);
  OK(cusparseDestroy(handle));
}

// --- cuBLAS ----------------------------------------------------------------------------------------------------------

static void vectors() {
  cublasHandle_t handle;
  OK(cublasCreate(&handle));
  fill<float>(g_in, 4 << 20), fill<float>(g_more, 1 << 20);
  constexpr int m = 768, n = 1280;
  const float one = 1, zero = 0;
  float *const a = reinterpret_cast<float*>(g_in), *const x = reinterpret_cast<float*>(g_more),
               *const y = reinterpret_cast<float*>(g_out);
  const uint64_t bytes = 4ull * (m * n + m + n);
  run("sgemv", 2.0 * m * n, bytes, [&] { OK(cublasSgemv(handle, CUBLAS_OP_N, m, n, &one, a, m, x, 1, &zero, y, 1)); });
  run("sgemv_transposed", 2.0 * m * n, bytes + 4 * n,
      [&] { OK(cublasSgemv(handle, CUBLAS_OP_T, m, n, &one, a, m, x, 1, &one, y, 1)); });
  run("sgemv_batched", 2.0 * 96 * 64 * 10, 40ull * (96 * 64 + 96 + 64), [&] {
    OK(cublasSgemvStridedBatched(handle, CUBLAS_OP_N, 96, 64, &one, a, 96, 96 * 64, x, 1, 64, &zero, y, 1, 96, 10));
  });
  const cuComplex complex_one = {1, 0}, complex_zero = {0, 0};
  auto *const ca = reinterpret_cast<cuComplex*>(g_in), *const cb = reinterpret_cast<cuComplex*>(g_more),
              *const cc = reinterpret_cast<cuComplex*>(g_out);
  run("cgemv", 8.0 * 300 * 200, 8ull * (300 * 200 + 500),
      [&] { OK(cublasCgemv(handle, CUBLAS_OP_N, 300, 200, &complex_one, ca, 300, cb, 1, &complex_zero, cc, 1)); });
  run("cgemm3m", 8.0 * 256 * 128 * 192, 8ull * (256 * 192 + 192 * 128 + 256 * 128), [&] {
    OK(cublasCgemm3m(handle, CUBLAS_OP_N, CUBLAS_OP_N, 256, 128, 192, &complex_one, ca, 256, cb, 192, &complex_zero, cc,
                     256));
  });
  fill<__half>(g_in, 1 << 20), fill<__half>(g_more, 1 << 20);
  run("hssgemv_batched", 2.0 * 96 * 64 * 10, 10ull * (96 * 64 * 2 + 64 * 2 + 96 * 4), [&] {
    OK(cublasHSSgemvStridedBatched(handle, CUBLAS_OP_N, 96, 64, &one, reinterpret_cast<__half*>(g_in), 96, 96 * 64,
                                   reinterpret_cast<__half*>(g_more), 1, 64, &zero, y, 1, 96, 10));
  });
  OK(cublasDestroy(handle));
}

// --- cuBLAS, matrices of which one half is used ----------------------------------------------------------------------

static void halves() {
  cublasHandle_t handle;
  OK(cublasCreate(&handle));
  fill<float>(g_in, 1 << 20), fill<float>(g_more, 1 << 20);
  constexpr int m = 320, n = 192, k = 256;
  constexpr auto kLeft = CUBLAS_SIDE_LEFT, kRight = CUBLAS_SIDE_RIGHT;
  constexpr auto kLower = CUBLAS_FILL_MODE_LOWER, kUpper = CUBLAS_FILL_MODE_UPPER;
  constexpr auto kN = CUBLAS_OP_N, kT = CUBLAS_OP_T, kC = CUBLAS_OP_C;
  const auto triangle = [](uint64_t order) { return order * (order + 1) / 2; };
  const float one = 1, zero = 0;
  float *const a = reinterpret_cast<float*>(g_in), *const b = reinterpret_cast<float*>(g_more),
               *const c = reinterpret_cast<float*>(g_out);
  run("ssymm_left", 2.0 * m * m * n, 4 * (triangle(m) + 2 * m * n),
      [&] { OK(cublasSsymm(handle, kLeft, kUpper, m, n, &one, a, m, b, m, &zero, c, m)); });
  run("ssymm_right", 2.0 * m * n * n, 4 * (triangle(n) + 3 * m * n),
      [&] { OK(cublasSsymm(handle, kRight, kLower, m, n, &one, a, n, b, m, &one, c, m)); });
  run("ssyrk", 1.0 * k * n * (n + 1), 4 * (n * k + triangle(n)),
      [&] { OK(cublasSsyrk(handle, kLower, kN, n, k, &one, a, n, &zero, c, n)); });
  run("ssyr2k", 2.0 * k * n * (n + 1), 4 * (2 * n * k + 2 * triangle(n)),
      [&] { OK(cublasSsyr2k(handle, kUpper, kT, n, k, &one, a, k, b, k, &one, c, n)); });
  run("ssyrkx", 1.0 * k * n * (n + 1), 4 * (2 * n * k + triangle(n)),
      [&] { OK(cublasSsyrkx(handle, kUpper, kT, n, k, &one, a, k, b, k, &zero, c, n)); });
  run("strmm", 1.0 * m * m * n, 4 * (triangle(m) - m + 2 * m * n),
      [&] { OK(cublasStrmm(handle, kLeft, kUpper, kN, CUBLAS_DIAG_UNIT, m, n, &one, a, m, b, m, c, m)); });
  const auto solve = [&](const char* name, cublasSideMode_t side, uint64_t order) {
    run(name, 1.0 * order * m * n, 4 * (triangle(order) - order + 2 * m * n), [&] {
      CHECK(cudaMemcpyAsync(c, b, sizeof(float) * m * n, cudaMemcpyDeviceToDevice));
      OK(cublasStrsm(handle, side, kLower, kN, CUBLAS_DIAG_UNIT, m, n, &one, a, static_cast<int>(order), c, m));
    });
  };
  solve("strsm_left", kLeft, m), solve("strsm_right", kRight, n);
  constexpr int batch = 6;
  float* places[2 * batch];
  for (int i = 0; i < batch; ++i) places[i] = a, places[batch + i] = c + i * 32 * 24;
  auto** const on_device = static_cast<float**>(buffer_of(sizeof places));
  CHECK(cudaMemcpy(on_device, places, sizeof places, cudaMemcpyHostToDevice));
  run("strsm_batched", 1.0 * batch * 32 * 32 * 24, 4ull * batch * (triangle(32) + 2 * 32 * 24), [&] {
    OK(cublasStrsmBatched(handle, kLeft, kLower, kN, CUBLAS_DIAG_NON_UNIT, 32, 24, &one, on_device, 32,
                          on_device + batch, 32, batch));
  });
  CHECK(cudaFree(on_device));

  using Z = cuDoubleComplex;
  fill<double>(g_in, 1 << 20), fill<double>(g_more, 1 << 20);
  const cuDoubleComplex wide_one = {1, 0}, imaginary = {0, 1};
  const double real_one = 1, real_zero[] = {0, 1};  // a real factor is one number
  Z *const za = reinterpret_cast<Z*>(g_in), *const zb = reinterpret_cast<Z*>(g_more),
           *const zc = reinterpret_cast<Z*>(g_out);
  run("zhemm", 8.0 * m * m * n, 16 * (triangle(m) + 3 * m * n),
      [&] { OK(cublasZhemm(handle, kLeft, kUpper, m, n, &wide_one, za, m, zb, m, &imaginary, zc, m)); });
  run("zherk", 4.0 * k * n * (n + 1), 16 * (n * k + triangle(n)),
      [&] { OK(cublasZherk(handle, kLower, kC, n, k, &real_one, za, k, real_zero, zc, n)); });
  run("ztrmm", 4.0 * m * n * n, 16 * (triangle(n) + 2 * m * n),
      [&] { OK(cublasZtrmm(handle, kRight, kUpper, kN, CUBLAS_DIAG_NON_UNIT, m, n, &wide_one, za, n, zb, m, zc, m)); });
  run("zgemm_imaginary", 8.0 * m * n * k, 16ull * (m * k + k * n + 2 * m * n), [&] {
    OK(cublasGemmEx(handle, kN, kN, m, n, k, &wide_one, za, CUDA_C_64F, m, zb, CUDA_C_64F, k, &imaginary, zc,
                    CUDA_C_64F, m, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT));
  });
  OK(cublasDestroy(handle));
}

int main() {
  for (char** const each : {&g_in, &g_more, &g_out}) CHECK(cudaMalloc(each, kBytes));
  transforms();
  sparse();
  vectors();
  halves();
  std::puts("done");
  return 0;
}
