#include "analyzer/dependencies/replay.h"

#include "analyzer/base/parallel.h"
#include "analyzer/dependencies/replay_changes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace prof::analyzer {

namespace {

// Start and end of the node in a slot, from the start of the window.
struct Times {
  int64_t start = 0, end = 0;
};

// Runs the nodes in order through one lane. Calls visit(id, node, start, end) with times from the start of the window.
template <class Visit> void run_unchanged(const DependencyGraph& graph, Visit&& visit) {
  std::vector<Times> slots(graph.slots());
  for (uint32_t id = 1; id < graph.nodes().size(); ++id) {
    const Node& node = graph.nodes()[id];
    Times now;
    const Times &before = slots[node.before], &other = slots[node.other];
    // A node that overlapped the preceding node starts no earlier than that node, however short that node becomes.
    now.start = std::max({before.end + graph.time(node.after_before), before.start,
                          other.end + graph.time(node.after_other), other.start});
    now.end = now.start + graph.time(node.own);
    slots[node.slot] = now;
    visit(id, node, now.start, now.end);
  }
}

// The same in all lanes.
struct LaneTimes {
  Lanes start{}, end{};
};

// Sums over the nodes that a lane changes.
struct LaneSums {
  Lanes own_ns{}, count{}, wall{};
};

// One pass per generation of processors: with wider vectors a pass takes a third of the time.
namespace baseline {
#define LANES_TARGET
#include "analyzer/dependencies/replay_lanes.inc"
#undef LANES_TARGET
}  // namespace baseline
#if defined(__x86_64__)
namespace avx2 {
#define LANES_TARGET __attribute__((target("avx2")))
#include "analyzer/dependencies/replay_lanes.inc"
#undef LANES_TARGET
}  // namespace avx2
namespace avx512 {
#define LANES_TARGET __attribute__((target("avx512f,avx512vl,avx512dq")))
#include "analyzer/dependencies/replay_lanes.inc"
#undef LANES_TARGET
}  // namespace avx512
#endif

// `assume`: nodes with a flag of kAssumedFlags move by as much as anything before them has moved.
void run_nodes(const DependencyGraph& graph, const Changes& changes, Vectors vectors, bool assume, LaneSums& sums) {
  switch (vectors) {
#if defined(__x86_64__)
    case Vectors::Avx512: return avx512::run_nodes(graph, changes, assume, sums);
    case Vectors::Avx2: return avx2::run_nodes(graph, changes, assume, sums);
#endif
    default: return baseline::run_nodes(graph, changes, assume, sums);
  }
}

}  // namespace

Vectors widest_vectors() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return Vectors::Avx512;
  if (__builtin_cpu_supports("avx2")) return Vectors::Avx2;
#endif
  return Vectors::Baseline;
}

int64_t Replay::wall_ns() const {
  int64_t wall = 0;
  run_unchanged(graph_, [&](uint32_t, const Node&, int64_t, int64_t end) { wall = std::max(wall, end); });
  return wall;
}

std::vector<Outcome> Replay::walls_without(const std::vector<Scenario>& scenarios) const {
  // A scenario that concerns no node does not change the run.
  std::vector<Outcome> outcomes(scenarios.size(), Outcome{graph_.wall_ns(), graph_.wall_ns(), 0, 0});
  std::vector<size_t> asked;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (std::any_of(scenarios[i].begin(), scenarios[i].end(), [&](const Change& change) {
          return graph_.has_nodes(change.kinds, change.with_flags, change.without_flags);
        }))
      asked.push_back(i);
  }
  // Uses as many passes as there are cores, if that is enough. The work per node is then divided among them.
  const size_t batches =
      std::max((asked.size() + kLanes - 2) / (kLanes - 1), std::min<size_t>(asked.size(), worker_count()));
  const bool has_assumed = graph_.has_assumed();
  parallel_for(batches, [&](size_t batch) {
    Changes changes(selected_);
    std::vector<Outcome*> of_batch;
    for (size_t i = batch; i < asked.size(); i += batches) {
      of_batch.push_back(&outcomes[asked[i]]);
      for (const Change& change : scenarios[asked[i]]) changes.add(change, of_batch.size());
    }
    LaneSums known;
    run_nodes(graph_, changes, vectors_, false, known);
    LaneSums assumed = known;
    if (has_assumed) {
      assumed = {};
      run_nodes(graph_, changes, vectors_, true, assumed);
    }
    for (size_t i = 0; i < of_batch.size(); ++i) {
      *of_batch[i] = {assumed.wall[i + 1], known.wall[i + 1], static_cast<uint64_t>(known.count[i + 1]),
                      known.own_ns[i + 1]};
    }
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

// Going backwards, a slot has the latest end of its node: every reader of a slot is stored after the node that filled
// it and before the node that fills it next.
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
