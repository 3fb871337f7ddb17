// The cost that a hook adds to a launch of the real driver, measured in one process: launches through the driver's own
// cuLaunchKernel, past every preloaded library, and through the one that dlsym() returns, in turn.
//
//   hook_cost [ROUNDS [LAUNCHES [TOUCHED_KIB]]]
//
// A round is a batch of LAUNCHES direct launches and one of hooked launches; their order alternates, and the GPU is
// idle before each. The kernel is as short as possible and the batches fit into the driver's queue, so that no launch
// waits for the GPU. Before each launch, and not in its time, TOUCHED_KIB of other data are read, as by a program that
// computes between its launches. Prints one line of JSON: ns per launch, one number per round.
#include "../../bench/direct_symbol.h"
#include "check.cuh"

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <vector>

extern "C" __global__ void empty_kernel() {}

namespace {

using Launch = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**);

uint64_t now_ns() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

struct Program {
  CUfunction function = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<uint64_t> other;
  uint64_t seen = 0;

  void touch() {
    for (size_t i = 0; i < other.size(); i += 8) seen += other[i];
  }

  double batch(Launch launch, long launches) {
    CHECK(cudaStreamSynchronize(stream));
    uint64_t failed = 0, spent = 0;
    if (other.empty()) {
      const uint64_t begin = now_ns();
      for (long i = 0; i < launches; ++i) failed |= launch(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
      spent = now_ns() - begin;
    } else {
      for (long i = 0; i < launches; ++i) {
        touch();
        const uint64_t begin = now_ns();
        failed |= launch(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
        spent += now_ns() - begin;
      }
    }
    if (failed != 0) {
      std::fprintf(stderr, "hook_cost: a launch failed\n");
      std::exit(100);
    }
    return static_cast<double>(spent) / static_cast<double>(launches);
  }
};

void print(const char* name, const std::vector<double>& values, const char* end) {
  std::printf("\"%s\": [", name);
  for (size_t i = 0; i < values.size(); ++i) std::printf("%s%.2f", i == 0 ? "" : ", ", values[i]);
  std::printf("]%s", end);
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 400, launches = argc > 2 ? std::atol(argv[2]) : 500;
  const size_t touched_kib = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr || rounds <= 0 || launches <= 0) return 2;
  const auto direct = reinterpret_cast<Launch>(prof::bench::direct_symbol(driver, "cuLaunchKernel"));
  const auto hooked = reinterpret_cast<Launch>(dlsym(driver, "cuLaunchKernel"));
  if (direct == nullptr || hooked == nullptr) return 2;
  Program program;
  program.other.assign(touched_kib * 128, 1);
  CHECK(cudaStreamCreateWithFlags(&program.stream, cudaStreamNonBlocking));
  CHECK(cudaGetFuncBySymbol(&program.function, reinterpret_cast<const void*>(empty_kernel)));
  program.batch(direct, launches), program.batch(hooked, launches);
  std::vector<double> by_direct, by_hooked;
  for (long round = 0; round < rounds; ++round) {
    for (const bool first : {true, false}) {
      const bool hook = first == (round % 2 == 0);
      (hook ? by_hooked : by_direct).push_back(program.batch(hook ? hooked : direct, launches));
    }
  }
  CHECK(cudaStreamSynchronize(program.stream));
  std::printf("{\"hook_is_another_function\": %s, ", direct == hooked ? "false" : "true");
  print("direct", by_direct, ", ");
  print("hooked", by_hooked, "}\n");
  return program.seen == 1 ? 3 : 0;
}
