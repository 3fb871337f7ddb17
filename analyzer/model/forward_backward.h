// Which forward operator created each backward operator? PyTorch's autograd gives both the same sequence number. The
// number comes from Kineto's "Sequence number" and "Fwd thread id", or from the texts of emit_nvtx
// (autograd_numbers.h).
//
// Numbers count per forward thread, so the key is (process, forward thread, number). PyTorch has its own numbers of
// threads; the sequence numbers show which thread such a number is. Texts of emit_nvtx have no thread number. A
// sequence number is the value of the counter at the start of an operator. So several consecutive operators may have
// it, and the last one that begins before the backward operator is the one that created it. If operators outside that
// one's nest also have the number, the link has their count.
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
  uint32_t others = 0;              // other nests of forward operators, or threads, with the number
  uint32_t order = 1;  // 2: the forward operator ran inside a backward operator itself (double backward), …
  int64_t sequence = -1;
};

class ForwardBackward {
 public:
  explicit ForwardBackward(const Trace& trace);

  const std::vector<BackwardLink>& links() const { return links_; }  // by start of the backward operator
  // The link of the backward operator that the range is or is inside of; null if there is none.
  const BackwardLink* around(uint32_t range_row) const;
  uint64_t unmatched() const { return unmatched_; }
  uint64_t ambiguous() const { return ambiguous_; }

 private:
  std::vector<BackwardLink> links_;
  Column<uint32_t> link_of_;  // range row -> link; empty if there are no links
  uint64_t unmatched_ = 0, ambiguous_ = 0;
};

}  // namespace prof::analyzer
