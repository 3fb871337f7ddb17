// The cases of hook_bench: what is measured (hook_cases.cpp and library_cases.cpp, in a process under libprof.so) and
// the limits (hook_bench.cpp, the process that starts it).
#pragma once

#include "tests/bench/measure.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace prof::bench {

struct Case {
  std::string_view name, title;
  int threads;
  bool one_stream, disk_writer;
  enum What { Launch, Cold, Runtime, Nvtx, Everything, Threads, Library, FirstSights } what;
  bool gates;
  const char* depth = "counts";  // PROF_DEPTH: a completion mark is two calls of the driver and not part of a hook
  const char* stacks = "off";    // PROF_STACKS
  int frames = 0;                // so many frames, in addition to the benchmark's own, below which it launches
  int places = 1;                // number of different stacks, used in turn
  size_t other_bytes = 0;        // bytes that the program writes between two calls
  enum When { During, Over, Full } when = During;  // the recording was stopped; it ended because its log was full
};
constexpr Case kCases[] = {
    {"launch_1", "cuLaunchKernel, 1 thread", 1, false, false, Case::Launch, true},
    {"launch_1_writer", "cuLaunchKernel, 1 thread, beside a disk writer", 1, false, true, Case::Launch, true},
    {"launch_8", "cuLaunchKernel, 8 threads, a stream each", 8, false, false, Case::Launch, true},
    {"launch_shared", "cuLaunchKernel, 4 threads on one stream", 4, true, false, Case::Launch, false},
    {"launch_1_marks", "cuLaunchKernel, 1 thread, with completion marks (the default)", 1, false, false, Case::Launch,
     false, "marks"},
    {"launch_over", "cuLaunchKernel, 1 thread, after the recording was stopped", 1, false, false, Case::Launch, true,
     "counts", "off", 0, 1, 0, Case::Over},
    {"launch_full", "cuLaunchKernel, 1 thread, after the log was full", 1, false, false, Case::Launch, true, "counts",
     "off", 0, 1, 0, Case::Full},
    {"launch_cold", "cuLaunchKernel, 1 thread, after 256 KiB of other code and 2 MiB of other data", 1, false, false,
     Case::Cold, false, "counts", "off", 0, 1, size_t{2} << 20},
    {"launch_colder", "cuLaunchKernel, 1 thread, after 256 KiB of other code and 12 MiB of other data", 1, false, false,
     Case::Cold, false, "counts", "off", 0, 1, size_t{12} << 20},
    {"runtime", "cudaGetDeviceCount, 1 thread", 1, false, false, Case::Runtime, false},
    {"runtime_cold", "cudaGetDeviceCount, after 256 KiB of other code and 2 MiB of other data", 1, false, false,
     Case::Runtime, false, "counts", "off", 0, 1, size_t{2} << 20},
    {"runtime_colder", "cudaGetDeviceCount, after 256 KiB of other code and 12 MiB of other data", 1, false, false,
     Case::Runtime, false, "counts", "off", 0, 1, size_t{12} << 20},
    {"stack_10", "cuLaunchKernel with its stack, 10 frames", 1, false, false, Case::Launch, false, "counts", "launch",
     1},
    {"stack_31", "cuLaunchKernel with its stack, 31 frames", 1, false, false, Case::Launch, true, "counts", "launch",
     22},
    {"stack_31_places", "cuLaunchKernel with its stack, 31 frames, 64 places in turn", 1, false, false, Case::Launch,
     false, "counts", "launch", 22, 64},
    {"threads_off", "first launch of a thread, without stacks", 1, false, false, Case::Threads, false},
    {"threads_stacks", "first launch of a thread, with its stack", 1, false, false, Case::Threads, true, "counts",
     "launch", 22},
    {"first_sights", "stacks that are new, below 22 frames", 1, false, false, Case::FirstSights, false, "counts",
     "launch", 22},
    {"nvtx", "nvtxRangePushA + nvtxRangePop", 1, false, false, Case::Nvtx, true},
    {"library", "cublasSgemm_v2 with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_lt", "cublasLtMatmul with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_sparse", "cusparseSpMM with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_convolution", "cudnnConvolutionForward with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_descriptors", "cudnnSetTensor4dDescriptor with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_plan", "cudnnBackendExecute with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_fft", "cufftExecC2C with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_collective", "ncclAllReduce with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_off", "cublasSgemm_v2 linked, without PROF_LIBS", 1, false, false, Case::Library, false},
    {"everything", "launches with GPU times from the simulated CUPTI", 1, false, false, Case::Everything, true,
     "marks"},
};

// Measures the case and prints rows for readers, and lines "#mean …" and so on for the process that started this one.
int run_case(const Case& which);
void bench_library(const Case& which);  // library_cases.cpp; all others are in hook_cases.cpp

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "hook_bench: %s\n", what);
  std::exit(2);
}

// An idle processor takes some hundred milliseconds to reach its usual clock rate.
inline void wake_processor() {
  const uint64_t until = clock_ns(CLOCK_MONOTONIC) + 500'000'000;
  while (clock_ns(CLOCK_MONOTONIC) < until) {}
}

}  // namespace prof::bench
