// A hand-made run whose dependency graph must replay to the measured times, for tests of the graph and of its replays.
#pragma once

#include "analyzer/dependencies/replay.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace prof::tests {

using namespace analyzer;

inline constexpr uint32_t kKernels = kind_bit(NodeKind::Kernel), kCopies = kind_bit(NodeKind::Copy);
inline constexpr uint32_t kLaunches = kind_bit(NodeKind::KernelCall), kSyncs = kind_bit(NodeKind::SynchronizationCall);

// A trace of another tool, unless a test sets something else.
struct SampleRun : HandTrace {
  SampleRun() { trace.processes[0].format = "Kineto"; }

  // A kernel and the call that launched it, joined by the next free correlation id.
  void launched(int64_t begin, int64_t end, int64_t start, int64_t stop, uint32_t stream = 0,
                std::string_view name = "kernel", uint32_t thread = 0) {
    launch(begin, end, ++next_id, thread);
    kernel(start, stop, next_id, stream, name);
  }
  void copied(std::string_view api, int64_t begin, int64_t end, int64_t start, int64_t stop, uint32_t stream = 0,
              uint32_t kind = 1 | 2 << 8 | 3 << 16) {
    call(api, begin, end, ++next_id);
    copy(start, stop, next_id, 64, kind, stream);
  }
  void awaited(std::string_view api, int64_t begin, int64_t end, uint32_t thread = 0) {
    call(api, begin, end, ++next_id, thread);
  }

  // Builds the graph of [0, end of the run) and checks that its replay equals the measured run.
  DependencyGraph& graph(int64_t from = 0, int64_t to = 1 << 30) {
    if (!finished) finish();
    finished = true;
    waits = Dependencies(trace);
    made = std::make_unique<DependencyGraph>(trace, waits, from, to);
    window_end = to;
    expect_replay_is_exact();
    return *made;
  }
  Outcome without(const Scenario& scenario) { return Replay(*made).wall_without(scenario); }
  int64_t saved(const Scenario& scenario) { return made->wall_ns() - without(scenario).wall_ns; }
  // The part of saved() that rests on no assumption.
  int64_t known(const Scenario& scenario) { return made->wall_ns() - without(scenario).known_ns; }
  int64_t known_own(uint32_t kinds) { return known({{kinds, kPartOwn, 0, 0, {}, {}}}); }
  int64_t saved_own(uint32_t kinds) { return saved({{kinds, kPartOwn, 0, 0, {}, {}}}); }
  int64_t saved_without_syncs() { return saved({{kSyncs, kPartOwn | kPartWait, 0, 0, {}, {}}}); }

  void expect_replay_is_exact() {
    const Replay replay(*made);
    EXPECT_EQ(replay.wall_ns(), made->wall_ns());
    std::vector<int64_t> start, end;
    replay.times(start, end);
    const auto clip = [&](int64_t t) { return std::clamp(t, made->begin_ns(), window_end); };
    for (uint32_t id = 1; id < made->nodes().size(); ++id) {
      const Node& node = made->nodes()[id];
      if ((kind_bit(node.kind()) & kOperationNodes) != 0) {
        const GpuOperation& operation = trace.operations[node.row];
        ASSERT_EQ(start[id], clip(operation.start_ns)) << "operation " << node.row;
        ASSERT_EQ(end[id], clip(std::max(operation.start_ns, operation.end_ns))) << "operation " << node.row;
      } else if (node.has(kNodeReturns) && calls_nest) {
        ASSERT_EQ(end[id], clip(trace.host[node.row].end_ns)) << "return of " << node.row;
      }
    }
    const std::vector<PathStep> path = replay.critical_path();
    int64_t at = made->begin_ns();
    for (const PathStep& step : path) {
      ASSERT_EQ(step.begin_ns, at);
      at = step.end_ns;
    }
    EXPECT_EQ(path.empty() ? 0 : at - made->begin_ns(), made->wall_ns()) << "the path is the wall";
  }
  uint32_t next_id = 0;
  bool finished = false;
  bool calls_nest = true;  // as calls of one thread do
  int64_t window_end = 0;
  Dependencies waits;
  std::unique_ptr<DependencyGraph> made;
};

}  // namespace prof::tests
