// Kernels and copies with known operations and bytes, for the step `counters` of scripts/gpu-check.
//
//   counters cases        products, copies and multiply-adds, each in an NVTX range "case NAME AMOUNT"; prints a
//                         checksum of every result
//   counters threads      two threads, a stream each, 200 launches of fma_kernel each, with 64 and 192 steps; then a
//                         graph of three launches with 32 steps, twice
//   counters loop N       N launches of an empty kernel: prints "us_per_launch X", the median of 20 batches
//   counters killed N     N launches, three seconds, then SIGKILL
#include "check.cuh"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" __global__ void empty_kernel() {}

extern "C" __global__ void fill_kernel(float* to, size_t count, float scale) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = static_cast<float>(static_cast<int>(i * 2654435761u >> 20) - 2048) * scale;
}
template <class T> __global__ void convert_kernel(T* to, const float* from, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = static_cast<T>(from[i]);
}
extern "C" __global__ void copy_kernel(float4* to, const float4* from, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = from[i];
}
// One multiply-add per step and thread, in a form that the compiler cannot fold: 2 operations.
extern "C" __global__ void fma_kernel(float* to, int steps, float factor) {
  float value = threadIdx.x;
  for (int i = 0; i < steps; ++i) value = fmaf(value, factor, 0.5f);
  to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
// Two multiply-adds per step and thread, in one instruction: 4 operations.
extern "C" __global__ void half2_kernel(__half2* to, int steps, __half2 factor) {
  __half2 value = __floats2half2_rn(threadIdx.x, 1.0f);
  for (int i = 0; i < steps; ++i) value = __hfma2(value, factor, factor);
  to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static void blas_ok(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: error %d\n", static_cast<int>(status));
  std::exit(100);
}

constexpr size_t kElements = 4096ull * 4096;
static float *g_a, *g_b;
static void *g_in_a, *g_in_b, *g_out;
static cublasHandle_t g_blas;

static void report(const std::string& name, size_t bytes) {
  std::vector<unsigned char> host(bytes);
  CHECK(cudaMemcpy(host.data(), g_out, bytes, cudaMemcpyDeviceToHost));
  unsigned long long sum = 1469598103934665603ull;
  for (const unsigned char byte : host) sum = (sum ^ byte) * 1099511628211ull;
  std::printf("%s %016llx\n", name.c_str(), sum);
}

template <class Work> static void in_case(const std::string& name, double amount, size_t bytes, const Work& work) {
  CHECK(cudaDeviceSynchronize());
  char label[128];
  std::snprintf(label, sizeof label, "case %s %.0f", name.c_str(), amount);
  nvtxRangePushA(label);
  work();
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
  if (bytes != 0) report(name, bytes);
}

template <class T> static void convert_inputs() {
  convert_kernel<<<kElements / 256, 256>>>(static_cast<T*>(g_in_a), g_a, kElements);
  convert_kernel<<<kElements / 256, 256>>>(static_cast<T*>(g_in_b), g_b, kElements);
}

template <class Scalar>
static void product(const char* name, cudaDataType type, cublasComputeType_t compute, int m, int n, int k, size_t element) {
  const Scalar one = 1, zero = 0;
  const auto work = [&] {
    blas_ok(cublasGemmEx(g_blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, g_in_a, type, m, g_in_b, type, k, &zero, g_out, type, m,
                         compute, CUBLAS_GEMM_DEFAULT));
  };
  work();  // cuBLAS loads what it needs
  in_case("gemm_" + std::string(name) + "_" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k), 2.0 * m * n * k,
          static_cast<size_t>(m) * n * element, work);
}

template <class Scalar>
static void products(const char* name, cudaDataType type, cublasComputeType_t compute, size_t element, int large) {
  product<Scalar>(name, type, compute, large, large, large, element);
  product<Scalar>(name, type, compute, 1024, 512, 2048, element);
  product<Scalar>(name, type, compute, 1000, 1111, 776, element);
}

static void run_cases() {
  constexpr size_t kCopy = 16ull << 20;  // float4s: 256 MiB
  CHECK(cudaMalloc(&g_a, kElements * 4));
  CHECK(cudaMalloc(&g_b, kElements * 4));
  CHECK(cudaMalloc(&g_in_a, kElements * 8));
  CHECK(cudaMalloc(&g_in_b, kCopy * 16));
  CHECK(cudaMalloc(&g_out, kCopy * 16));
  blas_ok(cublasCreate(&g_blas));
  fill_kernel<<<kElements / 256, 256>>>(g_a, kElements, 1.0f / 4096);
  fill_kernel<<<kElements / 256, 256>>>(g_b, kElements, 1.0f / 2048);
  convert_inputs<__nv_bfloat16>();
  products<float>("bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 4096);
  convert_inputs<__half>();
  products<float>("fp16", CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, 4096);
  convert_inputs<float>();
  products<float>("tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4, 4096);
  products<float>("fp32", CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, 4, 2048);
  convert_inputs<double>();
  products<double>("fp64", CUDA_R_64F, CUBLAS_COMPUTE_64F, 8, 2048);
  CHECK(cudaMemset(g_in_b, 1, kCopy * 16));
  for (const char* name : {"copy_first", "copy_again"})
    in_case(name, kCopy * 16.0, 1 << 20, [] { copy_kernel<<<kCopy / 256, 256>>>(static_cast<float4*>(g_out), static_cast<float4*>(g_in_b), kCopy); });
  in_case("fma_vector", 2.0 * 1024 * 256 * 1000, 1024 * 256 * 4, [] { fma_kernel<<<1024, 256>>>(static_cast<float*>(g_out), 1000, 1.0001f); });
  in_case("half2_vector", 4.0 * 1024 * 256 * 1000, 1024 * 256 * 4,
          [] { half2_kernel<<<1024, 256>>>(static_cast<__half2*>(g_out), 1000, __floats2half2_rn(0.9f, 0.5f)); });
}

static void run_threads() {
  float* out = nullptr;
  CHECK(cudaMalloc(&out, 4 * 1024 * 256));
  std::thread threads[2];
  for (int which = 0; which < 2; ++which) {
    threads[which] = std::thread([=] {
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int i = 0; i < 200; ++i) fma_kernel<<<256, 256, 0, stream>>>(out + which * 65536, which == 0 ? 64 : 192, 1.0001f);
      CHECK(cudaStreamSynchronize(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) fma_kernel<<<256, 256, 0, stream>>>(out, 32, 1.0001f);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
}

static void run_loop(int launches) {
  std::vector<double> times;
  for (int batch = 0; batch < 20; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches / 20; ++i) empty_kernel<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count() / (launches / 20));
  }
  std::sort(times.begin(), times.end());
  std::printf("us_per_launch %.3f\n", times[10]);
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "cases";
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  if (std::strcmp(mode, "cases") == 0) run_cases();
  if (std::strcmp(mode, "threads") == 0) run_threads();
  if (std::strcmp(mode, "loop") == 0) run_loop(count);
  if (std::strcmp(mode, "killed") == 0) {
    for (int i = 0; i < count; ++i) empty_kernel<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    sleep(3);
    raise(SIGKILL);
  }
  CHECK(cudaDeviceSynchronize());
  return 0;
}
