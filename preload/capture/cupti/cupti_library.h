// Which libcupti this process uses, and its functions. Called once by gpu_activity.cpp, on the thread that takes GPU
// activity, holding no lock: opening a library runs foreign constructors.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace prof::preload {

// What needs a function of CUPTI.
enum class CuptiNeed {
  Needed,         // GPU activity: without the function there are no GPU times
  Optional,       // nothing: its callers continue without it
  Counters,       // both of the following
  RangeProfiler,  // hardware counters
  PmSampling,     // hardware samples
};

struct Cupti {
#define PROF_CUPTI_FUNCTION(name, need) decltype(&::name) name = nullptr;
#include "preload/capture/cupti/cupti_functions.def"
#undef PROF_CUPTI_FUNCTION
};

inline constexpr size_t kPathBytes = 1024;

struct CuptiLibrary {
  Cupti api;
  uint32_t version = 0;  // CUPTI_API_VERSION of the library found; 0: none
  const char* how = "";  // where in the order it was found
  char path[kPathBytes] = "";
  char reason[kPathBytes] = "";  // why not, where nothing was opened
};

// CUDA's major version a CUPTI of this API version belongs to; 0: older than CUDA 11.0, whose records we do not read.
constexpr uint32_t cupti_major(uint32_t api_version) {
  if (api_version >= 130000) return api_version / 10000;
  if (api_version >= 19) return 12;
  if (api_version >= 13) return 11;
  return 0;
}

// Searches in this order: loaded already, `named` (PROF_CUPTI), beside the loaded libcudart and in the folders that pip puts
// CUPTI in, $CUDA_HOME, the loader's cache, /usr/local/cuda. `driver_version` as cuDriverGetVersion tells it: a CUPTI of a
// newer major version than the driver is refused. False: `reason` says what was tried last.
bool find_cupti(const char* named, int driver_version, CuptiLibrary& into);

// Adopts the loaded library that `function` belongs to, whatever its version. False: `reason`.
bool adopt_cupti_around(const void* function, CuptiLibrary& into);

// Puts the parts together as `into.reason`, cut where it is full.
void set_reason(CuptiLibrary& into, std::initializer_list<const char*> parts);

}  // namespace prof::preload
