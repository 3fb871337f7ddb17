// What is the name of a call's result, and is it a failure? Numbers are those of CUresult and cudaError_t.
#pragma once

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

// 600, "not ready", is no failure: a query returns it while an operation is outstanding.
inline bool is_failure(uint32_t result) { return result != 0 && result != 600; }

// Whether a function belongs to the CUDA runtime ("cudaMalloc"), not to the driver ("cuMemAlloc_v2").
inline bool is_runtime_api(std::string_view api) {
  return api.size() > 4 && api.substr(0, 4) == "cuda" && api[4] >= 'A' && api[4] <= 'Z';
}

// "CUDA_ERROR_OUT_OF_MEMORY", or for a function of the runtime "cudaErrorMemoryAllocation"; empty: unknown.
std::string_view result_name(uint32_t result, std::string_view api);

}  // namespace prof::analyzer
