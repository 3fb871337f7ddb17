// Typed row numbers of Trace's tables. An id is an index into the table of its kind; processes never share rows.
#pragma once

#include <cstdint>

namespace prof::analyzer {

enum class ProcessId : uint32_t {};
enum class ThreadId : uint32_t {};
enum class DeviceId : uint32_t {};      // one device as one process sees it
enum class StreamId : uint32_t {};      // one (process, device, context, stream)
enum class HostStreamId : uint32_t {};  // one stream handle as the host used it; 0: none
enum class KernelId : uint32_t {};      // name and launch shape of kernels; 0: unknown
enum class GraphId : uint32_t {};       // executable graph; 0: unknown
enum class LabelId : uint32_t {};       // domain, text, colour and category of a range or mark
enum class PathId : uint32_t {};        // a chain of open ranges; 0: in no range

template <class Id> constexpr uint32_t index(Id id) { return static_cast<uint32_t>(id); }
inline constexpr uint32_t kNone = UINT32_MAX;

// A node of a graph by CUPTI's number: the graph in the upper half, the node's index in it in the lower. Graph 0: not
// known.
constexpr uint64_t graph_node_id(uint32_t graph, uint32_t index_in_graph) {
  return uint64_t{graph} << 32 | index_in_graph;
}
constexpr uint32_t graph_of(uint64_t node_id) { return static_cast<uint32_t>(node_id >> 32); }
constexpr uint32_t index_in_graph(uint64_t node_id) { return static_cast<uint32_t>(node_id); }

// Rows [first, last) of a table.
struct Rows {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t size() const { return last - first; }
};

}  // namespace prof::analyzer
