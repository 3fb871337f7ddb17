// Where do the operations of CUDA graphs come from? Finds the call that captured or added the node of a replayed
// kernel, copy or memset. Offline. Uses Trace::graph_nodes and Trace::graphs_made, which only logs have.
//
//   operation (executable graph E, index I)
//     E  --instantiated from, updated from-->  graph T       (a copy keeps indices)
//     T  --cloned from, child of node-->       graph …       until a graph in which node I was captured or added
//   Nodes of child graphs and of the bodies of conditional nodes have numbers after those of E itself (seen with CUDA
//   13): first those of the graph in the first such node, then those of the graphs inside that one, then the next.
//   Another driver may give a child graph a number of its own, which is not recorded. Then all graphs inside T are
//   tried, and those that fit must have the same node.
//
// Nothing is guessed: a node must be of the operation's kind and, if both are known, launch its function. An operation
// that fits no node has no origin, but a reason.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

enum class NodeOrigin : uint8_t {
  NoGraph,  // not launched by a graph
  Known,
  BeforeRecording,  // captured, or its graph instantiated, before the recording
  NotRecorded,      // another tool's trace, or a log without records of graphs
  Whole,            // the graph was timed as a whole
  Unknown
};
std::string_view node_origin_text(NodeOrigin origin);  // "captured before recording"

struct NodeFound {
  NodeOrigin origin = NodeOrigin::NoGraph;
  uint32_t row = kNone;  // Known: row of Trace::graph_nodes, the record that created the node
};

class GraphOrigins {
 public:
  explicit GraphOrigins(const Trace& trace);

  NodeFound of(const GpuOperation& operation) const;

  // The record that created the node, following copies; kNone: none. `time_ns`: time of the launch of the executable
  // graph.
  uint32_t made(ProcessId process, uint64_t node, int64_t time_ns) const;
  // The graph from which an executable graph was instantiated or last updated by that time; 0: unknown.
  uint32_t source(ProcessId process, uint32_t graph, int64_t time_ns) const;
  // Nodes of a graph as they were captured or added, through all copies, ordered by index. Nodes of child graphs
  // follow.
  std::vector<uint32_t> nodes_of(ProcessId process, uint32_t graph, int64_t time_ns) const;
  // Whether the creation of the graph was recorded.
  bool knows(ProcessId process, uint32_t graph) const { return info(process, graph) != nullptr; }
  // Whether the graph, or a graph inside it, has a conditional node with a body.
  bool has_bodies(ProcessId process, uint32_t graph) const { return has_bodies(process, graph, 0); }

 private:
  struct Key {
    uint32_t process = 0;
    uint64_t node = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<uint64_t>()((key.node ^ uint64_t{key.process} << 48) * 0x9e3779b97f4a7c15u);
    }
  };
  struct Records {
    uint32_t made = kNone;          // row of Trace::graph_nodes
    std::vector<uint32_t> kernels;  // KernelIds that it was created or changed to launch
  };
  struct Inside {
    uint32_t index = 0, graph = 0;  // of the node, and of the graph inside it
    bool body = false;              // of a conditional node
  };
  struct Info {
    std::vector<uint32_t> made;     // rows of Trace::graphs_made of this graph, ordered by time
    std::vector<uint32_t> indices;  // of nodes recorded in it
    std::vector<Inside> children;   // ordered by time
  };
  static uint64_t graph_key(ProcessId process, uint32_t graph) { return uint64_t{index(process)} << 32 | graph; }
  const Info* info(ProcessId process, uint32_t graph) const;
  // The latest record by that time that copied the contents of another graph into this one; null: none.
  const GraphMade* contents(ProcessId process, uint32_t graph, int64_t time_ns) const;
  bool fits(ProcessId process, uint64_t node, int64_t time_ns, uint32_t row, const GpuOperation& operation) const;
  bool has_bodies(ProcessId process, uint32_t graph, int level) const;
  template <class Visit>
  void each_inside(ProcessId process, uint32_t graph, int64_t time_ns, int level, Visit&& visit) const;
  // The node of a child graph that has the number `index` in an executable graph; 0: none.
  uint64_t node_inside(ProcessId process, uint32_t executable, uint32_t index, int64_t time_ns) const;
  bool number_inside(ProcessId process, uint32_t graph, int64_t time_ns, int level, std::vector<uint64_t>& nodes) const;
  uint32_t node_count(ProcessId process, uint32_t graph, int64_t time_ns) const;
  NodeFound search(ProcessId process, const GpuOperation& operation, uint32_t launched, int64_t time_ns) const;
  NodeOrigin reason(ProcessId process, uint32_t graph, int64_t time_ns) const;

  const Trace& trace_;
  std::unordered_map<Key, Records, KeyHash> nodes_;
  std::unordered_map<uint64_t, Info> graphs_;  // by graph_key
  std::vector<bool> recorded_, unidentified_;  // by ProcessId
  struct Memo {
    Key key;
    uint32_t launched = 0, detail = 0, source = 0;
    bool operator==(const Memo&) const = default;
  };
  struct MemoHash {
    size_t operator()(const Memo& memo) const {
      return KeyHash()(memo.key) ^ (memo.launched * 0x9e3779b97f4a7c15u + (uint64_t{memo.detail} << 20) + memo.source);
    }
  };
  mutable std::unordered_map<Memo, NodeFound, MemoHash> found_;
  mutable std::map<std::pair<uint64_t, uint32_t>, std::vector<uint64_t>>
      numbered_;  // by executable graph and its source
};

}  // namespace prof::analyzer
