#include "analyzer/model/replay.h"

#include "analyzer/model/parallel.h"

#include <algorithm>
#include <array>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr size_t kLanes = 8;  // lane 0 is the unchanged run
constexpr size_t kParts = 4;

// Start and end of the nodes in one slot, in each lane, from the window's begin.
template <size_t lanes> struct Times { std::array<int64_t, lanes> start{}, end{}; };

// For each part, the lanes in which it is changed.
struct Masks {
  std::array<uint8_t, kParts> of_part{};
  bool partly = false;  // in some of these lanes a part of it stays
  bool any() const { return (of_part[0] | of_part[1] | of_part[2] | of_part[3]) != 0; }
  void add(uint32_t parts, size_t lane) {
    for (size_t part = 0; part < kParts; ++part) {
      if ((parts >> part & 1) != 0) of_part[part] = static_cast<uint8_t>(of_part[part] | 1u << lane);
    }
  }
  void add(const Masks& other) {
    for (size_t part = 0; part < kParts; ++part) of_part[part] |= other.of_part[part];
  }
};

// Which lanes change which part of a node. Changes that ask for nothing but a subject share one table a kind.
class Changes {
 public:
  explicit Changes(const std::function<bool(const Node&)>& selected) : selected_(selected) {}

  void add(const Change& change, size_t lane) {
    const bool simple = change.with_flags == 0 && change.without_flags == 0 && !change.only && !change.stays &&
                        (!selected_ || change.everywhere);
    for (uint32_t kind = 0; kind < kNodeKinds; ++kind) {
      if ((change.kinds >> kind & 1) == 0) continue;
      OfKind& of_kind = kinds_[kind];
      if (!simple) {
        of_kind.special.push_back({&change, lane});
      } else if (change.subjects.empty()) {
        of_kind.always.add(change.parts, lane);
      } else {
        if (of_kind.by_subject.size() < change.subjects.size()) of_kind.by_subject.resize(change.subjects.size());
        for (size_t s = 0; s < change.subjects.size(); ++s) {
          if (change.subjects[s]) of_kind.by_subject[s].add(change.parts, lane);
        }
      }
    }
  }
  Masks of(const Node& node) const {
    const OfKind& of_kind = kinds_[static_cast<size_t>(node.kind())];
    Masks masks = in_full(of_kind, node);
    for (const auto& [change, lane] : of_kind.special) {
      if (!concerns(*change, node)) continue;
      masks.add(change->parts, lane);
      masks.partly |= static_cast<bool>(change->stays);
    }
    return masks;
  }
  // What stays of a part of `time_ns` that is changed in this lane: the least of what its changes leave.
  int64_t stays(const Node& node, uint32_t part, size_t lane, int64_t time_ns) const {
    const OfKind& of_kind = kinds_[static_cast<size_t>(node.kind())];
    if ((in_full(of_kind, node).of_part[part] >> lane & 1) != 0) return std::min<int64_t>(time_ns, 0);
    int64_t left_ns = time_ns;
    for (const auto& [change, of_lane] : of_kind.special) {
      if (of_lane != lane || (change->parts >> part & 1) == 0 || !concerns(*change, node)) continue;
      left_ns = std::min(left_ns, change->stays ? std::max<int64_t>(change->stays(node.row, time_ns), 0) : 0);
    }
    return left_ns;
  }

 private:
  struct OfKind;
  bool concerns(const Change& change, const Node& node) const {
    return change.concerns(node) && (!selected_ || change.everywhere || selected_(node));
  }
  // Changes of all of the kind, or of all of the subject.
  static Masks in_full(const OfKind& of_kind, const Node& node) {
    Masks masks = of_kind.always;
    if (node.subject() < of_kind.by_subject.size()) masks.add(of_kind.by_subject[node.subject()]);
    return masks;
  }
  struct OfKind {
    Masks always;
    std::vector<Masks> by_subject;
    std::vector<std::pair<const Change*, size_t>> special;
  };
  const std::function<bool(const Node&)>& selected_;
  std::array<OfKind, 16> kinds_;
};

