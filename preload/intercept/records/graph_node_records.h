// Records about graphs and their nodes: what was added, copied, changed, and by which call. Called behind the real calls, with
// valid handles; asks CUPTI for its numbers, without which nothing can be said (counted). In the program.
#pragma once

#include "preload/format/events.h"
#include "preload/lifecycle/call_scope.h"

#include <cuda.h>

namespace prof::preload {

// One graph_node record; `flags` is 0 or format::kNodeChanged. `exec`: the executable graph that was changed, not the node itself.
void record_node(const CallScope& scope, CUgraphNode node, uint32_t flags, format::ConfigId config = {},
                 CUgraphExec exec = nullptr);

// One graph_made record by CUPTI's numbers.
void record_graph(const CallScope& scope, format::GraphOrigin origin, uint32_t graph, uint32_t from, uint64_t node = 0,
                  bool renumbered = false);

void record_clone(const CallScope& scope, CUgraph clone, CUgraph original);
// `from`: CUPTI's number of the graph that was put into the child graph node.
void record_child(const CallScope& scope, CUgraphNode node, uint32_t from, CUgraph original);

// A node's number is not known. Counted where GPU records would need it: without them there is nothing that it could be compared with.
void count_unidentified();

}  // namespace prof::preload
