// Shared by the cases of hook_bench: the simulated GPU, called directly and through the hook, and the printing of a
// measurement.
#pragma once

#include "tests/bench/direct_symbol.h"
#include "tests/bench/hook_cases.h"

#include <cuda.h>

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace prof::bench {

// The recorder's thread ends when it has closed the log.
inline bool recorder_has_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "libprof") return true;
  }
  return false;
}

struct Gpu {
  using Launch = decltype(&cuLaunchKernel);
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  Launch hooked = nullptr, direct = nullptr;
  CUfunction function = nullptr;
  CUcontext context = nullptr;

  template <class F> F get(const char* name) {
    const F found = reinterpret_cast<F>(dlsym(library, name));
    if (found == nullptr) fail(name);
    return found;
  }
  static void check(CUresult result) {
    if (result != CUDA_SUCCESS) fail("a call of the simulated driver failed");
  }
  Gpu() {
    if (library == nullptr) fail("no simulated driver");
    hooked = get<Launch>("cuLaunchKernel");
    direct = reinterpret_cast<Launch>(direct_symbol(library, "cuLaunchKernel"));
    if (direct == nullptr || direct == hooked) fail("cuLaunchKernel is not hooked: nothing to measure");
    CUdevice device = 0;
    CUmodule module = nullptr;
    check(get<decltype(&cuInit)>("cuInit")(0));
    check(get<decltype(&cuDeviceGet)>("cuDeviceGet")(&device, 0));
    check(get<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, device));
    make_current();
    check(get<decltype(&cuModuleLoadData)>("cuModuleLoadData")(&module, "image"));
    check(get<decltype(&cuModuleGetFunction)>("cuModuleGetFunction")(&function, module, "bench_kernel"));
  }
  void make_current() { check(get<decltype(&cuCtxSetCurrent)>("cuCtxSetCurrent")(context)); }
  CUstream stream() {
    CUstream made = nullptr;
    check(get<decltype(&cuStreamCreate)>("cuStreamCreate")(&made, CU_STREAM_NON_BLOCKING));
    return made;
  }
};

inline void print_row(const char* what, const Spread& s) {
  std::printf("  %-34s %8.1f ns   (10-90 %%: %.1f-%.1f)\n", what, s.median, s.low, s.high);
}

// p99.9 of single calls includes one reading of the clock and the driver itself; the median of direct calls is
// subtracted.
inline void print_singles(const Comparison& c) {
  const double ns = ns_per_tick();
  const auto at = [ns](const Histogram& h, double share) { return static_cast<double>(h.quantile(share)) * ns; };
  std::printf("  single calls, ns %19s %8s %8s %8s %10s\n", "p50", "p99", "p99.9", "p99.99", "largest");
  for (const auto& [name, h] : {std::pair<const char*, const Histogram*>{"direct", &c.direct},
                                {"hooked", &c.hooked},
                                {"nothing, as long as hooked", &c.nothing}}) {
    if (h->total() == 0) continue;
    std::printf("    %-30s %8.0f %8.0f %8.0f %8.0f %10.0f\n", name, at(*h, 0.5), at(*h, 0.99), at(*h, 0.999),
                at(*h, 0.9999), static_cast<double>(h->largest()) * ns);
  }
  std::printf("#tail %.1f\n#interrupted %.1f\n", at(c.hooked, 0.999) - at(c.direct, 0.5), at(c.nothing, 0.999));
}

// Single calls; and for hook_bench the mean cost that the hook adds and the number of calls.
inline void print_added(const Comparison& c) {
  print_singles(c);
  double mean = 0;
  for (const double ns : c.added_ns) mean += ns / static_cast<double>(c.added_ns.size());
  std::printf("#mean %.2f\n#calls %llu\n", mean, static_cast<unsigned long long>(c.hooked_calls));
}

}  // namespace prof::bench
