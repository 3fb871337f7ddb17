#include "analyzer/model/replay.h"

#include "analyzer/model/parallel.h"
#include "analyzer/model/replay_changes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace prof::analyzer {

namespace {

// Start and end of the nodes in one slot, in each lane, from the window's begin.
template <size_t lanes> struct Times { std::array<int64_t, lanes> start{}, end{}; };

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

// Sums over the nodes that a lane changes.
struct LaneSums {
  Lanes own_ns{}, count{}, wall{};
};

// One node in all lanes. Loops over lanes stand alone and have no branches: compilers make vectors of them.
[[gnu::always_inline]] inline void changed_step(const Times<kLanes>& before, const Times<kLanes>& other,
                                                const Node& node, const NodeTimes& times, const NodeTimes& measured,
                                                const LaneMasks& masks, Times<kLanes>& now, LaneSums& sums) {
  const Lanes &waits_not = *masks[3], &own_changed = *masks[0], &before_changed = *masks[1], &other_changed = *masks[2];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const int64_t a = std::max(before.end[lane] + times.after_before[lane], before.start[lane]);
    const int64_t b = std::max(other.end[lane] + times.after_other[lane], other.start[lane]);
    now.start[lane] = std::max(a, (b & ~waits_not[lane]) | (a & waits_not[lane]));
    now.end[lane] = now.start[lane] + times.own[lane];
  }
  const bool can_wait = node.has(kNodeReturns) || node.kind() == NodeKind::Join;
  const int64_t waits = can_wait ? -1 : 0, waited_ns = now.start[0] - before.end[0];
  // A call that waits is two nodes: its entry takes no time of its own.
  const bool is_call = (kCallNodes & kind_bit(node.kind())) != 0 && !node.has(kNodeReturns);
  const int64_t entry = is_call && measured.own[0] == 0 ? -1 : 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const int64_t not_waited = waits_not[lane] & waits;
    sums.own_ns[lane] += measured.own[lane] - times.own[lane] + measured.after_before[lane] - times.after_before[lane] +
                         measured.after_other[lane] - times.after_other[lane] + (waited_ns & not_waited);
    const int64_t changes_node = own_changed[lane] | before_changed[lane] | other_changed[lane] | not_waited;
    sums.count[lane] -= changes_node & (before_changed[lane] | ~entry);
  }
}

[[gnu::always_inline]] inline void run_nodes(const DependencyGraph& graph, const Changes& changes, LaneSums& sums) {
  std::vector<Times<kLanes>> slots(graph.slots());
  for (uint32_t id = 1; id < graph.nodes().size(); ++id) {
    const Node& node = graph.nodes()[id];
    const int64_t after_before = graph.time(node.after_before), after_other = graph.time(node.after_other);
    const int64_t own = graph.time(node.own);
    const Masks masks = changes.of(node);
    const Times<kLanes>&before = slots[node.before], &other = slots[node.other];
    Times<kLanes> now;
    if (!masks.any()) {
      step(before, other, after_before, after_other, own, now);
    } else {
      const NodeTimes measured(own, after_before, after_other);
      const LaneMasks lanes = lane_masks(masks);
      NodeTimes times(measured, lanes);
      if (masks.partly != 0) changes.cut(node, masks, measured, times);
      changed_step(before, other, node, times, measured, lanes, now, sums);
    }
    slots[node.slot] = now;
    if (!node.has(kNodeLast)) continue;
    for (size_t lane = 0; lane < kLanes; ++lane) sums.wall[lane] = std::max(sums.wall[lane], now.end[lane]);
  }
}

// The same for several generations of processors: wider vectors take a third of the time.
#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl,avx512dq"))) void run_nodes_avx512(const DependencyGraph& graph,
                                                                           const Changes& changes, LaneSums& sums) {
  run_nodes(graph, changes, sums);
}
__attribute__((target("avx2"))) void run_nodes_avx2(const DependencyGraph& graph, const Changes& changes,
                                                    LaneSums& sums) {
  run_nodes(graph, changes, sums);
}
#endif

void run_batch(const DependencyGraph& graph, const Changes& changes, const std::vector<Outcome*>& outcomes) {
  LaneSums sums;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    run_nodes_avx512(graph, changes, sums);
  } else if (__builtin_cpu_supports("avx2")) {
    run_nodes_avx2(graph, changes, sums);
  } else {
    run_nodes(graph, changes, sums);
  }
#else
  run_nodes(graph, changes, sums);
#endif
  for (size_t i = 0; i < outcomes.size(); ++i)
    *outcomes[i] = {sums.wall[i + 1], static_cast<uint64_t>(sums.count[i + 1]), sums.own_ns[i + 1]};
}

}  // namespace

int64_t Replay::wall_ns() const {
  int64_t wall = 0;
  run_unchanged(graph_, [&](uint32_t, const Node&, int64_t, int64_t end) { wall = std::max(wall, end); });
  return wall;
}

std::vector<Outcome> Replay::walls_without(const std::vector<Scenario>& scenarios) const {
  // What concerns no node leaves the run as it is.
  std::vector<Outcome> outcomes(scenarios.size(), Outcome{graph_.wall_ns(), 0, 0});
  std::vector<size_t> asked;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (std::any_of(scenarios[i].begin(), scenarios[i].end(), [&](const Change& change) {
          return graph_.has_nodes(change.kinds, change.with_flags, change.without_flags);
        }))
      asked.push_back(i);
  }
  constexpr size_t kInBatch = kLanes - 1;
  parallel_for((asked.size() + kInBatch - 1) / kInBatch, [&](size_t batch) {
    Changes changes(selected_);
    std::vector<Outcome*> of_batch;
    for (size_t i = batch * kInBatch; i < std::min(asked.size(), (batch + 1) * kInBatch); ++i) {
      of_batch.push_back(&outcomes[asked[i]]);
      for (const Change& change : scenarios[asked[i]]) changes.add(change, of_batch.size());
    }
    run_batch(graph_, changes, of_batch);
  });
  return outcomes;
}

Column<uint32_t> Replay::bound_by() const {
  Column<uint32_t> bound;
  bound.resize(graph_.nodes().size());
  std::vector<uint32_t> in_slot(graph_.slots());
  for (uint32_t id = 1; id < graph_.nodes().size(); ++id) {
    const Node& node = graph_.nodes()[id];
    bound[id] = in_slot[node.has(kNodeBoundByOther) ? node.other : node.before];
    in_slot[node.slot] = id;
  }
  return bound;
}

std::vector<PathStep> Replay::critical_path() const {
  std::vector<PathStep> path;
  if (graph_.last() == kNone) return path;
  {
    const Column<uint32_t> bound = bound_by();
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
