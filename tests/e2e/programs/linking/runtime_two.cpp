// Three CUDA runtimes in one process: the program's own (13), and those of two plugins, both of version 12, one under
// its own file name as wheels install it. A kernel is known only to its own runtime, so each launch shows that it
// reached the right one. Functions found with dlsym, as Python's ctypes does it, are those of the given library.
// Env: PROF_GPU=off
// Link: runtime
// Expect: status 0
// Expect: log 1: 1 kernel_launch(own), 2 kernel_launch(first), 3 kernel_launch(second), 4 kernel_launch(third), 10 api_call(cudaLaunchKernel), 0 lost, whole
// Expect: log 1: 3 api_call(cudaMalloc), 2 api_call(cudaMallocHost), 2 alloc_call(cuMemAllocHost_v2), counter unhooked_launch_api 0
#include "tests/e2e/programs/linking/runtime_program.h"

#include <dlfcn.h>

static void stub() {}

static int plugin(const char* file, const char* name, int launches) {
  void* const opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1000;
  }
  return reinterpret_cast<int (*)(const char*, int)>(dlsym(opened, "run_plugin"))(name, launches);
}

// Two lookups give the same result, whichever function comes first.
static int asked(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return 2000;
  void* const found = dlsym(library, "cudaMallocHost");
  if (found == nullptr || found != dlsym(library, "cudaMallocHost") || dlsym(library, "cudaNoSuch") != nullptr)
    return 2001;
  void* memory = nullptr;
  return static_cast<int>(reinterpret_cast<decltype(&cudaMallocHost)>(found)(&memory, 64));
}

int main() {
  const void* const own = runtime_program::kernel(stub, "own");
  if (plugin("libruntime_plugin_12.so", "first", 2) != 0) return 1;
  if (plugin("libruntime_plugin_copy.so", "second", 3) != 0) return 2;
  if (plugin("libruntime_plugin_12.so", "third", 4) != 0) return 7;
  RUNTIME_CHECK(cudaLaunchKernel(own, dim3(1), dim3(32), nullptr, 0, nullptr));
  if (asked("libcudart.so.12") != 0) return 3;
  if (asked("libcudart-copy.so.12") != 0) return 4;
  if (dlsym(RTLD_DEFAULT, "cudaLaunchKernel") == nullptr || dlsym(RTLD_NEXT, "cudaLaunchKernel") == nullptr) return 5;
  if (dlsym(dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD), "cudaMallocHost") ==
      dlsym(dlopen("libcudart-copy.so.12", RTLD_NOW | RTLD_NOLOAD), "cudaMallocHost")) {
    return 6;
  }
  return 0;
}
