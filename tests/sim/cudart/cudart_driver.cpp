// See cudart_driver.h.
#include "tests/sim/cudart/cudart_driver.h"

#include <dlfcn.h>

namespace sim {
namespace {

Driver load() {
  Driver made;
  void* handle = dlopen("libcuda.so.1", RTLD_NOW);
  if (handle == nullptr) return made;
  const auto first = reinterpret_cast<decltype(&::cuGetProcAddress_v2)>(dlsym(handle, "cuGetProcAddress_v2"));
  if (first == nullptr) return made;
  CUdriverProcAddressQueryResult status{};
  void* found = nullptr;
  first("", &found, 0, 0, &status);
  first("cuGetProcAddress", &found, 11030, 0, &status);
  first("cuGetProcAddress", &found, 12000, 0, &status);
  const auto ask = reinterpret_cast<decltype(&::cuGetProcAddress_v2)>(found);
  if (ask == nullptr) return made;
#define SIM_ASK(name, prototype, version, flags) \
  ask(#name, &found, version, flags, &status);   \
  made.name = reinterpret_cast<decltype(made.name)>(found);
  SIM_DRIVER_FUNCTIONS(SIM_ASK)
#undef SIM_ASK
#define SIM_ASK(name, prototype, version)                                                                      \
  ask(#name, &found, version, 0, &status);                                                                     \
  made.name = reinterpret_cast<decltype(made.name)>(found);                                                    \
  ask(#name, &found, version < 7000 ? 7000 : version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status); \
  made.name##_ptsz = reinterpret_cast<decltype(made.name##_ptsz)>(found);
  SIM_STREAM_FUNCTIONS(SIM_ASK)
#undef SIM_ASK
  if (const auto internals = reinterpret_cast<const DriverInternals* (*)()>(dlsym(handle, "sim_driver_internals"))) {
    made.internals = internals();
  }
  made.ready = made.cuInit != nullptr && made.cuInit(0) == CUDA_SUCCESS;
  return made;
}

}  // namespace

const Driver& driver() {
  static const Driver* const one = new Driver(load());
  return *one;
}

cudaError_t error_of(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS: return cudaSuccess;
    case CUDA_ERROR_OUT_OF_MEMORY: return cudaErrorMemoryAllocation;
    case CUDA_ERROR_NOT_INITIALIZED: return cudaErrorInitializationError;
    case CUDA_ERROR_INVALID_VALUE: return cudaErrorInvalidValue;
    default: return static_cast<cudaError_t>(result);  // the runtime uses the driver's numbers for all newer errors
  }
}

}  // namespace sim
