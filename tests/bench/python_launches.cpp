// The library that python_stack_bench.py calls from Python code of a known depth: launches through the hook, timed
// without the interpreter.
#include "tests/bench/measure.h"

#include <cuda.h>
#include <dlfcn.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using prof::bench::ticks;

decltype(&cuLaunchKernel) g_launch = nullptr;
CUfunction g_function = nullptr;
prof::bench::Histogram g_ones;

template <class F> F get(void* library, const char* name) { return reinterpret_cast<F>(dlsym(library, name)); }

void launch() { g_launch(g_function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); }

}  // namespace

// 0: ready.
EXPORTED int open_gpu() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return 1;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  g_launch = get<decltype(&cuLaunchKernel)>(library, "cuLaunchKernel");
  return get<decltype(&cuInit)>(library, "cuInit")(0) ||
         get<decltype(&cuDevicePrimaryCtxRetain)>(library, "cuDevicePrimaryCtxRetain")(&context, 0) ||
         get<decltype(&cuCtxSetCurrent)>(library, "cuCtxSetCurrent")(context) ||
         get<decltype(&cuModuleLoadData)>(library, "cuModuleLoadData")(&module, "image") ||
         get<decltype(&cuModuleGetFunction)>(library, "cuModuleGetFunction")(&g_function, module, "bench_kernel");
}

// ns per launch, all from one place.
EXPORTED double batch(int calls) { return prof::bench::batch_ns(calls, launch); }

// One launch, timed alone: the time of the interpreter between two launches is excluded, its effect on the caches is
// not.
EXPORTED void one() {
  const uint64_t begin = ticks();
  launch();
  g_ones.add(ticks() - begin);
}

// ns per launch, the median since the last call.
EXPORTED double median_of_ones() {
  const double median = static_cast<double>(g_ones.quantile(0.5)) * prof::bench::ns_per_tick();
  g_ones = {};
  return median;
}
