// Kernels with known memory traffic and use of tensor cores, for the step `sampling` of scripts/gpu-check.
//
//   sampling cases [DEVICE]   five times: idle for 5 ms, a kernel that copies 1 GiB eight times, idle, a kernel that
//                             uses only tensor cores, idle; in NVTX ranges "copy" and "tensor"; then 200 launches of an
//                             empty kernel. Prints a checksum
//   sampling loop N           N launches of an empty kernel, then 100 copies of 64 MiB: prints "us_per_launch X
//                             us_per_copy Y", the median of 20 batches each
#include "check.cuh"

#include <mma.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

extern "C" __global__ void empty_kernel() {}

extern "C" __global__ void copy_kernel(float4* to, const float4* from, size_t count, int times) {
  for (int k = 0; k < times; ++k) {
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count;
         i += static_cast<size_t>(gridDim.x) * blockDim.x)
      to[i] = from[i];
  }
}

extern "C" __global__ void tensor_kernel(float* to, int rounds) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c[4];
  fill_fragment(a, __float2half(1.0f / 1024));
  fill_fragment(b, __float2half(1.0f / 1024));
  for (auto& part : c) fill_fragment(part, 0.0f);
  for (int i = 0; i < rounds; ++i) {
    for (auto& part : c) mma_sync(part, a, b, part);
  }
  if (blockIdx.x == 0 && threadIdx.x < 32) {
    for (int part = 0; part < 4; ++part) store_matrix_sync(to + part * 256, c[part], 16, mem_row_major);
  }
}

constexpr size_t kBytes = size_t{1} << 30;
static float4 *g_from, *g_to;
static int g_processors;

static void idle() { usleep(5000); }

static void run_cases() {
  for (int i = 0; i < 5; ++i) {
    idle();
    nvtxRangePushA("copy");
    copy_kernel<<<8 * g_processors, 512>>>(g_to, g_from, kBytes / sizeof(float4), 8);
    CHECK(cudaDeviceSynchronize());
    nvtxRangePop();
    idle();
    nvtxRangePushA("tensor");
    tensor_kernel<<<2 * g_processors, 256>>>(reinterpret_cast<float*>(g_to), 200000);
    CHECK(cudaDeviceSynchronize());
    nvtxRangePop();
  }
  idle();
  for (int i = 0; i < 200; ++i) empty_kernel<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned char> host(1024);
  CHECK(cudaMemcpy(host.data(), g_to, host.size(), cudaMemcpyDeviceToHost));
  unsigned long long sum = 1469598103934665603ull;
  for (const unsigned char byte : host) sum = (sum ^ byte) * 1099511628211ull;
  std::printf("%016llx\n", sum);
}

template <class Work> static double middle(int count, const Work& work) {
  std::vector<double> times;
  for (int batch = 0; batch < 20; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count / 20; ++i) work();
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count() / (count / 20));
  }
  std::sort(times.begin(), times.end());
  return times[10];
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "cases";
  const int device = argc > 2 && std::strcmp(mode, "cases") == 0 ? std::atoi(argv[2]) : 0;
  CHECK(cudaSetDevice(device));
  CHECK(cudaDeviceGetAttribute(&g_processors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaMalloc(&g_from, kBytes));
  CHECK(cudaMalloc(&g_to, kBytes));
  CHECK(cudaMemset(g_from, 1, kBytes));
  CHECK(cudaDeviceSynchronize());
  if (std::strcmp(mode, "cases") == 0) run_cases();
  if (std::strcmp(mode, "loop") == 0) {
    const int count = argc > 2 ? std::atoi(argv[2]) : 20000;
    const double launch = middle(count, [] { empty_kernel<<<1, 32>>>(); });
    const double copy = middle(
        100, [] { copy_kernel<<<8 * g_processors, 512>>>(g_to, g_from, (size_t{64} << 20) / sizeof(float4), 1); });
    std::printf("us_per_launch %.3f us_per_copy %.3f\n", launch, copy);
  }
  CHECK(cudaDeviceSynchronize());
  return 0;
}
