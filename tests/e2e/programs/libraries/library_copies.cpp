// Seven copies of one release of cuFFT and seven of the CUDA runtime, as wheels and closed programs contain them: each
// function is that of the copy from which it was requested. Calls of the first four copies are recorded, the others
// work; their GPU operations are recorded in any case.
// Env: PROF_LIBS=1 PROF_GPU=off
// Expect: status 0
// Expect: log 1: 4 library_call, 7 kernel_launch(vector_fft), 4 api_call(cudaMallocHost), 7 alloc_call(cuMemAllocHost_v2), 0 lost, whole
// Expect: log 1: 1 library_call(cufftExecC2C(points=64, A=complex64, C=complex64, direction=forward))
// Expect: log 1: 1 library_call(cufftExecC2C(points=512, A=complex64, C=complex64, direction=forward))
#include "tests/e2e/programs/libraries/library_program.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fs = std::filesystem;

static fs::path path_of(const char* library) {
  const auto* const opened = static_cast<const link_map*>(dlopen(library, RTLD_NOW | RTLD_LOCAL));
  return opened != nullptr ? opened->l_name : "";
}

static void* open_copy(const fs::path& file, const fs::path& copy) {
  fs::copy_file(file, copy);
  void* const opened = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  return opened;
}

template <class Function> static Function get(void* library, const char* name) {
  return reinterpret_cast<Function>(library != nullptr ? dlsym(library, name) : nullptr);
}

int main() {
  sim_program::make_context();
  const fs::path fft_file = path_of("libcufft.so.11"), runtime_file = path_of("libcudart.so.12");
  if (fft_file.empty() || runtime_file.empty()) return 1;
  char folder[] = "/tmp/prof_copies.XXXXXX";
  if (mkdtemp(folder) == nullptr) return 2;
  int failed = 0;
  for (int i = 0; i < 7; ++i) {
    const std::string number = std::to_string(i);
    void* const fft = open_copy(fft_file, fs::path(folder) / ("fft" + number + ".so"));
    void* const runtime = open_copy(runtime_file, fs::path(folder) / ("runtime" + number + ".so"));
    const auto plan = get<decltype(&cufftPlan1d)>(fft, "cufftPlan1d");
    const auto transform = get<decltype(&cufftExecC2C)>(fft, "cufftExecC2C");
    const auto allocate = get<int (*)(void**, size_t)>(runtime, "cudaMallocHost");
    int made = 0;
    void* memory = nullptr;
    if (plan == nullptr || transform == nullptr || allocate == nullptr) {
      failed = 3;
    } else if (plan(&made, 64 << i, 0x29, 1) != 0 || transform(made, nullptr, nullptr, -1) != 0) {
      failed = 4;
    } else if (allocate(&memory, 64) != 0 || memory == nullptr) {
      failed = 5;
    }
    if (failed != 0) break;
  }
  fs::remove_all(folder);
  return failed;
}
