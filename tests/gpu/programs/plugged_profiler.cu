// Starts a profiler (late_profiler.cpp) before its first launch or after its 1,000th, and prints CUPTI's result and how
// many of the next 1,000 kernels it counted. With FIRST, another profiler has counted the first 1,000, stopped, and
// detached from the process.
//
//   plugged_profiler early|late PROFILER CUPTI [FIRST ITS_CUPTI]      CUPTI: - if the profiler has one inside
#include "check.cuh"

#include <dlfcn.h>

#include <cstring>

__global__ void one_kernel() {}

static void launch(int times) {
  for (int i = 0; i < times; ++i) one_kernel<<<1, 32>>>();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

struct Profiler {
  explicit Profiler(const char* path) : library(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library != nullptr) return;
    std::fprintf(stderr, "plugged_profiler: %s\n", dlerror());
    std::exit(3);
  }
  template <class Function> Function find(const char* name) const { return reinterpret_cast<Function>(dlsym(library, name)); }
  int start(const char* cupti) const { return find<int (*)(const char*)>("profiler_start")(cupti); }
  int stop(long* kernels) const { return find<int (*)(long*)>("profiler_stop")(kernels); }
  int end() const { return find<int (*)()>("profiler_end")(); }

  void* library;
};

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) return 2;
  long before = 0, kernels = 0;
  if (argc == 6) {
    const Profiler first(argv[4]);
    if (first.start(argv[5]) != 0) return 4;
    launch(1000);
    if (first.stop(&before) != 0 || first.end() != 0) return 5;
  }
  if (std::strcmp(argv[1], "late") == 0) launch(1000);
  const Profiler profiler(argv[2]);
  const int started = profiler.start(argv[3]);
  launch(1000);
  const int stopped = profiler.stop(&kernels);
  launch(1000);
  std::printf("{\"start\": %d, \"stop\": %d, \"kernels\": %ld, \"before\": %ld}\n", started, stopped, kernels, before);
  return 0;
}
