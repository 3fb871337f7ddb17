// Which forward operator made each backward operator: PyTorch's autograd gives both the same sequence number. The number
// comes from Kineto's "Sequence number" and "Fwd thread id", or from the texts of emit_nvtx (autograd_numbers.h).
//
// Numbers count per forward thread, so the key is (process, forward thread, number). PyTorch numbers threads in its own way:
// which thread a number means is found from the sequence numbers themselves; texts of emit_nvtx do not name it at all. A
// number is what the counter showed when an operator was entered: several operators in a row may carry it, and the last to
// begin before the backward operator is the one that made it. If operators outside that one's nest carry it too, the link
// says how many.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

struct BackwardLink {
  uint32_t backward = kNone;        // row of Trace::ranges: the innermost backward operator with that number
  uint32_t outer_backward = kNone;  // the outermost ("autograd::engine::evaluate_function: …")
  uint32_t forward = kNone;         // the innermost forward operator with that number; kNone: not found
  uint32_t outer_forward = kNone;   // the outermost around it with the same number
  uint32_t others = 0;              // more nests of forward operators, or threads, that carry the number
  uint32_t order = 1;  // 2: the forward operator ran inside a backward operator itself (double backward), …
  int64_t sequence = -1;
};

class ForwardBackward {
 public:
  explicit ForwardBackward(const Trace& trace);

  const std::vector<BackwardLink>& links() const { return links_; }  // by begin of the backward operator
  // The link of the backward operator that a range is, or is inside of; null if it is in none.
  const BackwardLink* around(uint32_t range_row) const;
  uint64_t unmatched() const { return unmatched_; }
  uint64_t ambiguous() const { return ambiguous_; }

 private:
  std::vector<BackwardLink> links_;
  Column<uint32_t> link_of_;  // range row -> link; empty if there are no links
  uint64_t unmatched_ = 0, ambiguous_ = 0;
};

}  // namespace prof::analyzer
