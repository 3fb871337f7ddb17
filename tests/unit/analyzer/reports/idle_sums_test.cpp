// Every report that divides idle time accounts for all of it: sums over random runs equal the idle time of the devices
// to the nanosecond.
#include "analyzer/analysis/critical/host_idle.h"
#include "analyzer/analysis/idle/device_idle.h"
#include "tests/unit/analyzer/random_run.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace prof::analyzer {
namespace {

using tests::cell_text;
using tests::HandTrace;

constexpr uint32_t kRandomTraces = 150;

// The sum of a column over the rows for which `wanted` is true.
template <class Wanted> int64_t sum_of(const Table& table, std::string_view key, Wanted&& wanted) {
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (wanted(row)) sum += std::stoll("0" + cell_text(table, row, key));
  }
  return sum;
}
int64_t sum_of(const Table& table, std::string_view key) {
  return sum_of(table, key, [](size_t) { return true; });
}

class IdleSums : public testing::Test {
 protected:
  // Calls check(run, its window, the idle time of all devices in it).
  template <class Check> void for_random_runs(Check&& check) {
    for (uint32_t seed = 0; seed < kRandomTraces; ++seed) {
      SCOPED_TRACE(seed);
      HandTrace hand;
      tests::random_run(hand, seed);
      const std::vector<Window> windows = report_windows({hand.trace, hand.views(), hand.selection, hand.options});
      ASSERT_EQ(windows.size(), 1u);
      const Interval window{windows[0].begin_ns, windows[0].end_ns};
      check(hand, window, idle_ns(hand.trace, window));
    }
  }
  static std::vector<Interval> running(const Trace& trace, uint32_t device) {
    std::vector<Interval> all;
    for (const GpuOperation& operation : trace.operations) {
      if (device == kNone || index(trace.stream(operation.stream()).device) == device)
        all.push_back({operation.start_ns, operation.end_ns});
    }
    return all;
  }
  static int64_t idle_ns(const Trace& trace, const Interval& window) {
    int64_t sum = 0;
    for (uint32_t device = 0; device < trace.devices.size(); ++device) {
      const std::vector<Interval> all = running(trace, device);
      if (!all.empty()) sum += window.length_ns() - IntervalSet(all).overlap_ns(window.begin_ns, window.end_ns);
    }
    return sum;
  }
};

TEST_F(IdleSums, OfIdleAndOfItsGaps) {
  for_random_runs([](HandTrace& hand, const Interval&, int64_t idle_ns) {
    EXPECT_EQ(sum_of(hand.report(report_idle), "time"), idle_ns);
    EXPECT_EQ(sum_of(hand.report(report_idle_gaps), "duration"), idle_ns);
    hand.options.group_by = {"piece"};
    EXPECT_EQ(sum_of(hand.report(report_idle_gaps), "duration"), idle_ns);
    hand.options.group_by = {"stack"};
    EXPECT_EQ(sum_of(hand.report(report_idle_gaps), "time"), idle_ns);
  });
}

TEST_F(IdleSums, OfStacks) {
  for_random_runs([](HandTrace& hand, const Interval&, int64_t idle_ns) {
    hand.options.metric = "idle";
    EXPECT_EQ(sum_of(hand.report(report_stacks), "value"), idle_ns);
  });
}

TEST_F(IdleSums, OfTheOpsThatAreCharged) {
  for_random_runs([](HandTrace& hand, const Interval& window, int64_t) {
    int64_t in_ops = 0;
    divide_gaps(hand.trace, hand.views(), hand.selection, window,
                [&](const DeviceGap&, std::span<const GapPiece> pieces) {
                  for (const GapPiece& piece : pieces) {
                    uint32_t op = piece.range;
                    while (op != kNone && !is_op(hand.trace.ranges[op])) op = hand.trace.ranges[op].parent;
                    if (op == kNone) continue;
                    in_ops += inside(piece, window.begin_ns, window.end_ns).length_ns();
                  }
                });
    EXPECT_EQ(sum_of(hand.report(report_op_idle), "charged"), in_ops);
  });
}

// advise and what-if.
TEST_F(IdleSums, OfTheHostWorkThatLeftDevicesIdle) {
  for_random_runs([](HandTrace& hand, const Interval&, int64_t idle_ns) {
    const AnalysisInput input{hand.trace, hand.views(), hand.selection, hand.options};
    const std::vector<Window> windows = report_windows(input);
    const HostIdle found(input, windows, false);
    const WindowIdle& idle = found.of(windows[0]);
    int64_t all = 0;
    for (const auto& [device, sum] : idle.sums) all += sum.idle_ns;
    EXPECT_EQ(all, idle_ns);
    std::map<std::string, int64_t> by_cause;
    for (const auto& [key, pieces] : idle.host) by_cause[std::string(pieces.charge.text())] += pieces.time_ns;
    const Table table = hand.report(report_idle);
    for (const auto& sum : by_cause) {
      if (sum.first == "profiler") continue;  // also in gaps without launch
      const auto has_cause = [&](size_t row) { return cell_text(table, row, "cause") == sum.first; };
      EXPECT_EQ(sum_of(table, "time", has_cause), sum.second) << sum.first;
    }
  });
}

TEST_F(IdleSums, OfTheCriticalPath) {
  std::map<std::string, uint64_t> seen;
  for_random_runs([&](HandTrace& hand, const Interval&, int64_t) {
    const AnalysisInput input{hand.trace, hand.views(), hand.selection, hand.options};
    const std::vector<Window> windows = graph_windows(input);
    ASSERT_EQ(windows.size(), 1u);
    const Table table = hand.report(report_critical_path);
    const auto is_part = [&](size_t row) { return cell_text(table, row, "item") == "all"; };
    const IntervalSet busy(running(hand.trace, kNone));
    const int64_t begin = windows[0].begin_ns, end = begin + make_graph(input, windows[0]).wall_ns();
    EXPECT_EQ(sum_of(table, "time", is_part), end - begin);
    EXPECT_EQ(sum_of(table, "all_idle", is_part), end - begin - busy.overlap_ns(begin, end));
    for (size_t row = 0; row < table.rows(); ++row) {
      if (is_part(row)) ++seen[cell_text(table, row, "part")];
    }
  });
  for (const char* const part : {"in an op", "Python", "outside any call", "launch call", "unknown wait"})
    EXPECT_GT(seen[part], 20u) << part;
}

}  // namespace
}  // namespace prof::analyzer
