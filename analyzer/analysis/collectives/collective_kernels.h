// Which kernels are NCCL's, which call launched each, and when did the last rank start it? Until then the kernel only
// waits. Each rank has its own process, so the last start is known if the input has several processes.
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
  uint32_t kernels = 1;  // number of kernels that the call launched; 1 for grouped calls
  // Start of the last of the ranks in the input. Empty: the input has one rank, or the kernels cannot be matched with
  // certainty.
  std::optional<int64_t> latest_start_ns;
  bool within_bound = false;  // not set because the clocks of the hosts are not known well enough: clock_bound_ns()
};

// Rows are in the order of Trace::operations. All ranks of a communicator make its calls in the same order. So the n-th
// kernels of all processes are one operation if three conditions hold: the processes have equally many kernels, of the
// same kinds and sizes, and the n-th ones overlap in time. Only kernels of selected processes are returned.
std::vector<CollectiveKernel> collective_kernels(const Trace& trace, const CollectiveCalls& calls,
                                                 const Selection& selection = Selection());

// Bandwidths in GB/s as collective_traffic.h defines them. The time begins at the last rank's start if it is known,
// else at the kernel's own start.
struct CollectiveRate {
  double algorithm = 0, bus = 0;
  std::string_view missing;  // reason why there is no rate; "" if there is one
};
CollectiveRate collective_rate(const Trace& trace, const CollectiveKernel& kernel);

}  // namespace prof::analyzer
