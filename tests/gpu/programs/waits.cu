// Two streams that wait for each other by words of memory, by an event and by a host function, for scripts/gpu-check:
// the dependencies are known in advance. Prints the rounds, or "no stream memory operations" if the device has none.
#include "check.cuh"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

extern "C" __global__ void first_kernel() { spin_for(200'000); }
extern "C" __global__ void second_kernel() { spin_for(50'000); }
extern "C" __global__ void recorded_kernel() { spin_for(200'000); }
extern "C" __global__ void waiting_kernel() { spin_for(50'000); }

// The program is not linked with libcuda.so.
template <class Function> static Function driver_function(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(driver, name));
}

static void driver_ok(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "driver: error %d\n", static_cast<int>(result));
  std::exit(100);
}

int main() {
  constexpr unsigned kRounds = 10;
  const auto write =
      driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>("cuStreamWriteValue32_v2");
  const auto wait =
      driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>("cuStreamWaitValue32_v2");
  if (write == nullptr || wait == nullptr) {
    std::printf("no stream memory operations\n");
    return 0;
  }
  cudaStream_t one, two;
  CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  cudaEvent_t event;  // one event for all rounds: it is recorded again each time
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  void* word = nullptr;
  CHECK(cudaMalloc(&word, sizeof(unsigned)));
  CHECK(cudaMemset(word, 0, sizeof(unsigned)));
  CHECK(cudaDeviceSynchronize());
  const auto address = reinterpret_cast<CUdeviceptr>(word);
  for (unsigned round = 1; round <= kRounds; ++round) {
    first_kernel<<<1, 1, 0, one>>>();
    driver_ok(write(one, address, round, 0));
    driver_ok(wait(two, address, round, CU_STREAM_WAIT_VALUE_GEQ));
    second_kernel<<<1, 1, 0, two>>>();
    CHECK(cudaDeviceSynchronize());
    recorded_kernel<<<1, 1, 0, two>>>();
    CHECK(cudaEventRecord(event, two));
    CHECK(cudaStreamWaitEvent(one, event, 0));
    waiting_kernel<<<1, 1, 0, one>>>();
    CHECK(cudaDeviceSynchronize());
    first_kernel<<<1, 1, 0, one>>>();
    CHECK(cudaLaunchHostFunc(
        one, [](void*) {}, nullptr));
    second_kernel<<<1, 1, 0, one>>>();
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("rounds %u\n", kRounds);
  return 0;
}
