#include "analyzer/dependencies/awaited_events.h"

namespace prof::analyzer {

AwaitedEvents::AwaitedEvents(const Trace& trace) : trace_(trace) {
  constexpr uint32_t kEventRecordNode = 7;  // CUgraphNodeType
  for (uint32_t row = 0; row < trace.syncs.size(); ++row) {
    const SyncEvent& sync = trace.syncs[row];
    if (sync.call == kNone) continue;
    reported_.emplace(sync.call, row);
    if (sync.record_correlation == 0 || sync.waits_for == kNone) continue;
    records_.emplace(record_key(trace.host[sync.call], sync.record_correlation), Record{sync.waits_for, kNone, false});
  }
  for (const GraphNode& node : trace.graph_nodes) {
    if (node.type == kEventRecordNode && node.call != kNone) events_of_graphs_.insert(node.call);
  }
}

}  // namespace prof::analyzer
