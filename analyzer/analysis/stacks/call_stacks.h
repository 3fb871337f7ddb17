// What is the call stack of a call, of a GPU operation, of a node of a graph? It is the recorded stack or, in traces of
// torch.profiler, the Python functions around the call and the "Call stack" of its operator. Both are rows of
// MergedStacks. Used by the stack reports and by every report with --group-by stack.
//
// A call may be inside a backward operator, on autograd's own thread or without Python frames. Then the stack of the
// forward operator with the same sequence number continues its stack, after a frame that marks the seam:
//
//   at::mm < … < start_thread < [forward of MmBackward0] < forward (model.py:57) < main (train.py:9)
//
// Without sequence numbers it is continued by the stack of the call of backward() (backward_calls.h).
#pragma once

#include "analyzer/analysis/stacks/backward_calls.h"
#include "analyzer/analysis/stacks/merged_stacks.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class ForwardBackward;
class OpStacks;

// Makes call stacks on demand. Not thread-safe.
class CallStacks {
 public:
  CallStacks(const Trace& trace, const Views& views);
  ~CallStacks();

  // StackId 0: unknown. Rows of Trace::host and of Trace::graph_nodes.
  StackId of_call(uint32_t host_row);
  StackId of_node(uint32_t node_row);
  // The stack of a range that has one in the trace: a Python function, an operator with "Call stack".
  StackId of_range(uint32_t range_row);
  // For an operation of a replayed graph node the stack of the call that captured the node, else that of the launch.
  StackId of_operation(const GpuOperation& operation);

  MergedStacks& merged() { return merged_; }
  bool any() const { return any_; }  // whether the input has stacks

  // At most `most` frames, joined: "forward (model.py:57);step (train.py:9)". Empty: no stack.
  std::string text(StackId stack, size_t most = SIZE_MAX);
  // The same from the most informative frame on.
  std::string text_from_best(StackId stack, size_t most);
  // The most informative frame: MergedStacks::best_text(). Empty: no stack.
  std::string best(StackId stack);

 private:
  std::string text_of(std::span<const uint32_t> rows, size_t most) const;
  StackId own_of_call(uint32_t host_row);
  StackId with_forward(uint32_t host_row, StackId own);
  StackId forward_stack(uint32_t link);
  StackId first_in(uint32_t range_row);

  const Trace& trace_;
  const Views& views_;
  MergedStacks merged_;
  std::unique_ptr<OpStacks> op_stacks_;     // null: no input has operators
  const ForwardBackward* links_ = nullptr;  // null: no links, or disabled
  std::optional<BackwardCalls> backward_;   // empty: no calls of backward(), or disabled
  std::unordered_map<uint64_t, StackId> of_key_;
  Column<uint32_t> range_of_call_;  // includes Python's functions; empty: neither operators nor links
  struct ForwardPart {
    StackId stack{};
    bool made = false;
  };
  std::vector<ForwardPart> forward_of_link_;
  std::map<std::tuple<StackId, StackId, StringId>, StackId> joined_;  // own, forward, label of the backward operator
  uint32_t chain_ = 0;                                                // nesting of backward operators
  bool any_ = false;
};

// The call stacks of a model, created once (Views::derived).
inline CallStacks& call_stacks(const Views& views) { return views.derived<CallStacks>(); }

}  // namespace prof::analyzer
