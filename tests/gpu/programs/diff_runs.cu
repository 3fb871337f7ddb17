// Five kernels with five different bottlenecks, launched in turn; one of them can be given more work. For `prof diff`:
// the same program recorded many times, and with one kernel slower. The amount of work is counted, not timed, so a
// change of clock rates between two runs changes both.
//
//   diff_runs [PER_MILLE]     work of `multiply`, 1000 by default
#include "check.cuh"

#include <cstdlib>

namespace {

constexpr int kBlocks = 132, kThreads = 256, kElements = 1 << 24, kLinks = 1 << 14;

}  // namespace

__global__ void warm_up() { spin_for(2'000'000); }
__global__ void multiply(float* out, int steps) {
  float a = threadIdx.x, b = 0.999f;
  for (int i = 0; i < steps; ++i) a = fmaf(a, b, 1e-3f);
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void copy(const float4* from, float4* to, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = from[i];
}
__global__ void follow(const int* next, int* out, int steps) {
  int at = threadIdx.x;
  for (int i = 0; i < steps; ++i) at = next[at];
  out[threadIdx.x] = at;
}
__global__ void add_up(const float* from, float* sum, int count) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += from[i];
  atomicAdd(sum, mine);
}
__global__ void curve(float* out, int steps) {
  float a = threadIdx.x;
  for (int i = 0; i < steps; ++i) a = __sinf(a) + 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

int main(int argc, char** argv) {
  const int steps = 20'000 * (argc > 1 ? std::atoi(argv[1]) : 1000) / 1000;
  float *from, *to, *sum;
  int *next, *out;
  CHECK(cudaMalloc(&from, kElements * sizeof(float)));
  CHECK(cudaMalloc(&to, kElements * sizeof(float)));
  CHECK(cudaMalloc(&sum, sizeof(float)));
  CHECK(cudaMalloc(&next, kLinks * sizeof(int)));
  CHECK(cudaMalloc(&out, kThreads * sizeof(int)));
  CHECK(cudaMemset(from, 0, kElements * sizeof(float)));
  CHECK(cudaMemset(next, 0, kLinks * sizeof(int)));
  for (int i = 0; i < 20; ++i) warm_up<<<kBlocks, kThreads>>>();
  for (int i = 0; i < 60; ++i) {
    multiply<<<kBlocks, kThreads>>>(to, steps);
    copy<<<4 * kBlocks, kThreads>>>(reinterpret_cast<const float4*>(from), reinterpret_cast<float4*>(to), kElements / 4);
    follow<<<1, kThreads>>>(next, out, 2000);
    add_up<<<4 * kBlocks, kThreads>>>(from, sum, kElements);
    curve<<<kBlocks, kThreads>>>(to, 2'000);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
}
