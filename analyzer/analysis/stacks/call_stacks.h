// The stack of a call, of a GPU operation, of a node of a graph: what the log recorded, or, in traces of torch.profiler, the Python
// functions around the call and the "Call stack" of its operator. One notion for both: rows of MergedStacks.
//
// A call inside a backward operator, on autograd's own thread or without Python frames, goes on in the stack of the forward operator
// with the same sequence number, behind a frame that says so:
//
//   at::mm < … < start_thread < [forward of MmBackward0] < forward (model.py:57) < main (train.py:9)
//
// Without sequence numbers it goes on where backward() was called (backward_calls.h).
#pragma once

#include "analyzer/analysis/stacks/backward_calls.h"
#include "analyzer/analysis/stacks/merged_stacks.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class ForwardBackward;
class OpStacks;

// Which code asked for a call or an operation. Makes stacks as they are asked for: one thread at a time may use it.
class CallStacks {
 public:
  CallStacks(const Trace& trace, const Views& views);
  ~CallStacks();

  // 0: none is known. Rows of Trace::host, of Trace::graph_nodes.
  StackId of_call(uint32_t host_row);
  StackId of_node(uint32_t node_row);
  // Of a replayed node the stack of the call that captured it, else that of the launch.
  StackId of_operation(const GpuOperation& operation);

  MergedStacks& merged() { return merged_; }
  bool any() const { return any_; }  // the input has stacks at all

  // At most `most` frames, joined: "forward (model.py:57);step (train.py:9)". Empty: no stack.
  std::string text(StackId stack, size_t most = SIZE_MAX);
  // The frame that is worth a line; empty: no stack.
  std::string best(StackId stack);

 private:
  StackId own_of_call(uint32_t host_row);
  StackId of_range(uint32_t range_row);
  StackId with_forward(uint32_t host_row, StackId own);
  StackId forward_stack(uint32_t link);
  StackId first_in(uint32_t range_row);

  const Trace& trace_;
  const Views& views_;
  MergedStacks merged_;
  std::unique_ptr<OpStacks> op_stacks_;     // null: no input has operators
  const ForwardBackward* links_ = nullptr;  // null: none, or not wanted
  std::optional<BackwardCalls> backward_;   // absent: none, or not wanted
  std::unordered_map<uint64_t, StackId> of_key_;
  Column<uint32_t> range_of_call_;  // with Python's functions; empty: neither operators nor links
  struct ForwardPart {
    StackId stack{};
    bool made = false;
  };
  std::vector<ForwardPart> forward_of_link_;
  std::map<std::tuple<StackId, StackId, StringId>, StackId> joined_;  // own, forward, label of the backward operator
  uint32_t chain_ = 0;                                                // backward operators of backward operators
  bool any_ = false;
};

// Those of a model (Views::derived).
inline CallStacks& call_stacks(const Views& views) { return views.derived<CallStacks>(); }

}  // namespace prof::analyzer
