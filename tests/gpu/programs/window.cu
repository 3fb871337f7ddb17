// A launch loop before, inside and after the recording that cudaProfilerStart and cudaProfilerStop delimit: nanoseconds
// per launch in each. Prints "before NS inside NS after NS launches_inside N"; the fastest of ten batches each. With a
// number: that many recordings of ten launches, "before NS" and, after 1, 10, 100 … of them, "after_N NS".
#include "check.cuh"

#include <cuda_profiler_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

extern "C" __global__ void empty_kernel() {}

static double fastest(int batches, int launches) {
  double least = 1e9;
  for (int batch = 0; batch < batches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) empty_kernel<<<1, 1>>>();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    CHECK(cudaDeviceSynchronize());
    least = std::min(least, took.count() / launches);
  }
  return least;
}

int main(int argc, char** argv) {
  constexpr int kBatches = 10, kLaunches = 1000;  // fewer than the capacity of a stream's queue
  if (argc > 1) {
    fastest(2, kLaunches);
    std::printf("before %.1f", fastest(kBatches, kLaunches));
    for (int part = 1, next = 1; part <= std::atoi(argv[1]); ++part) {
      CHECK(cudaProfilerStart());
      fastest(1, 10);
      CHECK(cudaProfilerStop());
      fastest(1, 10);
      if (part != next) continue;
      std::printf(" after_%d %.1f", part, fastest(kBatches, kLaunches));
      next *= 10;
    }
    std::printf("\n");
    return 0;
  }
  fastest(2, kLaunches);
  const double before = fastest(kBatches, kLaunches);
  CHECK(cudaProfilerStart());
  const double inside = fastest(kBatches, kLaunches);
  CHECK(cudaProfilerStop());
  const double after = fastest(kBatches, kLaunches);
  std::printf("before %.1f inside %.1f after %.1f launches_inside %d\n", before, inside, after, kBatches * kLaunches);
  return 0;
}
