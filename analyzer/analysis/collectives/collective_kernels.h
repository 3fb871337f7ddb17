// Every kernel of NCCL with its call, and when the latest rank came to it: until then it only waits. Ranks are recorded by processes of
// their own, so that is known where several are in the input.
#pragma once

#include "analyzer/analysis/collectives/collective_calls.h"
#include "analyzer/analysis/selection.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct CollectiveKernel {
  uint32_t operation = kNone;  // row of Trace::operations
  CollectiveCall call;
  uint32_t kernels = 1;  // that the call launched, but for those of groups
  // When the last of the ranks in the input began. Empty: there is one alone, or which kernels belong together is not sure.
  std::optional<int64_t> latest_start_ns;
};

// By row. The calls on one communicator come in the same order on all its ranks: the n-th of each process are one operation, where
// all have as many, of the same kinds and sizes, and at the same time. Only of processes that are selected.
std::vector<CollectiveKernel> collective_kernels(const Trace& trace, const CollectiveCalls& calls,
                                                 const Selection& selection = Selection());

// Bandwidths in GB/s as collective_traffic.h defines them, of the time from the latest rank's start on, or else of the kernel's.
struct CollectiveRate {
  double algorithm = 0, bus = 0;
  std::string_view missing;  // why there is none; "" where there is
};
CollectiveRate collective_rate(const Trace& trace, const CollectiveKernel& kernel);

}  // namespace prof::analyzer
