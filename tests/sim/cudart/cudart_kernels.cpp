// See cudart_kernels.h. Also: functions that nvcc's code calls around <<<>>> and that are not in the runtime API.
#include "tests/sim/cudart/cudart_kernels.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/sim/cudart/cudart_driver.h"

namespace sim {
namespace {

struct Kernel {
  void** image = nullptr;
  std::string name;
  CUkernel loaded = nullptr;
};

struct Registry {
  std::mutex mutex;
  std::map<const void*, Kernel> kernels;
  std::map<void**, CUlibrary> libraries;
};
Registry& registry() {
  static Registry* const one = new Registry;
  return *one;
}

struct Call {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<Call> tl_calls;

}  // namespace

cudaError_t kernel_of(const void* stub, CUfunction* out) {
  Registry& all = registry();
  std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.kernels.find(stub);
  if (found == all.kernels.end()) return cudaErrorInvalidDeviceFunction;
  Kernel& kernel = found->second;
  if (kernel.loaded == nullptr) {
    CUlibrary& library = all.libraries[kernel.image];
    if (library == nullptr) {
      const CUresult result =
          driver().cuLibraryLoadData(&library, kernel.image, nullptr, nullptr, 0, nullptr, nullptr, 0);
      if (result != CUDA_SUCCESS) return error_of(result);
    }
    const CUresult result = driver().cuLibraryGetKernel(&kernel.loaded, library, kernel.name.c_str());
    if (result != CUDA_SUCCESS) return error_of(result);
  }
  *out = reinterpret_cast<CUfunction>(kernel.loaded);
  return cudaSuccess;
}

}  // namespace sim

using namespace sim;

extern "C" {

SIM_EXPORT void** __cudaRegisterFatBinary(void* image) { return reinterpret_cast<void**>(new void*(image)); }
SIM_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
SIM_EXPORT void __cudaUnregisterFatBinary(void**) {}
SIM_EXPORT void __cudaRegisterFunction(void** image, const char* stub, char*, const char* name, int, uint3*, uint3*,
                                       dim3*, dim3*, int*) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().kernels[stub] = Kernel{image, name, nullptr};
}
SIM_EXPORT void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
SIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  tl_calls.push_back({grid, block, shared, stream});
  return 0;
}
SIM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (tl_calls.empty()) return cudaErrorMissingConfiguration;
  const Call call = tl_calls.back();
  tl_calls.pop_back();
  *grid = call.grid;
  *block = call.block;
  *shared = call.shared;
  *static_cast<cudaStream_t*>(stream) = call.stream;
  return cudaSuccess;
}

}  // extern "C"
