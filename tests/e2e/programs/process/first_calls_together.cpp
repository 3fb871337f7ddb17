// Several threads make the first CUDA calls of the process together. All launches are recorded with their GPU times,
// however the threads meet; at most calls before the first launch are lost, and they are counted.
// Env: SIM="first_call 200"
// Shell: {run} 2 && {run} 8 && {run} 2 created
// Expect: status 0
// Expect: stderr empty
// Expect: logs 3
// Expect: log 1: 200 kernel_launch, 200 kernel_run, whole, counter launches_before_gpu_times 0
// Expect: log 2: 800 kernel_launch, 800 kernel_run, whole, counter launches_before_gpu_times 0
// Expect: log 3: 200 kernel_launch, 200 kernel_run, whole, counter launches_before_gpu_times 0
#include "tests/sim/sim_program.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace sim_program;

int main(int count, char** arguments) {
  const int threads = std::atoi(arguments[1]);
  const bool created = count > 2;  // each thread makes a context of its own
  std::atomic<int> ready{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      SIM_CHECK(cuInit(0));
      CUdevice device = 0;
      CUcontext context = nullptr;
      CUmodule module = nullptr;
      CUfunction function = nullptr;
      SIM_CHECK(cuDeviceGet(&device, 0));
      if (created) {
        SIM_CHECK(cuCtxCreate(&context, nullptr, 0, device));
      } else {
        SIM_CHECK(cuDevicePrimaryCtxRetain(&context, device));
        SIM_CHECK(cuCtxSetCurrent(context));
      }
      SIM_CHECK(cuModuleLoadData(&module, "image"));
      SIM_CHECK(cuModuleGetFunction(&function, module, "work"));
      for (int j = 0; j < 100; ++j) SIM_CHECK(launch(function));
      SIM_CHECK(cuCtxSynchronize());
    });
  }
  for (std::thread& thread : all) thread.join();
}
