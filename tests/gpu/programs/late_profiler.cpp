// A profiler in a library that is loaded in the middle of a run, as some frameworks do: with its own CUPTI inside
// (CUPTI_INSIDE, linked with libcupti_static.a), or with the given libcupti, which it opens. Counts kernels. Results
// are CUPTI's; 0: success.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#define SHOWN extern "C" __attribute__((visibility("default")))

namespace {

constexpr size_t kBytes = size_t{1} << 20;
std::atomic<long> kernels{0};
[[maybe_unused]] void* library = nullptr;

#ifdef CUPTI_INSIDE
#define CUPTI(name) name
#else
#define CUPTI(name) (*reinterpret_cast<decltype(&name)>(dlsym(library, #name)))
#endif

void CUPTIAPI give(uint8_t** buffer, size_t* size, size_t* records) {
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, kBytes));
  *size = *buffer == nullptr ? 0 : kBytes;
  *records = 0;
}

void CUPTIAPI take(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (CUPTI(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) kernels.fetch_add(1);
  }
  free(buffer);
}

}  // namespace

// -1: no such library.
SHOWN int profiler_start([[maybe_unused]] const char* cupti) {
#ifndef CUPTI_INSIDE
  library = dlopen(cupti, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return -1;
#endif
  CUptiResult result = CUPTI(cuptiActivityRegisterCallbacks)(give, take);
  if (result == CUPTI_SUCCESS) result = CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  return result;
}
SHOWN int profiler_stop(long* counted) {
  CUptiResult result = CUPTI(cuptiActivityFlushAll)(1);
  if (result == CUPTI_SUCCESS) result = CUPTI(cuptiActivityDisable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  *counted = kernels.load();
  return result;
}
// Detaches CUPTI from the process as far as CUPTI allows it.
SHOWN int profiler_end() {
  const CUptiResult result = CUPTI(cuptiFinalize)();
  if (library != nullptr) dlclose(library);
  return result;
}
