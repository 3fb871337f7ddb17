// How many floating point operations and bytes does a library call need, by its arguments? Library calls are ranges of
// the domain "library" in logs recorded with PROF_LIBS=1, named "cublasSgemm_v2(transa=N, transb=N, m=512, …)".
// docs/library_calls.md has every formula. Called by KernelCosts, which assigns the cost of a call to its kernels.
#pragma once

#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/analysis/cost/op_cost.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::analyzer {

struct LibraryCost {
  OpCost cost;                   // `known` only if the FLOPs are known
  std::optional<PeakType> peak;  // the type that the call allows for the multiplication
  bool math_unknown = false;     // fp32 or TF32: the name of the kernel decides
  bool nominal = false;          // FLOPs are a convention: algorithms need different numbers
  bool spread = false;           // each kernel of the call does a part of it, none all of it
};

// `text`: the name of a range. nullopt: the range is no library call, or the call failed.
std::optional<LibraryCost> library_cost(std::string_view text);

}  // namespace prof::analyzer
