// How long would the run be if some of its times were 0? Runs a dependency graph again with changed times. Critical
// path, what-if and advise use it; nothing else computes savings. Up to seven scenarios share one pass over the nodes.
// Passes run on all cores, so the functions of a change are called by several threads.
//
// What a node with a flag of kAssumedFlags waited for is not known for certain. It could be anything that ended before
// it, so a replay assumes what limits the run least: such a node moves by as much as anything before it has moved. A
// second pass without this assumption shows what rests on it.
#pragma once

#include "analyzer/dependencies/dependency_graph.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Parts of a node that a change sets to 0.
inline constexpr uint32_t kPartOwn = 1;  // its own time
inline constexpr uint32_t kPartBefore =
    2;  // host: the thread's time before it; operations: the delay after the stream's previous one
inline constexpr uint32_t kPartOther = 4;  // operations: from the launch to the start
inline constexpr uint32_t kPartWait = 8;   // returns: the wait

// Which times are set to 0 or cut: these parts of all nodes of these kinds that have with_flags, lack without_flags and
// have these subjects.
struct Change {
  uint32_t kinds = 0;  // kind_bit()s
  uint32_t parts = 0;
  uint32_t with_flags = 0, without_flags = 0;
  std::vector<bool> subjects;                // by Node::subject(); empty: any
  std::function<bool(uint32_t row)> only{};  // by Node::row; empty: any
  // By Node::row and its time: the remaining time of kPartOwn or kPartBefore. Such a change has only one part. A result
  // greater than the time leaves it unchanged. Empty: 0.
  std::function<int64_t(uint32_t row, int64_t time_ns)> stays{};
  bool everywhere = false;  // also nodes outside a replay's selection

  bool concerns(const Node& node) const {
    return (kinds & kind_bit(node.kind())) != 0 && (node.flags() & with_flags) == with_flags &&
           (node.flags() & without_flags) == 0 &&
           (subjects.empty() || (node.subject() < subjects.size() && subjects[node.subject()])) &&
           (!only || only(node.row));
  }
};
using Scenario = std::vector<Change>;

struct Outcome {
  int64_t wall_ns = 0;   // at least
  int64_t known_ns = 0;  // if nothing waited for more than the trace shows; never less than wall_ns
  uint64_t count = 0;    // number of changed nodes (a call and its return are one)
  int64_t own_ns = 0;    // sum of the times set to 0; for waits the blocked time
};

// One step of the longest path. The times of all steps add up to the wall time.
struct PathStep {
  uint32_t node = 0;
  int64_t begin_ns = 0;  // end of the previous step
  int64_t start_ns = 0;  // start of the node: its edge took [begin, start), its own time is [start, end)
  int64_t end_ns = 0;
};

// The width of a pass's vectors. The results are the same.
enum class Vectors : uint8_t { Baseline, Avx2, Avx512 };
Vectors widest_vectors();  // of this processor

class Replay {
 public:
  // Changes apply only to nodes for which `selected` is true; empty: to all.
  explicit Replay(const DependencyGraph& graph, std::function<bool(const Node&)> selected = {},
                  Vectors vectors = widest_vectors())
      : graph_(graph), selected_(std::move(selected)), vectors_(vectors) {}

  int64_t wall_ns() const;  // of the unchanged graph; must equal graph.wall_ns()
  std::vector<Outcome> walls_without(const std::vector<Scenario>& scenarios) const;
  Outcome wall_without(const Scenario& scenario) const { return walls_without({scenario}).front(); }

  // The longest path from the start of the window to its last node, in order of time.
  std::vector<PathStep> critical_path() const;
  // By node: the node that bound it in the measured run; 0: the start of the window.
  Column<uint32_t> bound_by() const;
  // By node of the unchanged graph: how much later it could end without delaying the last node. 0 on the critical path.
  Column<int64_t> slacks() const;
  // Start and end of every node of the unchanged graph, for tests.
  void times(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) const;

 private:
  const DependencyGraph& graph_;
  std::function<bool(const Node&)> selected_;
  Vectors vectors_;
};

}  // namespace prof::analyzer
