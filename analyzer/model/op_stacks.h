// What is the Python stack of a range, innermost frame first, as torch.autograd.profiler shows it? The Python functions
// around it in the trace, else the text of "Call stack". A range inside a backward operator has the stack of the
// forward operator that created it, or none if that is unknown. Frames of the profiler and of autograd's entry are left
// out and counted.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/model/forward_backward.h"
#include "analyzer/model/trace.h"

#include <atomic>
#include <string_view>
#include <vector>

namespace prof::analyzer {

class OpStacks {
 public:
  OpStacks(const Trace& trace, const ForwardBackward& links);

  // At most `most` frames, as views into the trace's strings.
  std::vector<std::string_view> stack(uint32_t range_row, size_t most = SIZE_MAX) const;
  // Equal keys: the ranges certainly have the same stack. 0: the range has no stack.
  uint64_t key(uint32_t range_row) const;
  // The same for the range itself, even if it is part of a backward operator.
  std::vector<std::string_view> own_stack(uint32_t range_row, size_t most = SIZE_MAX) const;
  uint64_t own_key(uint32_t range_row) const;
  uint64_t frames_left_out() const { return left_out_; }  // of the stacks returned so far

 private:
  uint32_t source(uint32_t range_row) const;  // the range whose own stack is used; kNone: no stack

  const Trace& trace_;
  const ForwardBackward& links_;
  Column<uint32_t> python_;  // range row -> row of the innermost Python function around it
  mutable std::atomic<uint64_t> left_out_ = 0;
};

}  // namespace prof::analyzer
