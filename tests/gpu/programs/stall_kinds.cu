// Kernels that each wait for one known reason on one known line, for the step `stall_kinds` of scripts/gpu-check. Each
// runs for half a second. The line has the comment "here: KERNEL", except for the branches, which are in several lines.
//
//   stall_kinds      prints a checksum
#include "check.cuh"

#include <chrono>

// All 32 lanes read the same bank of shared memory, and each read depends on the one before it.
extern "C" __global__ void bank_conflict_kernel(unsigned* out, int steps) {
  __shared__ unsigned table[32 * 32];
  for (unsigned i = threadIdx.x; i < 32 * 32; i += blockDim.x) table[i] = (i + 7 * 32) % (32 * 32);
  __syncthreads();
  unsigned at = threadIdx.x % 32 * 32;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) at = table[at];  // here: bank_conflict_kernel
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// One warp works, and the other seven wait for it.
extern "C" __global__ void barrier_kernel(float* out, int rounds) {
  float x = threadIdx.x;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) {
#pragma unroll 1
      for (int i = 0; i < 200; ++i) asm volatile("fma.rn.f32 %0, %0, %0, 0f3f000000;" : "+f"(x));
    }
    __syncthreads();  // here: barrier_kernel
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Each lane goes its own way through a tree of branches that the compiler cannot replace by selects.
extern "C" __global__ void divergent_kernel(unsigned* out, int steps) {
  unsigned x = threadIdx.x * 2654435761u;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    switch (x >> 29) {
      case 0: asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x)); break;
      case 1: asm volatile("xor.b32 %0, %0, 0x5bd1e995; mad.lo.u32 %0, %0, 22695477, 1;" : "+r"(x)); break;
      case 2: asm volatile("not.b32 %0, %0; mad.lo.u32 %0, %0, 1103515245, 12345;" : "+r"(x)); break;
      case 3: asm volatile("brev.b32 %0, %0; mad.lo.u32 %0, %0, 214013, 2531011;" : "+r"(x)); break;
      case 4: asm volatile("shf.l.wrap.b32 %0, %0, %0, 7; mad.lo.u32 %0, %0, 134775813, 1;" : "+r"(x)); break;
      case 5: asm volatile("add.u32 %0, %0, 77; mad.lo.u32 %0, %0, 69069, 5;" : "+r"(x)); break;
      case 6: asm volatile("sub.u32 %0, %0, 99; mad.lo.u32 %0, %0, 16807, 9;" : "+r"(x)); break;
      default: asm volatile("popc.b32 %0, %0; mad.lo.u32 %0, %0, 0x9e3779b1, 3;" : "+r"(x)); break;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Sixteen warps a multiprocessor with four independent matrix products each: the tensor cores are always in use.
extern "C" __global__ void tensor_kernel(float* out, int steps) {
  const unsigned a = 0x3c003c00u * (threadIdx.x & 1), b = 0x38003800u;
  float c[4][4] = {};
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      float* const t = c[tile];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
          : "+f"(t[0]), "+f"(t[1]), "+f"(t[2]), "+f"(t[3])
          : "r"(a), "r"(b));  // here: tensor_kernel (nvcc gives an asm statement its last line)
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = c[0][0] + c[1][1] + c[2][2] + c[3][3];
}

// One warp a block, and each operation needs the result of the one before it: only the latency counts.
extern "C" __global__ void latency_kernel(float* out, int steps) {
  float x = threadIdx.x;
#pragma unroll 8
  for (int i = 0; i < steps; ++i) asm volatile("fma.rn.f32 %0, %0, %0, 0f3f000000;" : "+f"(x));  // here: latency_kernel
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// A copy, limited by the bandwidth of the memory.
extern "C" __global__ void bandwidth_kernel(const float* in, float* out, size_t count) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
#pragma unroll 1
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const float x = in[i];
    out[i] = x * 2;  // here: bandwidth_kernel
  }
}

template <class Launch> static void for_half_a_second(Launch&& launch) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end) {
    launch();
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaGetLastError());
}

int main() {
  constexpr size_t kCount = size_t{64} << 20;
  float *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, kCount * sizeof *in));
  CHECK(cudaMalloc(&out, kCount * sizeof *out));
  CHECK(cudaMemset(in, 0, kCount * sizeof *in));
  auto* const words = reinterpret_cast<unsigned*>(out);
  for_half_a_second([&] { latency_kernel<<<132, 32>>>(out, 20'000); });  // samples are taken from here on
  for_half_a_second([&] { bank_conflict_kernel<<<132, 64>>>(words, 10'000); });
  for_half_a_second([&] { barrier_kernel<<<264, 256>>>(out, 500); });
  for_half_a_second([&] { divergent_kernel<<<264, 256>>>(words, 3'000); });
  for_half_a_second([&] { tensor_kernel<<<132, 512>>>(out, 5'000); });
  for_half_a_second([&] { latency_kernel<<<132, 32>>>(out, 100'000); });
  for_half_a_second([&] { bandwidth_kernel<<<2112, 256>>>(in, out, kCount); });
  float last = 0;
  CHECK(cudaMemcpy(&last, out, sizeof last, cudaMemcpyDeviceToHost));
  std::printf("checksum %g\n", last);
}
