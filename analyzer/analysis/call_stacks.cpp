#include "analyzer/analysis/call_stacks.h"

#include "analyzer/analysis/views.h"
#include "analyzer/model/op_stacks.h"

#include <algorithm>

namespace prof::analyzer {

CallStacks::CallStacks(const Trace& trace, const Views& views, const StackOptions& options)
    : trace_(trace),
      views_(views),
      merged_(trace, views.symbols(), FoldRules::read(options.fold), options.names),
      any_(!trace.stacks.empty()) {
  const bool operators = std::any_of(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const OperatorDetail* const detail = trace.detail(range);
    return range.kind == RangeKind::Python || (detail != nullptr && index(detail->stack) != 0);
  });
  if (!operators) return;
  any_ = true;
  op_stacks_ = std::make_unique<OpStacks>(trace, views.forward_backward());
  range_of_call_.resize(trace.host.size());
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    RangeCursor cursor(trace, ThreadId{t});
    const Rows rows = trace.threads[t].host;
    for (uint32_t row = rows.first; row < rows.last; ++row)
      range_of_call_[row] = cursor.at(trace.host[row].begin_ns, true);
  }
}

CallStacks::~CallStacks() = default;

StackId CallStacks::of_call(uint32_t host_row) {
  const uint32_t recorded = trace_.host[host_row].stack;
  if (recorded != 0) return StackId{recorded};
  if (op_stacks_ == nullptr || range_of_call_[host_row] == kNone) return {};
  return of_range(range_of_call_[host_row]);
}

StackId CallStacks::of_range(uint32_t range_row) {
  const bool python = trace_.ranges[range_row].kind == RangeKind::Python;
  constexpr uint64_t kPython = uint64_t{1} << 63;
  const uint64_t key = python ? kPython | range_row : op_stacks_->key(range_row);
  if (key == 0) return {};
  const auto [found, added] = of_key_.try_emplace(key, StackId{});
  if (!added) return found->second;
  std::vector<std::string_view> frames;
  if (python) frames.push_back(trace_.range_name(trace_.ranges[range_row]));
  for (const std::string_view frame : op_stacks_->stack(range_row)) frames.push_back(frame);
  if (!frames.empty()) found->second = merged_.add(frames);
  return found->second;
}

StackId CallStacks::of_node(uint32_t node_row) {
  const GraphNode& node = trace_.graph_nodes[node_row];
  if (node.call != kNone) {
    const StackId stack = of_call(node.call);
    if (stack != StackId{}) return stack;
  }
  return StackId{node.stack};
}

StackId CallStacks::of_operation(const GpuOperation& operation) {
  if (operation.graph_node != 0) {
    const NodeFound found = views_.graph_origins().of(operation);
    if (found.origin == NodeOrigin::Known) {
      const StackId stack = of_node(found.row);
      if (stack != StackId{}) return stack;
    }
  }
  return operation.linked() ? of_call(operation.launch) : StackId{};
}

std::string CallStacks::text(StackId stack, size_t most) {
  std::string text;
  for (const uint32_t row : merged_.of(stack)) {
    if (most-- == 0) break;
    if (!text.empty()) text += ';';
    text += merged_.frame_text(row);
  }
  return text;
}

std::string CallStacks::best(StackId stack) {
  return merged_.of(stack).empty() ? std::string() : merged_.frame_text(merged_.best(stack));
}

}  // namespace prof::analyzer
