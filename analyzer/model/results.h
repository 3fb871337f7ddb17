// What a call's result is called, and whether it is a failure. Numbers are those of CUresult and cudaError_t.
#pragma once

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

// Not failures: "not ready" is what a query answers while work is running.
inline bool is_failure(uint32_t result) { return result != 0 && result != 600; }

// Whether a function is of the CUDA run time ("cudaMalloc") or of the driver ("cuMemAlloc_v2").
inline bool is_runtime_api(std::string_view api) {
  return api.size() > 4 && api.substr(0, 4) == "cuda" && api[4] >= 'A' && api[4] <= 'Z';
}

// "CUDA_ERROR_OUT_OF_MEMORY", or for a function of the run time "cudaErrorMemoryAllocation"; empty: not known.
std::string_view result_name(uint32_t result, std::string_view api);

}  // namespace prof::analyzer
