// Which kernels of several processes are one collective operation? Decided by numbers and order, never by time, because
// the clocks of the processes may differ. Used by host_clocks.h.
#pragma once

#include "analyzer/analysis/collectives/collective_calls.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// How the kernels of an operation were found.
enum class MatchedBy : uint8_t {
  Sequence,  // communicator and sequence number
  Call,      // the n-th call of the communicator in the step
  Kernel     // the n-th kernel of one name, stream number and step
};
inline constexpr size_t kMatchedBy = 3;
constexpr std::string_view matched_by_text(MatchedBy by) {
  return by == MatchedBy::Sequence ? "sequence" : by == MatchedBy::Call ? "call" : "kernel";
}

// A kernel that may be part of a matched operation.
struct CollectiveEvidence {
  uint32_t row = 0;     // of Trace::operations, or another number of the kernel
  uint32_t device = 0;  // row of Trace::devices: a process may have several ranks of a communicator, one per GPU
  int64_t start_ns = 0;
  CollectiveKind kind = CollectiveKind::Other;
  MatchedBy by = MatchedBy::Kernel;
  bool root = false;             // of the root, or of the sender
  uint64_t size = 0, ranks = 0;  // 0: not known
  int64_t sequence = 0;          // Sequence: number of the operation
  uint32_t key = 0, step = 0;    // of CollectiveEvidenceList::texts: what operations share, and the step; 0: no step
};

struct CollectiveEvidenceList {
  std::vector<CollectiveEvidence> rows;
  std::vector<std::string> texts{""};
};

struct MatchedCollective {
  CollectiveKind kind = CollectiveKind::Other;
  MatchedBy by = MatchedBy::Sequence;
  uint64_t ranks = 0;          // of the communicator; at least the number of kernels
  uint32_t root = kNone;       // CollectiveEvidence::row of the root, or of the sender; kNone: unknown
  std::vector<uint32_t> rows;  // CollectiveEvidence::row of each rank
};

struct CollectiveMatches {
  std::vector<MatchedCollective> all;  // with kernels of two ranks or more
  uint64_t of[kMatchedBy] = {};        // number of them
  uint64_t ranks_left = 0;             // whose kernels differ from those of most ranks: not matched from there on
};

// Only kernels of NCCL that one call launched alone, and no all-to-all with uneven parts. Processes that were recorded
// in bursts (PROF_BUDGET) are left out. Steps are the ranges "ProfilerStep#N", else the ranges that count the steps of
// the program (RangeCounters::steps()), by their names.
CollectiveEvidenceList collective_evidence(const Trace& trace, const CollectiveCalls& calls);

// If there are steps, kernels outside them are not matched. In each step the ranks must have equally many kernels of
// the communicator, of the same kinds and sizes. A rank that differs from most others is left out from that step on.
CollectiveMatches match_collectives(const CollectiveEvidenceList& evidence);

}  // namespace prof::analyzer
