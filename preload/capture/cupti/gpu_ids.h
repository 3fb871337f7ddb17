// Which numbers does CUPTI give contexts, streams and graphs in its GPU records? Zeros if CUPTI is not in use. streams/
// and the hooks of graphs use it. It is bracketed like every driver call of ours and never waits.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

uint32_t gpu_context_of(CUcontext context);  // 0: not known
// False: not known. `stream` may be one of the null streams' handles.
bool gpu_stream_of(CUcontext context, CUstream stream, bool per_thread, uint32_t& gpu_stream);

// The device of a context, by CUPTI. False: not known.
bool gpu_device_of(CUcontext context, uint32_t& device);

// A node is [graph | index], 32 bits each. An executable graph has its own number and keeps the indices of the graph
// that it was made of. The records of its launches have its number.
uint32_t gpu_graph_of(CUgraph graph);
uint32_t gpu_graph_of(CUgraphExec graph);
uint64_t gpu_node_of(CUgraphNode node);

}  // namespace prof::preload
