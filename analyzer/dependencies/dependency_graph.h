// The run as a graph of what had to end before what could begin. A replay of the unchanged graph gives the measured
// times. Critical paths and what-ifs are computed only by replay.h on this graph.
//
//   host thread   [call]--work-->[launch]--work-->[synchronise . . . . . return]--work-->[call]      one chain a thread
//                                   | latency                             ^
//   stream                          +-->[operation]--delay-->[operation]--+                          one chain a stream
//                                                        ^ another stream's event
//
// A node starts when both preceding nodes have ended and the times of the two edges have passed. Then it takes its own
// time. The edge that bound the node in the measured run has the measured time. The other edge has 0: without it the
// node would not have started earlier. So a replay without changes equals the measured run to the nanosecond, and the
// savings of a change are an upper bound. Nodes whose known causes may not be all are marked; replay.h bounds these by
// the weakest assumption. Edges lead only from earlier to later moments, so there are no cycles.
//
// 32 bytes per node; a launch and its operation are two nodes. Every node is stored after all nodes that precede it in
// the graph. Edges refer to *slots* instead of nodes. A slot is a place in which a replay keeps the times that a later
// node still needs. O(n log n) to construct, O(n) to replay.
#pragma once

#include "analyzer/dependencies/dependencies.h"
#include "analyzer/model/trace.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

enum class NodeKind : uint8_t {
  Point,  // a moment of a host thread: its first and last, and where it releases or waits for another
  Join,   // several awaited operations
  KernelCall,
  GraphCall,
  MemoryCall,
  SynchronizationCall,
  AllocationCall,
  OtherCall,
  Kernel,
  Copy,
  Fill,
};
inline constexpr uint32_t kNodeKinds = 11;
static_assert(kNodeKinds <= 16);
constexpr uint32_t kind_bit(NodeKind kind) { return 1u << static_cast<uint32_t>(kind); }
inline constexpr uint32_t kCallNodes = kind_bit(NodeKind::KernelCall) | kind_bit(NodeKind::GraphCall) |
                                       kind_bit(NodeKind::MemoryCall) | kind_bit(NodeKind::SynchronizationCall) |
                                       kind_bit(NodeKind::AllocationCall) | kind_bit(NodeKind::OtherCall);
inline constexpr uint32_t kHostNodes = kCallNodes | kind_bit(NodeKind::Point);
inline constexpr uint32_t kOperationNodes =
    kind_bit(NodeKind::Kernel) | kind_bit(NodeKind::Copy) | kind_bit(NodeKind::Fill);

// Flags of a node.
inline constexpr uint32_t kNodeReturns = 1;       // the return of a call that waited; the node before is its entry
inline constexpr uint32_t kNodeBoundByOther = 2;  // the second edge bound the node in the measured run
inline constexpr uint32_t kNodeLast = 4;          // nothing follows
inline constexpr uint32_t kNodeUnexplained = 8;   // no known cause: no launch, no earlier event of its thread
// Something else ended before the node could start or end, and may be what it waited for: recent_ends.h. Or it is a
// kernel that ran beside others of its GPU, or communicates with other GPUs.
inline constexpr uint32_t kNodeStartAssumed = 16;  // its known causes may not be all that its start waited for
inline constexpr uint32_t kNodeTimeAssumed = 32;   // its own time may contain a wait
inline constexpr uint32_t kAssumedFlags = kNodeUnexplained | kNodeStartAssumed | kNodeTimeAssumed;

// Node::row of a join that only the legacy default stream needs; for other joins it is 0.
inline constexpr uint32_t kLegacyJoin = 1;

struct Node {
  uint32_t row = 0;   // calls: Trace::host; operations: Trace::operations; points: ThreadId
  uint32_t slot = 0;  // where a replay keeps its times
  // Host: the previous node of the thread. Operations: the previous node of the stream.
  uint32_t before = 0;  // slot
  // Returns: the awaited node. Operations: the launch. Points: the other thread's node. Slot 0 (the start of the
  // window): none.
  uint32_t other = 0;
  int32_t after_before = 0, after_other = 0, own = 0;  // times, packed: DependencyGraph::time()
  uint32_t word = 0;                                   // kind (4 bits) | flags (6) | subject (22)