template <size_t lanes>
void step(const Times<lanes>& before, const Times<lanes>& other, int64_t after_before, int64_t after_other, int64_t own,
          Times<lanes>& now) {
  for (size_t lane = 0; lane < lanes; ++lane) {
    // What overlapped the node before it started no earlier than that did, however short it becomes.
    const int64_t a = std::max(before.end[lane] + after_before, before.start[lane]);
    const int64_t b = std::max(other.end[lane] + after_other, other.start[lane]);
    now.start[lane] = std::max(a, b);
    now.end[lane] = now.start[lane] + own;
  }
}

// The times of a node in each lane, as changed there.
struct NodeTimes {
  std::array<int64_t, kLanes> own{}, after_before{}, after_other{};

  NodeTimes(const Changes& changes, const Masks& masks, const Node& node, int64_t own_ns, int64_t before_ns,
            int64_t other_ns) {
    const auto fill = [&](std::array<int64_t, kLanes>& lanes, size_t part, int64_t time_ns) {
      const int64_t least_ns = std::min<int64_t>(time_ns, 0);
      for (size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = (masks.of_part[part] >> lane & 1) != 0 ? least_ns : time_ns;
    };
    fill(own, 0, own_ns);
    fill(after_before, 1, before_ns);
    fill(after_other, 2, other_ns);
    if (!masks.partly) return;
    for (size_t lane = 1; lane < kLanes; ++lane) {
      if ((masks.of_part[0] >> lane & 1) != 0) own[lane] = changes.stays(node, 0, lane, own_ns);
      if ((masks.of_part[1] >> lane & 1) != 0) after_before[lane] = changes.stays(node, 1, lane, before_ns);
    }
  }
};

void changed_step(const Times<kLanes>& before, const Times<kLanes>& other, const NodeTimes& times, const Masks& masks,
                  Times<kLanes>& now) {
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const int64_t a = std::max(before.end[lane] + times.after_before[lane], before.start[lane]);
    const bool waits = (masks.of_part[3] >> lane & 1) == 0;
    const int64_t b = waits ? std::max(other.end[lane] + times.after_other[lane], other.start[lane]) : a;
    now.start[lane] = std::max(a, b);
    now.end[lane] = now.start[lane] + times.own[lane];
  }
}

// Nodes in order through one lane. visit(id, node, start, end), from the window's begin.
template <class Visit> void run_unchanged(const DependencyGraph& graph, Visit&& visit) {
  std::vector<Times<1>> slots(graph.slots());
  for (uint32_t id = 1; id < graph.nodes().size(); ++id) {
    const Node& node = graph.nodes()[id];
    Times<1> now;
    step(slots[node.before], slots[node.other], graph.time(node.after_before), graph.time(node.after_other),
         graph.time(node.own), now);
    slots[node.slot] = now;
    visit(id, node, now.start[0], now.end[0]);
  }
}

void run_batch(const DependencyGraph& graph, const Changes& changes, Outcome* outcomes, size_t count) {
  std::vector<Times<kLanes>> slots(graph.slots());
  std::array<int64_t, kLanes> wall{};
  for (uint32_t id = 1; id < graph.nodes().size(); ++id) {
    const Node& node = graph.nodes()[id];
    const int64_t after_before = graph.time(node.after_before), after_other = graph.time(node.after_other);
    const int64_t own = graph.time(node.own);
    const Masks masks = changes.of(node);
    Times<kLanes> now;
    if (!masks.any()) {
      step(slots[node.before], slots[node.other], after_before, after_other, own, now);
    } else {
      const NodeTimes times(changes, masks, node, own, after_before, after_other);
      changed_step(slots[node.before], slots[node.other], times, masks, now);
      for (size_t lane = 1; lane <= count; ++lane) {
        const auto is_zero = [&](size_t part) { return (masks.of_part[part] >> lane & 1) != 0; };
        int64_t taken =
            own - times.own[lane] + after_before - times.after_before[lane] + after_other - times.after_other[lane];
        const bool waits = is_zero(3) && (node.has(kNodeReturns) || node.kind() == NodeKind::Join);
        if (waits) taken += now.start[0] - slots[node.before].end[0];
        const bool changes_node = is_zero(0) || is_zero(1) || is_zero(2) || waits;
        // A call that waits is two nodes: its entry takes no time of its own.
        const bool is_call = (kCallNodes & kind_bit(node.kind())) != 0 && !node.has(kNodeReturns);
        const bool entry = is_call && own == 0 && !is_zero(1);
        if (changes_node && !entry) ++outcomes[lane - 1].count;
        outcomes[lane - 1].own_ns += taken;
      }
    }
    slots[node.slot] = now;
    if (!node.has(kNodeLast)) continue;
    for (size_t lane = 0; lane < kLanes; ++lane) wall[lane] = std::max(wall[lane], now.end[lane]);
  }
  for (size_t lane = 1; lane <= count; ++lane) outcomes[lane - 1].wall_ns = wall[lane];
}

