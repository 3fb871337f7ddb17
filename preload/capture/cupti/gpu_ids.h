// CUPTI's numbers for contexts, streams and graphs, the ones in GPU records; zeros where CUPTI is not in use. Bracketed like
// every driver call of ours; never waits.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

uint32_t gpu_context_of(CUcontext context);  // 0: not known
// False: not known. `stream` may be one of the null streams' handles.
bool gpu_stream_of(CUcontext context, CUstream stream, bool per_thread, uint32_t& gpu_stream);

// The device a context belongs to, by whatever can be asked; false: cannot be told from here.
bool gpu_device_of(CUcontext context, uint32_t& device);

// A node is [graph | index], 32 bits each. An executable graph has a number of its own and keeps the indices of the graph it
// was made of; the records of its launches have its number.
uint32_t gpu_graph_of(CUgraph graph);
uint32_t gpu_graph_of(CUgraphExec graph);
uint64_t gpu_node_of(CUgraphNode node);

}  // namespace prof::preload
