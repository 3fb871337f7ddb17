// Which libcupti does this process use, and which functions does it have? cupti_front.cpp calls it, on the thread that
// starts GPU activity or makes another profiler's first call. The caller must hold no lock: opening a library runs
// foreign constructors.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace prof::preload {

// Which subsystem needs a function of CUPTI.
enum class CuptiNeed {
  Needed,         // GPU activity: without the function there are no GPU times
  Optional,       // nothing: its callers continue without it
  Counters,       // both of the following
  RangeProfiler,  // hardware counters
  PmSampling,     // hardware samples
  PcSampling,     // PC samples
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
  const char* how = "";  // where in the search order it was found
  char path[kPathBytes] = "";
  char reason[kPathBytes] = "";  // if none was opened: why
};

// The CUDA major version of a CUPTI with this API version. 0: older than CUDA 11.0, whose records are not read.
constexpr uint32_t cupti_major(uint32_t api_version) {
  if (api_version >= 130000) return api_version / 10000;
  if (api_version >= 19) return 12;
  if (api_version >= 13) return 11;
  return 0;
}

// Searches in this order: loaded already, `named` (PROF_CUPTI), beside the loaded libcudart and in the folders where
// pip puts CUPTI, $CUDA_HOME, the loader's cache, /usr/local/cuda. `driver_version` is that of cuDriverGetVersion: a
// CUPTI of a newer major version than the driver is refused. False: `reason` contains the last attempt.
bool find_cupti(const char* named, int driver_version, CuptiLibrary& into);

// Uses the loaded library that `function` belongs to, whatever its version. False: `reason` contains the cause.
bool adopt_cupti_around(const void* function, CuptiLibrary& into);

// Joins the parts as `into.reason`; a longer text is cut.
void set_reason(CuptiLibrary& into, std::initializer_list<const char*> parts);

}  // namespace prof::preload