  static constexpr uint32_t kSubjects = 1u << 22;
  static constexpr uint32_t kKindsAndFlags = 1u << 10;
  void set(NodeKind kind, uint32_t flags, uint32_t subject) {
    word = static_cast<uint32_t>(kind) | flags << 4 | (subject < kSubjects ? subject : kSubjects - 1) << 10;
  }
  void add_flag(uint32_t flag) { word |= flag << 4; }
  NodeKind kind() const { return static_cast<NodeKind>(word & 15); }
  uint32_t flags() const { return word >> 4 & 63; }
  // Kind and flags together, for tables of kKindsAndFlags rows; the subject is 0 in the node made from it.
  uint32_t kind_and_flags() const { return word & (kKindsAndFlags - 1); }
  static Node of_kind_and_flags(uint32_t kind_and_flags) {
    Node node;
    node.word = kind_and_flags;
    return node;
  }
  bool has(uint32_t flag) const { return (flags() & flag) != 0; }
  // Kernels and their launches: KernelId; copies and memsets: GpuOperation::detail; other calls: index into
  // Trace::apis.
  uint32_t subject() const { return word >> 10; }
};
static_assert(sizeof(Node) == 32);

class DependencyGraph {
 public:
  // The graph of the run inside [begin, end). Events that cross an edge of the window are cut there.
  DependencyGraph(const Trace& trace, const Dependencies& dependencies, int64_t begin_ns, int64_t end_ns);

  const Trace& trace() const { return trace_; }
  const Dependencies& dependencies() const { return dependencies_; }
  int64_t begin_ns() const { return begin_ns_; }
  int64_t wall_ns() const { return wall_ns_; }  // from the window's start to the end of the last node
  const Column<Node>& nodes() const { return nodes_; }
  uint32_t slots() const { return slots_; }

  // A time stored in a node. Times that do not fit 31 bits (over 1 s) are stored in aside_.
  int64_t time(int32_t packed) const {
    return packed > kAside ? packed : aside_[static_cast<size_t>(static_cast<int64_t>(packed) - INT32_MIN)];
  }
  // Whether a node of these kinds may exist that has with_flags and lacks without_flags.
  bool has_nodes(uint32_t kinds, uint32_t with_flags, uint32_t without_flags) const {
    for (uint32_t word = 0; word < words_.size(); ++word) {
      const Node node = Node::of_kind_and_flags(word);
      if (words_[word] && (kinds & kind_bit(node.kind())) != 0 && (node.flags() & with_flags) == with_flags &&
          (node.flags() & without_flags) == 0)
        return true;
    }
    return false;
  }
  // Whether a replay with changes depends on assumptions: replay.h.
  bool has_assumed() const {
    for (uint32_t word = 0; word < words_.size(); ++word) {
      if (words_[word] && (Node::of_kind_and_flags(word).flags() & kAssumedFlags) != 0) return true;
    }
    return false;
  }
  // Sum of the time for which kernels ran beside earlier ones of their GPU.
  int64_t shared_ns() const { return shared_ns_; }
  // Calls visit(id, node) for all nodes of these kinds in order. Stretches without such nodes are skipped.
  template <class Visit> void each_node(uint32_t kinds, Visit&& visit) const {
    for (size_t stretch = 0; stretch < kinds_of_stretch_.size(); ++stretch) {
      if ((kinds_of_stretch_[stretch] & kinds) == 0) continue;
      const size_t first = std::max<size_t>(stretch * kStretch, 1),
                   last = std::min((stretch + 1) * kStretch, nodes_.size());
      for (size_t id = first; id < last; ++id) {
        if ((kinds & kind_bit(nodes_[id].kind())) != 0) visit(static_cast<uint32_t>(id), nodes_[id]);
      }
    }
  }
  // The node that ended last; kNone if there is none.
  uint32_t last() const { return last_; }

 private:
  friend class GraphNodes;
  static constexpr int32_t kAside = -(1 << 30);
  static constexpr size_t kStretch = 512;  // nodes

  const Trace& trace_;
  const Dependencies& dependencies_;
  int64_t begin_ns_;
  int64_t wall_ns_ = 0;
  int64_t shared_ns_ = 0;
  uint32_t last_ = kNone;
  uint32_t slots_ = 1;
  Column<Node> nodes_;
  std::vector<uint16_t> kinds_of_stretch_;  // kind_bit()s
  std::vector<int64_t> aside_;
  std::array<bool, Node::kKindsAndFlags> words_{};  // kinds and flags that nodes have, or had before kNodeLast was set
};

}  // namespace prof::analyzer
