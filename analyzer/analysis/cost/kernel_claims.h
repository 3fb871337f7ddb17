// Which kernels ran for which range?
#pragma once

#include "analyzer/analysis/cost/library_calls.h"
#include "analyzer/analysis/cost/range_cost.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prof::analyzer {

// A kernel that ran for a range with a cost.
struct KernelClaim {
  uint32_t range = kNone;      // row of Trace::ranges
  uint32_t operation = kNone;  // row of Trace::operations
  uint32_t replay = 0;         // which run of the range: 0 its own, else 1 + the launch that repeats its work
};

// KernelClaims gives each kernel the innermost range with a cost that launched it: the library call, also one whose
// launch was captured into a graph, else the operator. A run of a graph and a repeated launch do all the work of a
// range again, so they are runs of their own.
class KernelClaims {
 public:
  // O(n log n) in the number of operations.
  KernelClaims(const Trace& trace, const Views& views, const LibraryCalls& calls, RangeCosts& costs);

  // Calls `run` with the claims of one run of one range at a time, in the order of the ranges.
  template <class Run> void for_each_run(Run&& run) const {
    const std::span<const KernelClaim> claims(claims_);
    for (size_t first = 0, last = 0; first < claims.size(); first = last) {
      while (last < claims.size() && claims[last].range == claims[first].range &&
             claims[last].replay == claims[first].replay)
        ++last;
      run(claims.subspan(first, last - first));
    }
  }
  // Whether a range launched that row of Trace::operations and no library call did. The range may have no cost.
  bool in_range(uint32_t operation) const { return in_range_[operation]; }
  // A range inside this one has the FLOPs, so they must not be counted again.
  bool counted_inside(uint32_t range) const { return encloses_[range]; }

 private:
  uint32_t library_call_of(const GpuOperation& operation) const;
  void collect(RangeCosts& costs, std::vector<bool>& calls_with_kernels);
  void mark_enclosing(RangeCosts& costs);

  const Trace& trace_;
  const Views& views_;
  const LibraryCalls& calls_;
  std::vector<KernelClaim> claims_;
  std::vector<bool> in_range_;  // by row of Trace::operations
  std::vector<bool> encloses_;  // by row of Trace::ranges
};

}  // namespace prof::analyzer
