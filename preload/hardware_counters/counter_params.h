// How are CUPTI's argument structs and joined texts made? All callers of CUPTI's profiler use this file
// (counter_host.cpp, counter_session.cpp, pm_sampler.cpp). It never allocates.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace prof::preload {

// Joins the parts in `size` bytes (at least one, for the terminating zero); cuts what does not fit.
inline void join(char* to, size_t size, std::initializer_list<std::string_view> parts) {
  size_t used = 0;
  for (const std::string_view part : parts) {
    const size_t n = part.size() < size - 1 - used ? part.size() : size - 1 - used;
    if (n != 0) std::memcpy(to + used, part.data(), n);
    used += n;
  }
  to[used] = '\0';
}

#if PROF_RANGE_PROFILER
// CUPTI's argument structs contain their size in bytes. All other fields are zero.
template <class Params> Params sized(size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}
#define PROF_PARAMS(type) sized<type>(type##_STRUCT_SIZE)
#endif

}  // namespace prof::preload
