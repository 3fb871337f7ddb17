#include "analyzer/analysis/cost/kernel_claims.h"

#include "analyzer/analysis/sequences/repeated_launches.h"

#include <algorithm>

namespace prof::analyzer {

KernelClaims::KernelClaims(const Trace& trace, const Views& views, const LibraryCalls& calls, RangeCosts& costs)
    : trace_(trace), views_(views), calls_(calls), in_range_(trace.operations.size()), encloses_(trace.ranges.size()) {
  std::vector<bool> calls_with_kernels(calls.any() ? trace.ranges.size() : 0);
  collect(costs, calls_with_kernels);
  const auto by_range = [](const KernelClaim& a, const KernelClaim& b) {
    return a.range != b.range ? a.range < b.range : a.replay < b.replay;
  };
  if (!std::is_sorted(claims_.begin(), claims_.end(), by_range))
    std::stable_sort(claims_.begin(), claims_.end(), by_range);
  mark_enclosing(costs);
  // A library call that counts is not inside another range that does.
  if (calls.any()) calls.mark_around(calls_with_kernels, encloses_);
}

void KernelClaims::collect(RangeCosts& costs, std::vector<bool>& calls_with_kernels) {
  const Column<uint32_t>& range_of_call = views_.range_of_call();
  const RepeatedLaunches repeated(trace_);
  for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
    const GpuOperation& operation = trace_.operations[row];
    if (operation.kind() != GpuKind::Kernel || !operation.linked()) continue;
    const bool in_graph = operation.graph_node != 0;
    const bool again = in_graph || repeated.range_around(trace_.host[operation.launch]) != kNone;
    if (const uint32_t call = library_call_of(operation); call != kNone) {
      claims_.push_back({call, row, again ? operation.launch + 1 : 0});
      calls_with_kernels[call] = true;
      continue;
    }
    const uint32_t range = range_of_call[operation.launch];
    if (range == kNone) continue;
    in_range_[row] = true;
    const uint32_t owner = costs.owner(range);
    if (owner != kNone) claims_.push_back({owner, row, again && !in_graph ? operation.launch + 1 : 0});
  }
}

// The library call that launched it, or that was captured as the node of a graph which it is a run of.
uint32_t KernelClaims::library_call_of(const GpuOperation& operation) const {
  if (!calls_.any()) return kNone;
  uint32_t call = operation.launch;
  if (operation.graph_node != 0) {
    const NodeFound found = views_.graph_origins().of(operation);
    if (found.row == kNone) return kNone;
    call = trace_.graph_nodes[found.row].call;
    if (call == kNone) return kNone;
  }
  return calls_.around(trace_.host[call].thread, trace_.host[call].begin_ns);
}

void KernelClaims::mark_enclosing(RangeCosts& costs) {
  for_each_run([&](std::span<const KernelClaim> run) {
    const uint32_t range = run.front().range;
    if (!costs.of(range).cost.flops) return;
    for (uint32_t at = trace_.ranges[range].parent; at != kNone && !encloses_[at]; at = trace_.ranges[at].parent)
      encloses_[at] = true;
  });
}

}  // namespace prof::analyzer
