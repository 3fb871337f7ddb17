// A target for tools that attach to a running program: launches small kernels for 12 s, about 1,000 per second.
#include "check.cuh"

#include <time.h>

#include <chrono>

__global__ void add_one(int* value) { atomicAdd(value, 1); }

int main() {
  int* value = nullptr;
  CHECK(cudaMalloc(&value, sizeof *value));
  CHECK(cudaMemset(value, 0, sizeof *value));
  int launches = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(12);
  for (; std::chrono::steady_clock::now() < end; ++launches) {
    add_one<<<1, 1>>>(value);
    CHECK(cudaGetLastError());
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  int found = 0;
  CHECK(cudaMemcpy(&found, value, sizeof found, cudaMemcpyDeviceToHost));
  std::printf("launched as often as counted: %s\n", found == launches ? "yes" : "no");
}
