// How many floating point operations and bytes does a library call stand for, by what it was asked for? Library calls are ranges
// of the domain "library" in logs recorded with PROF_LIBS=1, named "cublasSgemm_v2(transa=N, transb=N, m=512, …)".
// docs/library_calls.md has every formula. Called by KernelCosts, which gives a call's cost to its kernels.
#pragma once

#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/analysis/cost/op_cost.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::analyzer {

struct LibraryCost {
  OpCost cost;                   // known only if FLOPs are
  std::optional<PeakType> peak;  // what the call allows the library to multiply in
  bool math_unknown = false;     // fp32 or TF32: the kernel's name says
  bool nominal = false;          // FLOPs by a convention: algorithms differ in how many they take
  bool spread = false;           // each of its kernels does a part of it, none the whole
};

// `text`: a range's name. Nothing: it is no call, or one that failed.
std::optional<LibraryCost> library_cost(std::string_view text);

}  // namespace prof::analyzer
