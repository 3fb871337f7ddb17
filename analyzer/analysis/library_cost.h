// How many floating point operations and bytes does a library call stand for, by what it was asked for? Library calls are ranges
// of the domain "library" in logs recorded with PROF_LIBS=1, named "cublasSgemm_v2(transa=N, transb=N, m=512, …)".
// docs/library_calls.md has every formula. Called by KernelCosts, which gives a call's cost to its kernels.
#pragma once

#include "analyzer/analysis/op_cost.h"
#include "analyzer/model/devices.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct LibraryCost {
  OpCost cost;                         // known only if FLOPs are
  std::optional<PeakType> peak;        // what the call allows the library to multiply in
  bool math_unknown = false;           // fp32 or TF32: the kernel's name says
  std::optional<uint64_t> wire_bytes;  // collectives: what a rank moves, by the usual bus bandwidth factor
};

// `text`: a range's name. Nothing: it is no call, or one that failed.
std::optional<LibraryCost> library_cost(std::string_view text);

// The calls of a trace that have a cost. Of calls inside each other the outermost counts.
class LibraryCalls {
 public:
  explicit LibraryCalls(const Trace& trace);

  bool any() const { return any_; }
  bool is_call(const Range& range) const { return of_library_[index(range.label)]; }
  // Row of Trace::ranges: the call that the thread is in; kNone: in none.
  uint32_t around(ThreadId thread, int64_t time_ns) const;
  // Sets, for each of the calls that are true in `calls` (by row of Trace::ranges), the ranges around it in `encloses`.
  void mark_around(const std::vector<bool>& calls, std::vector<bool>& encloses) const;

 private:
  const Trace& trace_;
  std::vector<bool> of_library_;              // by LabelId
  std::vector<std::vector<uint32_t>> calls_;  // by ThreadId: rows of Trace::ranges, one behind the other in time
  bool any_ = false;
};

}  // namespace prof::analyzer
