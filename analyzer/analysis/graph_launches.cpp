#include "analyzer/analysis/graph_launches.h"

#include <fmt/format.h>

namespace prof::analyzer {

PathId PathsOfCalls::of(uint32_t call) {
  const HostEvent& event = trace_.host[call];
  auto cursor = cursors_.find(index(event.thread));
  if (cursor == cursors_.end()) cursor = cursors_.emplace(index(event.thread), PathCursor(trace_, event.thread)).first;
  return cursor->second.at(event.begin_ns);
}

std::string_view node_kernel_name(const AnalysisInput& input, uint32_t row) {
  const GraphNode& node = input.trace.graph_nodes[row];
  uint32_t kernel = node.kernel;
  if (kernel == 0 && node.call != kNone && input.trace.host[node.call].kind() == HostKind::KernelLaunch)
    kernel = static_cast<uint32_t>(input.trace.host[node.call].subject);
  return kernel == 0 ? std::string_view() : input.views.names().name(KernelId{kernel}, input.options.names);
}

uint32_t call_of(const Trace& trace, const Views& views, const GpuOperation& operation, bool captured) {
  if (!captured || operation.graph_node == 0) return operation.launch;
  const NodeFound found = views.graph_origins().of(operation);
  return found.origin == NodeOrigin::Known ? trace.graph_nodes[found.row].call : operation.launch;
}

std::string origin_note(const std::array<uint64_t, 6>& by_origin) {
  uint64_t all = 0;
  std::string parts;
  for (size_t i = 0; i < by_origin.size(); ++i) {
    const auto origin = static_cast<NodeOrigin>(i);
    all += by_origin[i];
    if (by_origin[i] == 0) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ",
                         origin == NodeOrigin::Known ? "by a known call" : node_origin_text(origin), by_origin[i]);
  }
  return fmt::format("operations of graphs {}{}", all, parts);
}

}  // namespace prof::analyzer
