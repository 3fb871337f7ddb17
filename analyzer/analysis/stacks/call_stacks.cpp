#include "analyzer/analysis/stacks/call_stacks.h"

#include "analyzer/model/forward_backward.h"
#include "analyzer/model/op_stacks.h"
#include "analyzer/model/range_text.h"

#include <algorithm>

namespace prof::analyzer {

CallStacks::CallStacks(const Trace& trace, const Views& views)
    : trace_(trace),
      views_(views),
      merged_(trace, views.symbols(), FoldRules::read(views.stack_options().fold), views.stack_options().names),
      any_(!trace.stacks.empty()) {
  const StackOptions& options = views.stack_options();
  const bool operators = std::any_of(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const OperatorDetail* const detail = trace.detail(range);
    return range.kind == RangeKind::Python || (detail != nullptr && index(detail->stack) != 0);
  });
  if (operators) {
    any_ = true;
    op_stacks_ = std::make_unique<OpStacks>(trace, views.forward_backward());
  }
  if (any_ && !options.no_forward && !trace.ranges.empty() && !views.forward_backward().links().empty()) {
    links_ = &views.forward_backward();
    forward_of_link_.resize(links_->links().size());
  }
  if (!options.no_forward && !trace.stacks.empty()) {
    backward_.emplace(trace, views.symbols(), merged_);
    if (!backward_->any()) backward_.reset();
  }
  if (!operators && links_ == nullptr) return;
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
  const StackId own = own_of_call(host_row);
  if (links_ != nullptr && range_of_call_[host_row] != kNone) {
    const StackId forward = with_forward(host_row, own);
    if (forward != own) return forward;
  }
  return backward_ ? backward_->continued(host_row, own) : own;
}

StackId CallStacks::own_of_call(uint32_t host_row) {
  const uint32_t recorded = trace_.host[host_row].stack;
  if (recorded != 0) return StackId{recorded};
  if (op_stacks_ == nullptr || range_of_call_[host_row] == kNone) return {};
  return of_range(range_of_call_[host_row]);
}

StackId CallStacks::of_range(uint32_t range_row) {
  if (op_stacks_ == nullptr) return {};
  const bool python = trace_.ranges[range_row].kind == RangeKind::Python;
  constexpr uint64_t kPython = uint64_t{1} << 63;
  const uint64_t key = python ? kPython | range_row : op_stacks_->own_key(range_row);
  if (key == 0) return {};
  const auto [found, added] = of_key_.try_emplace(key, StackId{});
  if (!added) return found->second;
  std::vector<std::string_view> frames;
  if (python) frames.push_back(trace_.range_name(trace_.ranges[range_row]));
  for (const std::string_view frame : op_stacks_->own_stack(range_row)) frames.push_back(frame);
  if (!frames.empty()) found->second = merged_.add(frames);
  return found->second;
}

// If the own stack has Python frames and the forward operator ran on the same thread, the own stack already has the
// backward() call.
StackId CallStacks::with_forward(uint32_t host_row, StackId own) {
  const BackwardLink* const link = links_->around(range_of_call_[host_row]);
  if (link == nullptr || link->forward == kNone) return own;
  const bool own_python = own != StackId{} && merged_.has_python(own);
  if (own_python && trace_.ranges[link->forward].thread == trace_.host[host_row].thread) return own;
  const StackId forward = forward_stack(static_cast<uint32_t>(link - links_->links().data()));
  if (forward == StackId{}) return own;
  const Range& backward = trace_.ranges[link->backward];
  const std::string_view name = plain_range_text(trace_.range_name(backward));
  const auto [joined, added] = joined_.try_emplace({own, forward, merged_.intern(name)}, StackId{});
  if (added) joined->second = merged_.with_forward(own, forward, name);
  return joined->second;
}

// The stack of the forward operator: its Python functions and "Call stack", else the stack of the first call inside it.
StackId CallStacks::forward_stack(uint32_t link_row) {
  constexpr uint32_t kMostForwards = 8;
  ForwardPart& part = forward_of_link_[link_row];
  if (part.made || chain_ == kMostForwards) return part.stack;
  part.made = true;
  const BackwardLink& link = links_->links()[link_row];
  StackId stack = op_stacks_ == nullptr ? StackId{} : of_range(link.outer_forward);
  ++chain_;
  for (const uint32_t range : {link.forward, link.outer_forward}) {
    if (stack == StackId{}) stack = first_in(range);
  }
  --chain_;
  part.stack = stack;
  return stack;
}

// The stack of the first call inside a range that has one.
StackId CallStacks::first_in(uint32_t range_row) {
  constexpr uint32_t kMostCalls = 1000;
  const Range& range = trace_.ranges[range_row];
  const Rows rows = trace_.thread(range.thread).host;
  const auto begin = trace_.host.begin() + rows.first, end = trace_.host.begin() + rows.last;
  auto call = std::partition_point(begin, end, [&](const HostEvent& each) { return each.begin_ns < range.begin_ns; });
  for (uint32_t i = 0; call != end && call->begin_ns < range.end_ns && i < kMostCalls; ++call, ++i) {
    if (call->stack != 0) return of_call(static_cast<uint32_t>(call - trace_.host.begin()));
  }
  return {};
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

std::string CallStacks::text(StackId stack, size_t most) { return text_of(merged_.of(stack), most); }

std::string CallStacks::text_from_best(StackId stack, size_t most) {
  return text_of(merged_.of(stack).subspan(merged_.best(stack)), most);
}

std::string CallStacks::text_of(std::span<const uint32_t> rows, size_t most) const {
  std::string text;
  for (const uint32_t row : rows) {
    if (most-- == 0) break;
    if (!text.empty()) text += ';';
    text += merged_.frame_text(row);
  }
  return text;
}

std::string CallStacks::best(StackId stack) { return merged_.best_text(stack); }

}  // namespace prof::analyzer
