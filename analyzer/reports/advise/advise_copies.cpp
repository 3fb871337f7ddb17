// Rules about copies and memsets: those that block their caller, use pageable memory, are many and small, or overlap
// nothing.
#include "analyzer/reports/advise/advise_rules.h"

#include <fmt/format.h>

namespace prof::analyzer {

namespace {

constexpr uint64_t kManyCopies = 10, kSmallCopyBytes = 64 * 1024;

bool sets_memory(const NamedNodes& nodes) { return nodes.name.find("Memset") != std::string_view::npos; }

// Adds a finding about the copies for which take() is true, and about the calls that launched them.
template <class Take>
void some_copies(const AdviceInput& in, uint64_t at_least, Advice advice, std::vector<Advice>& found, Take&& take) {
  FoundNodes copies, calls;
  uint64_t bytes = 0;
  each_node(in, kind_bit(NodeKind::Copy), [&](const Node& node) {
    const GpuOperation& operation = operation_of(in, node);
    if (!take(operation)) return;
    copies.add(node.row, operation.duration_ns());
    bytes += operation.bytes;
    if (operation.linked()) calls.add(operation.launch, in.input.trace.host[operation.launch].duration_ns());
  });
  if (copies.count < at_least) return;
  advice.evidence = fmt::format("{} copies, {} bytes, {}; {} in their calls", copies.count, bytes,
                                scaled_time(copies.time_ns), scaled_time(calls.time_ns));
  advice.call = calls.longest;
  advice.operation = copies.longest;
  advice.scenario = {{kind_bit(NodeKind::Copy), kPartOwn | kPartOther, 0, 0, {}, only(std::move(copies))},
                     {kind_bit(NodeKind::MemoryCall), kPartOwn, 0, 0, {}, only(std::move(calls))}};
  found.push_back(std::move(advice));
}

}  // namespace

void blocking_memsets(const AdviceInput& in, std::vector<Advice>& found) {
  for (const NamedNodes& nodes : in.named) {
    if (nodes.kind != NodeKind::MemoryCall || nodes.returns == 0 || !sets_memory(nodes)) continue;
    Advice advice;
    advice.see = "cuda_memset_sync";
    advice.finding = fmt::format("{} of pinned or managed memory holds its caller until it is done", nodes.name);
    advice.evidence = fmt::format("{} of {} calls waited", nodes.returns, nodes.count);
    advice.action = "use cudaMemsetAsync on the stream that needs it, or set the memory on the host";
    advice.scenario = without_blocked_copies(in.graph.dependencies());
    advice.scenario.front().subjects = nodes.subjects;
    advice.call = longest_call(in, advice.scenario);
    found.push_back(std::move(advice));
  }
}

void blocking_copies(const AdviceInput& in, std::vector<Advice>& found) {
  for (const NamedNodes& nodes : in.named) {
    if (nodes.kind != NodeKind::MemoryCall || nodes.returns == 0 || sets_memory(nodes)) continue;
    Advice advice;
    advice.see = "copies";
    advice.finding = fmt::format("{} holds its caller until the copy is done", nodes.name);
    advice.evidence = fmt::format("{} of {} calls waited", nodes.returns, nodes.count);
    advice.action =
        "copy asynchronously to pinned memory and wait later; in PyTorch avoid .item(), .cpu(), print() of a "
        "tensor in the loop, and copy with non_blocking=True";
    advice.scenario = without_blocked_copies(in.graph.dependencies());
    advice.scenario.front().subjects = nodes.subjects;
    advice.call = longest_call(in, advice.scenario);
    found.push_back(std::move(advice));
  }
}

void pageable_copies(const AdviceInput& in, std::vector<Advice>& found) {
  constexpr uint32_t kPageable = 1;  // CUPTI's memory kind
  Advice advice;
  advice.see = "cuda_memcpy_async";
  advice.finding = "copies of pageable memory";
  advice.action = "allocate with cudaHostAlloc, or pin_memory=True in the DataLoader: faster and asynchronous";
  some_copies(in, 1, std::move(advice), found, [](const GpuOperation& copy) { return copy.touches_memory(kPageable); });
}

void small_copies(const AdviceInput& in, std::vector<Advice>& found) {
  Advice advice;
  advice.see = "copies";
  advice.finding = "many copies of 64 KiB or less";
  advice.action = "gather them in one buffer and copy once";
  some_copies(in, kManyCopies, std::move(advice), found,
              [](const GpuOperation& copy) { return copy.bytes <= kSmallCopyBytes; });
}

void copies_not_overlapped(const AdviceInput& in, std::vector<Advice>& found) {
  FoundNodes copies;
  each_node(in, kind_bit(NodeKind::Copy),
            [&](const Node& node) { copies.add(node.row, operation_of(in, node).duration_ns()); });
  if (copies.count == 0) return;
  Advice advice;
  advice.see = "copies";
  advice.finding = "copies that run while no kernel does";
  advice.evidence = fmt::format("{} copies, {}", copies.count, scaled_time(copies.time_ns));
  advice.action = "copy on a stream of its own, one batch ahead, from pinned memory";
  advice.scenario = without_copies();
  advice.floor_ns = longest_copies_ns(in.graph, in.selected);
  advice.operation = copies.longest;
  found.push_back(std::move(advice));
}

}  // namespace prof::analyzer
