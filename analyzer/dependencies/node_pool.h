// The nodes of a dependency graph under construction, each with its times while something may still need it. Nodes are
// reference-counted. A thread or a stream holds its last node. A launch is held for its outstanding operations, and an
// operation for the calls that wait for it. A slot is reused when its last reference is dropped. Memory beside the
// graph is therefore proportional to what is outstanding, not to the run. Used only by dependency_graph.cpp.
#pragma once

#include "analyzer/base/prefault.h"
#include "analyzer/base/saturated.h"
#include "analyzer/dependencies/dependency_graph.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct NewNode {
  NodeKind kind;
  uint32_t row;
  uint32_t subject = 0;
  uint32_t flags = 0;
  uint32_t before = 0, other = 0;  // slots
  int64_t after_before = 0, after_other = 0;
  int64_t end_ns = 0, own = 0;

  bool bound_by_other() const { return (flags & kNodeBoundByOther) != 0; }
};

class GraphNodes {
 public:
  // A node that may still be referenced, by slot. Slot 0 is the start of the window and always valid.
  struct Live {
    int64_t start_ns = 0, end_ns = 0;
    uint32_t node = 0;
    uint32_t holders = 0;
    uint32_t returned = 0;  // for the entry of a call that waited: its return, held by the entry
    bool outlived = false;  // another node ends no earlier
  };

  // `expected`: approximate number of nodes.
  GraphNodes(DependencyGraph& graph, size_t expected)
      : graph_(graph), prefault_(reserved(graph.nodes_, expected + expected / 16 + 1024), expected) {
    graph_.nodes_.push_back({});
    live_.push_back({graph.begin_ns_, graph.begin_ns_, 0, 1, 0, true});
  }

  const Live& operator[](uint32_t slot) const { return live_[slot]; }
  int64_t end_ns(uint32_t slot) const { return live_[slot].end_ns; }
  const Node& node(uint32_t slot) const { return graph_.nodes_[live_[slot].node]; }

  void hold(uint32_t slot, uint32_t times = 1) { live_[slot].holders += times; }
  void release(uint32_t slot) {
    if (slot == 0 || --live_[slot].holders != 0) return;
    mark_if_last(live_[slot]);
    free_.push_back(slot);
    if (const uint32_t returned = live_[slot].returned; returned != 0) release(returned);
  }

  // Returns the slot of the new node with one reference.
  uint32_t add(const NewNode& from) {
    if (from.after_before >= 0) live_[from.before].outlived = true;
    if (from.after_other >= 0) live_[from.other].outlived = true;
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(live_.size()));
      live_.emplace_back();
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    const auto id = static_cast<uint32_t>(graph_.nodes_.size());
    Node node;
    node.row = from.row;
    node.slot = slot;
    node.before = from.before;
    node.other = from.other;
    node.after_before = pack(from.after_before);
    node.after_other = pack(from.after_other);
    node.own = pack(from.own);
    node.set(from.kind, from.flags, from.subject);
    // An operation may be last although something waits for it, because a what-if may remove the wait.
    if ((kind_bit(from.kind) & kOperationNodes) != 0) node.add_flag(kNodeLast);
    graph_.nodes_.push_back(node);
    if (id / DependencyGraph::kStretch >= graph_.kinds_of_stretch_.size()) graph_.kinds_of_stretch_.push_back(0);
    graph_.kinds_of_stretch_.back() |= static_cast<uint16_t>(kind_bit(from.kind));
    graph_.words_[node.kind_and_flags()] = true;
    live_[slot] = {from.end_ns - from.own, from.end_ns, id, 1, 0, false};
    if (graph_.last_ == kNone || from.end_ns > last_ns_) {
      graph_.last_ = id;
      last_ns_ = from.end_ns;
    }
    return slot;
  }

  // The node at which both have ended. Takes over the caller's reference to `a`. Slot 0 (nothing) is neutral.
  uint32_t join(uint32_t a, uint32_t b, uint32_t row = 0) {
    if (b == 0 || a == b) return a;
    if (a == 0) {
      hold(b);
      return b;
    }
    NewNode node{NodeKind::Join, row};
    node.before = a;
    node.other = b;
    node.end_ns = std::max(end_ns(a), end_ns(b));
    if (end_ns(b) > end_ns(a)) node.flags = kNodeBoundByOther;
    const uint32_t joined = add(node);
    release(a);
    return joined;
  }

  // Sets the return of a call whose entry is still referenced.
  void set_returned(uint32_t entry, uint32_t returned) {
    live_[entry].returned = returned;
    hold(returned);
  }

  // Of a node that exists.
  void add_flag(uint32_t id, uint32_t flag) {
    Node& node = graph_.nodes_[id];
    node.add_flag(flag);
    graph_.words_[node.kind_and_flags()] = true;
  }

  void add_shared(int64_t ns) { grow(graph_.shared_ns_, ns); }

  void finish() {
    for (const Live& live : live_) {
      if (live.holders != 0 && live.node != 0) mark_if_last(live);
    }
    graph_.wall_ns_ = graph_.last_ == kNone ? 0 : last_ns_ - graph_.begin_ns_;
    graph_.slots_ = static_cast<uint32_t>(live_.size());
  }

 private:
  static const Column<Node>& reserved(Column<Node>& nodes, size_t rows) {
    nodes.reserve(rows);
    return nodes;
  }
  void mark_if_last(const Live& live) {
    if (live.outlived) return;
    Node& node = graph_.nodes_[live.node];
    node.add_flag(kNodeLast);
    graph_.words_[node.kind_and_flags()] = true;
  }
  int32_t pack(int64_t time_ns) {
    if (time_ns > DependencyGraph::kAside && time_ns <= INT32_MAX) return static_cast<int32_t>(time_ns);
    graph_.aside_.push_back(time_ns);
    return static_cast<int32_t>(INT32_MIN + static_cast<int64_t>(graph_.aside_.size() - 1));
  }

  DependencyGraph& graph_;
  Prefault prefault_;
  std::vector<Live> live_;      // by slot
  std::vector<uint32_t> free_;  // slots
  int64_t last_ns_ = 0;
};

// Counts how many references to the node of a row will be taken, before the node exists.
class ExpectedNodes {
 public:
  ExpectedNodes(GraphNodes& nodes, size_t rows) : nodes_(nodes) { of_row_.resize(rows); }

  void expect(uint32_t row) { ++of_row_[row]; }
  // The node of the row exists. Each expected reference is added to it.
  void arrive(uint32_t row, uint32_t slot) {
    if (of_row_[row] == 0) return;
    nodes_.hold(slot, of_row_[row]);
    of_row_[row] = kThere | slot;
  }
  // Takes one expected reference: the slot, which the caller must release; 0 if the node does not exist yet.
  uint32_t take(uint32_t row) {
    if ((of_row_[row] & kThere) != 0) return of_row_[row] & ~kThere;
    --of_row_[row];
    return 0;
  }

 private:
  static constexpr uint32_t kThere = 1u << 31;
  GraphNodes& nodes_;
  Column<uint32_t> of_row_;
};

}  // namespace prof::analyzer
