// Times and durations that no program has, as a damaged or hostile log may contain: the model keeps its guarantees
// about them, and reports add them up without exceeding 64 bits. (Under the sanitizers an overflow is a failure of its
// own.)
#include "analyzer/input/log/log_clock.h"
#include "analyzer/reports/reports.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/launch_log.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace prof::tests {
namespace {

using namespace analyzer;

constexpr auto kLatest = static_cast<int64_t>(kLatestNs);

bool difference_fits(int64_t a, int64_t b) {
  int64_t difference = 0;
  return !__builtin_sub_overflow(a, b, &difference) && !__builtin_sub_overflow(b, a, &difference);
}

void add_run_of(LogBuilder& log, uint64_t start, uint64_t duration, uint32_t correlation, uint32_t stream = 1) {
  add_run(log, start, start + duration, correlation, stream);
}

TEST(FarTimes, AnOperationWithoutStampsIsNotTimed) {
  LogBuilder log = new_launch_log();
  add_run_of(log, 13'000, 500, 1);
  format::KernelRun not_timed;
  not_timed.correlation = 2;
  not_timed.stream = format::GpuStreamId{1};
  log.add(9, not_timed);
  const auto trace = model_of(log);
  EXPECT_EQ(trace->operations.size(), 1u);
  EXPECT_EQ(trace->processes[0].coverage.operations_unusable[static_cast<size_t>(UnusableTime::NotTimed)], 1u);
  EXPECT_EQ(trace->processes[0].partial.size(), 1u);
}

TEST(FarTimes, AnOperationEndsNoLaterThanAnyTimeOfALogWhateverDurationItsRecordGives) {
  for (const uint64_t duration : {uint64_t{1} << 61, uint64_t{1} << 62, uint64_t{INT64_MAX}})
    EXPECT_EQ(LogClock::gpu_end_ns(13'000, duration), kLatestNs) << duration;
  EXPECT_EQ(LogClock::gpu_end_ns(13'000, 500), 13'500u);
}

TEST(FarTimes, AnOperationThatLastsForAgesIsLeftOutAndNothingLastsUntilItsEnd) {
  LogBuilder log = new_launch_log();
  log.define(format::StringPart{format::StringId{1}, 4, 0, "step"});
  format::NvtxLabelDef label;
  label.id = format::LabelId{1}, label.text = format::StringId{1};
  log.define(label);
  add_thread(log, 1, 101);
  format::NvtxPush push;
  push.time = kLogStart + 10'000, push.label = format::LabelId{1};
  log.add(1, push);
  const uint64_t durations[] = {500, uint64_t{1} << 61, uint64_t{1} << 62, INT64_MAX};
  for (const uint64_t duration : durations) add_run_of(log, 13'000, duration, 1);
  const auto trace = model_of(log);
  ASSERT_EQ(trace->operations.size(), 1u);
  EXPECT_EQ(trace->operations[0].duration_ns(), 500);
  EXPECT_EQ(trace->processes[0].coverage.operations, 1u);
  EXPECT_EQ(trace->processes[0].coverage.operations_unusable[static_cast<size_t>(UnusableTime::NotTimed)], 3u);
  EXPECT_EQ(trace->last_ns, trace->operations[0].end_ns);
  EXPECT_EQ(trace->processes[0].last_ns, trace->operations[0].end_ns);
  ASSERT_EQ(trace->ranges.size(), 1u);
  EXPECT_EQ(trace->ranges[0].end_ns, trace->operations[0].end_ns);
}

// One kernel whose end is wrong covers two later ones; one is on another clock. Programmatic dependent launch is no
// reason. A launch with another operation keeps its GPU time.
TEST(FarTimes, OperationsOfALogWhoseTimeCannotBeTrueAreInNoSumAndTheirLaunchesSaySo) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 101);
  std::vector<format::CallPair> calls;
  for (uint32_t id = 1; id <= 6; ++id) {
    add_launch(log, 1, 1000 * id, 1000 * id + 500);
    calls.push_back({1000 * id + 100, id});
  }
  add_calls(log, 101, calls);
  add_run(log, 10'000, 15'000, 1);
  add_run(log, 16'000, 106'000, 2);  // across 3 and 4
  add_run(log, 20'000, 25'000, 3);
  add_run(log, 26'000, 31'000, 4);
  add_run(log, 30'000, 34'000, 5);  // overlaps 4
  add_run(log, 90'000'000'000, 90'000'005'000, 6);
  add_run(log, 40'000, 41'000, 6);
  const auto trace = model_of(log);
  const Coverage& coverage = trace->processes[0].coverage;
  EXPECT_EQ(trace->operations.size(), 5u);
  EXPECT_EQ(coverage.operations, 5u);
  EXPECT_EQ(coverage.operations_linked, 5u);
  EXPECT_EQ(coverage.operations_unusable[static_cast<size_t>(UnusableTime::Impossible)], 1u);
  EXPECT_EQ(coverage.operations_unusable[static_cast<size_t>(UnusableTime::OtherClock)], 1u);
  EXPECT_EQ(coverage.launches, 6u);
  EXPECT_EQ(coverage.launches_with_gpu_time, 5u);
  EXPECT_EQ(coverage.launches_without[static_cast<size_t>(LaunchReason::ImpossibleTime)], 1u);
  EXPECT_EQ(trace->processes[0].partial.size(), 2u);
  ASSERT_EQ(trace->streams[0].operations.size(), 5u);
}

TEST(FarTimes, AnOperationThatEndsBeforeItStartsDoesSoNoEarlierThanTheMachineWasBooted) {
  LogBuilder log = new_launch_log();
  const uint64_t reversed[] = {uint64_t{} - 300, uint64_t{1} << 63, (uint64_t{1} << 63) + 1};
  for (const uint64_t duration : reversed) add_run_of(log, 13'000, duration, 1);
  const auto trace = model_of(log);
  ASSERT_EQ(trace->operations.size(), 3u);
  const auto boot_ns = -static_cast<int64_t>(trace->start_monotonic_ns);
  std::vector<int64_t> lengths;
  for (const GpuOperation& operation : trace->operations) lengths.push_back(operation.end_ns - operation.start_ns);
  EXPECT_EQ(std::count(lengths.begin(), lengths.end(), -300), 1);
  EXPECT_EQ(std::count_if(trace->operations.begin(), trace->operations.end(),
                          [&](const GpuOperation& operation) { return operation.end_ns == boot_ns; }),
            2);
  EXPECT_EQ(trace->processes[0].coverage.operations_reversed, 3u);
}

TEST(FarTimes, HostsWhoseClocksAreAgesApartHaveTimesWhoseDifferencesFit) {
  std::vector<std::unique_ptr<LogFile>> logs;
  for (const uint64_t realtime : {uint64_t{0}, uint64_t{1} << 61, uint64_t{1} << 62, UINT64_MAX}) {
    LogBuilder log = new_launch_log();
    log.header.start_realtime_ns = realtime;
    const std::string host = "host" + std::to_string(realtime);
    log.define(format::MetaDef{"host", host});
    add_thread(log, 1, 101);
    add_launch(log, 1, 0, 100), add_launch(log, 1, 200, uint64_t{1} << 62);
    add_run_of(log, 50, INT64_MAX, 1), add_run_of(log, 60, uint64_t{1} << 63, 1);
    log.seal_all();
    logs.push_back(log.open_log());
  }
  const auto trace = build_trace(std::move(logs));
  std::vector<int64_t> times;
  for (const HostEvent& event : trace->host) times.push_back(event.begin_ns), times.push_back(event.end_ns);
  for (const GpuOperation& operation : trace->operations)
    times.push_back(operation.start_ns), times.push_back(operation.end_ns);
  ASSERT_EQ(times.size(), 24u);  // the operation that lasts for ages is left out
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  EXPECT_TRUE(difference_fits(*least, *most)) << *least << " to " << *most;
  EXPECT_GE(*least, -kLatest);
  EXPECT_LE(*most, 2 * kLatest);
}

TEST(FarTimes, ImportedTimesAreNoFurtherApartThanADifferenceMayBe) {
  HandTrace hand;
  hand.launch(INT64_MIN, INT64_MAX, 1);
  hand.kernel(INT64_MIN, INT64_MAX, 1), hand.kernel(INT64_MAX, INT64_MIN, 1);
  hand.finish();
  for (const GpuOperation& operation : hand.trace.operations)
    EXPECT_TRUE(difference_fits(operation.start_ns, operation.end_ns));
  EXPECT_TRUE(difference_fits(hand.trace.host[0].begin_ns, hand.trace.host[0].end_ns));
}

// More calls and ranges, each as long as a log can represent, than one sum of 64 bits can hold.
LogBuilder new_long_log(uint32_t threads) {
  LogBuilder log = new_launch_log();
  log.define(format::StringPart{format::StringId{1}, 4, 0, "step"});
  format::NvtxLabelDef label;
  label.id = format::LabelId{1}, label.text = format::StringId{1};
  log.define(label);
  const uint64_t end = kLatestNs - kLogStart;
  for (uint32_t t = 1; t <= threads; ++t) {
    add_thread(log, t, 100 + t);
    format::NvtxPush push;
    push.time = kLogStart, push.label = format::LabelId{1};
    log.add(t, push);
    add_launch(log, t, 10, 20), add_launch(log, t, 30, end);
    log.add(t, format::NvtxPop{kLatestNs, {}});
    add_calls(log, 100 + t, {{15, 2 * t}, {end - 10, 2 * t + 1}});
    add_run_of(log, 100, 1000, 2 * t), add_run_of(log, 2000, 1000, 2 * t + 1);
  }
  return log;
}

int64_t only_cell(const Table& table, std::string_view key) {
  for (const TableColumn& column : table.columns()) {
    if (column.key == key && column.cells.size() == 1) return column.cells[0];
  }
  return kEmptyCell;
}

TEST(FarTimes, SumsOfReportsStayAtTheEndOfTheScale) {
  LogBuilder log = new_long_log(9);
  const auto trace = model_of(log);
  const Views views(*trace);
  const Selection selection;
  for (const bool peaks : {false, true}) {
    ReportOptions options;
    options.peaks = peaks;
    for (const Report& report : kReports) {
      try {
        Table table = report.run({*trace, views, selection, options});
        table.store();
        if (report.name != "nvtx_gpu_proj_sum") continue;
        EXPECT_EQ(only_cell(table, "instances"), 9);
        EXPECT_EQ(only_cell(table, "total_range"), INT64_MAX);
        EXPECT_EQ(only_cell(table, "total_projected"), 9 * 2900);
      } catch (const std::runtime_error&) {  // a report that gives the reason why it has no answer
      }
    }
  }
}

}  // namespace
}  // namespace prof::tests
