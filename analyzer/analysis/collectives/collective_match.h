// Which kernels of several processes are one collective operation? Decided by numbers and order, never by time, because
// the clocks of the processes may differ. Used by host_clocks.h.
#pragma once

#include "analyzer/analysis/collectives/collective_calls.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// How the kernels of an operation were found.
enum class MatchedBy : uint8_t {
  Sequence,  // communicator and sequence number
  Call,      // the n-th call of the communicator in the step
  Kernel     // the n-th kernel of one name, stream number and step
};
inline constexpr size_t kMatchedBy = 3;

struct MatchedCollective {
  CollectiveKind kind = CollectiveKind::Other;
  MatchedBy by = MatchedBy::Sequence;
  uint64_t ranks = 0;          // of the communicator; at least the number of kernels
  uint32_t root = kNone;       // row of Trace::operations: the kernel of the root, or of the sender; kNone: unknown
  std::vector<uint32_t> rows;  // of Trace::operations, one per rank
};

struct CollectiveMatches {
  std::vector<MatchedCollective> all;  // with kernels of two ranks or more
  uint64_t of[kMatchedBy] = {};        // number of them
  uint64_t ranks_left = 0;             // whose kernels differ from those of most ranks: not matched from there on
};

// Only kernels of NCCL that one call launched alone, and no all-to-all with uneven parts. Processes that were recorded
// in bursts (PROF_BUDGET) are left out. Steps are the ranges "ProfilerStep#N", else the ranges that count the steps of
// the program (RangeCounters::steps()), by their names. If there are steps, kernels outside them are not matched. In
// each step the ranks must have equally many kernels of the communicator, of the same kinds and sizes. A rank that
// differs from most others is left out from that step on.
CollectiveMatches match_collectives(const Trace& trace, const CollectiveCalls& calls);

}  // namespace prof::analyzer
