// The stack of a call, of a GPU operation, of a node of a graph: what the log recorded, or, in traces of torch.profiler, the Python
// functions around the call and the "Call stack" of its operator. One notion for both: rows of MergedStacks.
#pragma once

#include "analyzer/analysis/merged_stacks.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class OpStacks;
class Views;

struct StackOptions {
  SymbolOptions symbols;
  std::vector<std::string> fold;  // words of --fold
  NameForm names = NameForm::Short;
};

class CallStacks {
 public:
  CallStacks(const Trace& trace, const Views& views, const StackOptions& options);
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
  StackId of_range(uint32_t range_row);

  const Trace& trace_;
  const Views& views_;
  MergedStacks merged_;
  std::unique_ptr<OpStacks> op_stacks_;  // null: no input has operators
  std::unordered_map<uint64_t, StackId> of_key_;
  Column<uint32_t> range_of_call_;  // with Python's functions
  bool any_ = false;
};

}  // namespace prof::analyzer