// By node: the one that bound it in the measured run; 0: the window's begin.
Column<uint32_t> bound_by(const DependencyGraph& graph) {
  Column<uint32_t> bound;
  bound.resize(graph.nodes().size());
  std::vector<uint32_t> in_slot(graph.slots());
  for (uint32_t id = 1; id < graph.nodes().size(); ++id) {
    const Node& node = graph.nodes()[id];
    bound[id] = in_slot[node.has(kNodeBoundByOther) ? node.other : node.before];
    in_slot[node.slot] = id;
  }
  return bound;
}

}  // namespace

int64_t Replay::wall_ns() const {
  int64_t wall = 0;
  run_unchanged(graph_, [&](uint32_t, const Node&, int64_t, int64_t end) { wall = std::max(wall, end); });
  return wall;
}

std::vector<Outcome> Replay::walls_without(const std::vector<Scenario>& scenarios) const {
  std::vector<Outcome> outcomes(scenarios.size());
  constexpr size_t kBatch = kLanes - 1;
  parallel_for((scenarios.size() + kBatch - 1) / kBatch, [&](size_t batch) {
    const size_t first = batch * kBatch, count = std::min(scenarios.size() - first, kBatch);
    Changes changes(selected_);
    for (size_t i = 0; i < count; ++i) {
      for (const Change& change : scenarios[first + i]) changes.add(change, i + 1);
    }
    run_batch(graph_, changes, outcomes.data() + first, count);
  });
  return outcomes;
}

std::vector<PathStep> Replay::critical_path() const {
  std::vector<PathStep> path;
  if (graph_.last() == kNone) return path;
  {
    const Column<uint32_t> bound = bound_by(graph_);
    for (uint32_t id = graph_.last(); id != 0; id = bound[id]) path.push_back({id, 0, 0, 0});
  }
  std::reverse(path.begin(), path.end());
  size_t next = 0;
  run_unchanged(graph_, [&](uint32_t id, const Node&, int64_t start, int64_t end) {
    if (next == path.size() || path[next].node != id) return;
    path[next].start_ns = graph_.begin_ns() + start;
    path[next].end_ns = graph_.begin_ns() + end;
    path[next].begin_ns = next == 0 ? graph_.begin_ns() : path[next - 1].end_ns;
    ++next;
  });
  return path;
}

// Backwards, a slot holds until when its node may end: what reads a slot comes after the node that filled it and before the next.
Column<int64_t> Replay::slacks() const {
  Column<int64_t> slack;
  slack.resize(graph_.nodes().size());
  run_unchanged(graph_, [&](uint32_t id, const Node&, int64_t, int64_t end) { slack[id] = end; });
  std::vector<int64_t> latest(graph_.slots(), graph_.wall_ns());
  for (size_t id = graph_.nodes().size(); id-- > 1;) {
    const Node& node = graph_.nodes()[id];
    const int64_t end = std::exchange(latest[node.slot], graph_.wall_ns());
    slack[id] = end - slack[id];
    const int64_t start = end - graph_.time(node.own);
    latest[node.before] = std::min(latest[node.before], start - graph_.time(node.after_before));
    latest[node.other] = std::min(latest[node.other], start - graph_.time(node.after_other));
  }
  return slack;
}

void Replay::times(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) const {
  start_ns.assign(graph_.nodes().size(), 0);
  end_ns.assign(graph_.nodes().size(), 0);
  run_unchanged(graph_, [&](uint32_t id, const Node&, int64_t start, int64_t end) {
    start_ns[id] = graph_.begin_ns() + start;
    end_ns[id] = graph_.begin_ns() + end;
  });
}

}  // namespace prof::analyzer
