// Records about graphs and their nodes: what was added, copied or changed, and by which call. Hooks call these
// functions after the real calls, with valid handles. They query CUPTI for the numbers of graphs and nodes. Without
// these numbers there is no record, and the loss is counted. They run in the program.
#pragma once

#include "preload/format/events.h"
#include "preload/lifecycle/call_scope.h"

#include <cuda.h>

namespace prof::preload {

// Writes one graph_node record. `flags` is 0 or format::kNodeChanged. `exec`: the executable graph that was changed, if
// not the node itself was.
void record_node(const CallScope& scope, CUgraphNode node, uint32_t flags, format::ConfigId config = {},
                 CUgraphExec exec = nullptr);

// Writes one graph_made record with CUPTI's numbers.
void record_graph(const CallScope& scope, format::GraphOrigin origin, uint32_t graph, uint32_t from, uint64_t node = 0,
                  bool renumbered = false);

void record_clone(const CallScope& scope, CUgraph clone, CUgraph original);
// `from`: CUPTI's number of the graph that was copied into the child graph node.
void record_child(const CallScope& scope, CUgraphNode node, uint32_t from, CUgraph original);

// Counts a node whose number is not known. It counts only while CUPTI is in use: without GPU records, no record needs
// the number.
void count_unidentified();

}  // namespace prof::preload
