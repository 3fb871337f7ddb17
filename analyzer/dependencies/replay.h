// Runs a dependency graph again with some of its times set to 0: how long would the run have been? Critical path, what-if
// and advice ask here; nothing else computes savings. Up to seven scenarios share one pass over the nodes; passes run on all cores,
// so the functions of a change are called by several threads.
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
    2;  // host: the thread's work before it; operations: the delay after its stream's last
inline constexpr uint32_t kPartOther = 4;  // operations: from the launch to the start
inline constexpr uint32_t kPartWait = 8;   // returns: they wait for nothing

// What is set to 0, or cut: these parts of all nodes of these kinds that have, and lack, these flags and are of these subjects.
struct Change {
  uint32_t kinds = 0;  // kind_bit()s
  uint32_t parts = 0;
  uint32_t with_flags = 0, without_flags = 0;
  std::vector<bool> subjects;                // by Node::subject(); empty: any
  std::function<bool(uint32_t row)> only{};  // by Node::row; empty: any
  // By Node::row and its time, what stays of kPartOwn or kPartBefore, the one part such a change has; more than there was
  // counts as all. Empty: 0.
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
  int64_t wall_ns = 0;
  uint64_t count = 0;  // nodes changed (a call and its return are one)
  int64_t own_ns = 0;  // sum of the times set to 0; of waits the time they blocked
};

// One step of the longest path. Times of all steps sum up to the wall time.
struct PathStep {
  uint32_t node = 0;
  int64_t begin_ns = 0;  // where the step before it ended
  int64_t start_ns = 0;  // where the node started: its edge took [begin, start), its own time [start, end)
  int64_t end_ns = 0;
};

// How wide the vectors of a pass are. All give the same answers.
enum class Vectors : uint8_t { Baseline, Avx2, Avx512 };
Vectors widest_vectors();  // of this processor

class Replay {
 public:
  // Changes concern only nodes that `selected` takes; empty: all.
  explicit Replay(const DependencyGraph& graph, std::function<bool(const Node&)> selected = {},
                  Vectors vectors = widest_vectors())
      : graph_(graph), selected_(std::move(selected)), vectors_(vectors) {}

  int64_t wall_ns() const;  // of the unchanged graph; equal to graph.wall_ns() or the graph is wrong
  std::vector<Outcome> walls_without(const std::vector<Scenario>& scenarios) const;
  Outcome wall_without(const Scenario& scenario) const { return walls_without({scenario}).front(); }

  // The longest path from the window's begin to its last node, in order of time.
  std::vector<PathStep> critical_path() const;
  // By node: the one that bound it in the measured run; 0: the window's begin.
  Column<uint32_t> bound_by() const;
  // By node of the unchanged graph: how much later it could have ended without the last node ending later. 0 on the critical path.
  Column<int64_t> slacks() const;
  // Start and end of every node of the unchanged graph, for tests.
  void times(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) const;

 private:
  const DependencyGraph& graph_;
  std::function<bool(const Node&)> selected_;
  Vectors vectors_;
};

}  // namespace prof::analyzer
