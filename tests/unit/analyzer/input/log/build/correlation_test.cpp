// To which launch an operation belongs: they are joined by containment and correlation id. Operations without a launch
// are counted with the reason.
#include "analyzer/base/row_chunks.h"
#include "analyzer/model/coverage.h"
#include "tests/unit/analyzer/launch_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::add_calls;
using tests::add_launch;
using tests::add_run;
using tests::add_thread;
using tests::kLogStart;
using tests::LogBuilder;
using tests::model_of;
using tests::new_launch_log;

// The begin of the launch of the operation with that correlation id; -1: none.
int64_t launch_of(const Trace& trace, uint32_t correlation) {
  for (const GpuOperation& operation : trace.operations) {
    if (operation.correlation == correlation) return operation.linked() ? trace.host[operation.launch].begin_ns : -1;
  }
  return -2;
}

uint64_t without(const Trace& trace, OperationReason reason) {
  return trace.processes[0].coverage.operations_without[static_cast<size_t>(reason)];
}
uint64_t without(const Trace& trace, LaunchReason reason) {
  return trace.processes[0].coverage.launches_without[static_cast<size_t>(reason)];
}

TEST(Correlation, JoinsByContainmentNotByOrder) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 500);
  add_thread(log, 2, 501);
  add_launch(log, 1, 0, 100);
  add_launch(log, 1, 200, 300);
  add_launch(log, 1, 400, 500);
  add_launch(log, 2, 200, 300);
  // The call of the first launch is missing, and the ids are not in the order of the launches.
  add_calls(log, 500, {{250, 12}, {450, 11}});
  add_calls(log, 501, {{250, 10}});
  add_run(log, 600, 700, 10);
  add_run(log, 700, 800, 11);
  add_run(log, 800, 900, 12);
  const auto trace = model_of(log);
  EXPECT_EQ(launch_of(*trace, 10), 200);
  EXPECT_EQ(launch_of(*trace, 11), 400);
  EXPECT_EQ(launch_of(*trace, 12), 200);
  EXPECT_NE(trace->operations[0].launch, trace->operations[2].launch);
  EXPECT_EQ(trace->processes[0].coverage.launches_with_gpu_time, 3u);
}

// Loops over rows run in chunks: no row is left out or counted twice at a boundary.
TEST(Correlation, ChunksOfAnySizeFindEveryLaunch) {
  for (const size_t rows : {size_t{1}, size_t{2}, size_t{3}, size_t{6}, size_t{7}, size_t{8}}) {
    const RowsPerChunk size(rows);
    LogBuilder log = new_launch_log();
    for (uint32_t thread = 1; thread <= 2; ++thread) {
      add_thread(log, thread, 499 + thread);
      for (uint64_t i = 0; i < 7; ++i) {
        add_launch(log, thread, 100 * i, 100 * i + 50, thread);
        const auto correlation = static_cast<uint32_t>(10 * thread + i);
        if (i == 3) continue;  // this launch has no record
        add_calls(log, 499 + thread, {{100 * i + 20, correlation}});
        add_run(log, 1000 + 100 * i, 1050 + 100 * i, correlation, thread);
      }
      add_run(log, 2000, 2010, 90 + thread, thread);  // this operation has no launch
    }
    const auto trace = model_of(log);
    const Coverage& coverage = trace->processes[0].coverage;
    EXPECT_EQ(coverage.operations, 14u) << rows;
    EXPECT_EQ(coverage.operations_linked, 12u) << rows;
    EXPECT_EQ(coverage.launches, 14u) << rows;
    EXPECT_EQ(coverage.launches_with_gpu_time, 12u) << rows;
    for (uint32_t thread = 1; thread <= 2; ++thread) {
      for (uint32_t i = 0; i < 7; ++i)
        EXPECT_EQ(launch_of(*trace, 10 * thread + i), i == 3 ? -2 : 100 * int64_t{i}) << rows;
      EXPECT_EQ(launch_of(*trace, 90 + thread), -1) << rows;
    }
  }
}

TEST(Correlation, ToleratesTwoNanosecondsOfRoundingAndNoMore) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 500);
  add_launch(log, 1, 0, 10);
  add_launch(log, 1, 100, 200);
  add_launch(log, 1, 300, 400);
  add_calls(log, 500, {{98, 1}, {202, 2}, {297, 3}, {403, 4}});
  for (uint32_t c = 1; c <= 4; ++c) add_run(log, 1000 * c, 1000 * c + 10, c);
  const auto trace = model_of(log);
  EXPECT_EQ(launch_of(*trace, 1), 100);
  EXPECT_EQ(launch_of(*trace, 2), 100);
  EXPECT_EQ(launch_of(*trace, 3), -1);
  EXPECT_EQ(launch_of(*trace, 4), -1);
}

TEST(Correlation, FindsTheRightThreadAmongThoseThatHadTheTid) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 500);
  add_thread(log, 2, 500);
  add_launch(log, 1, 0, 100);
  add_launch(log, 2, 1000, 1100);
  add_calls(log, 500, {{50, 1}, {1050, 2}});
  add_run(log, 2000, 2010, 1);
  add_run(log, 2020, 2030, 2);
  const auto trace = model_of(log);
  EXPECT_EQ(launch_of(*trace, 1), 0);
  EXPECT_EQ(launch_of(*trace, 2), 1000);
}

TEST(Correlation, CountsWhyAnOperationHasNoLaunch) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 500);
  add_launch(log, 1, 1000, 1100);
  format::ApiCall load;
  load.end = kLogStart + 1400, load.duration = 200, load.api = format::ApiId{2};
  log.add(1, load);
  add_calls(log, 500, {{900, 3}, {1050, 1}, {1300, 2}, {1600, 4}});
  add_run(log, 2000, 2010, 1);
  add_run(log, 2020, 2030, 2);   // inside a call that is not a launch
  add_run(log, 2040, 2050, 3);   // its call was before the first record
  add_run(log, 2060, 2070, 4);   // inside nothing recorded
  add_run(log, 2080, 2090, 99);  // in no known call
  const auto trace = model_of(log);
  EXPECT_EQ(trace->processes[0].coverage.operations_linked, 1u);
  EXPECT_EQ(without(*trace, OperationReason::Internal), 2u);
  EXPECT_EQ(without(*trace, OperationReason::BeforeRecording), 1u);
  EXPECT_EQ(without(*trace, OperationReason::Unlinked), 1u);
}

// Two driver calls inside one launch may share an id, which then identifies the launch of the operation.
TEST(Correlation, GivesNoLaunchToOperationsWhoseCorrelationIdCallsOfSeveralLaunchesHave) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 500);
  for (uint64_t i = 0; i < 5; ++i) add_launch(log, 1, 1000 * i, 1000 * i + 100);
  add_calls(log, 500, {{50, 1}, {1050, 2}, {2050, 2}, {3050, 2}, {4020, 3}, {4050, 3}});
  add_run(log, 5000, 5010, 1);
  for (uint64_t i = 0; i < 3; ++i) add_run(log, 5100 + 100 * i, 5150 + 100 * i, 2);
  add_run(log, 5600, 5610, 3);
  const auto trace = model_of(log);
  EXPECT_EQ(launch_of(*trace, 1), 0);
  EXPECT_EQ(launch_of(*trace, 2), -1);
  EXPECT_EQ(launch_of(*trace, 3), 4000);
  EXPECT_EQ(without(*trace, OperationReason::RepeatedId), 3u);
  EXPECT_EQ(without(*trace, LaunchReason::RepeatedId), 3u);
  EXPECT_EQ(trace->processes[0].coverage.launches_with_gpu_time, 2u);
}

TEST(Correlation, UsesRuntimeCallsAroundExactlyOneLaunchWhereNoDriverCallIsNamed) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 101);
  add_launch(log, 1, 1000, 1100), add_launch(log, 1, 2000, 2100);  // each in its own runtime call
  add_launch(log, 1, 3000, 3100), add_launch(log, 1, 3200, 3300);  // two in one: ambiguous
  add_launch(log, 1, 4000, 4100);                                  // its driver call is known as well
  add_run(log, 5000, 5010, 1), add_run(log, 5020, 5030, 2), add_run(log, 5040, 5050, 3), add_run(log, 5060, 5070, 4);
  add_calls(log, 101, {{4050, 4}});
  std::vector<format::CallPair> calls = {{990, 1},  {1110, 1}, {1990, 2}, {2110, 2},
                                         {2990, 3}, {3310, 3}, {3990, 4}, {4110, 4}};
  for (format::CallPair& call : calls) call.time += kLogStart;
  log.add(9, format::RuntimeCalls{101, {calls.data(), static_cast<uint32_t>(calls.size())}});
  const auto trace = model_of(log);
  EXPECT_EQ(launch_of(*trace, 1), 0) << "zero is the first event";
  EXPECT_EQ(launch_of(*trace, 2), 1000);
  EXPECT_EQ(launch_of(*trace, 3), -1);
  EXPECT_EQ(launch_of(*trace, 4), 3000);
}

// The span of a runtime call may be longer than the call.
TEST(Correlation, ASpanMayHoldALaunchWhoseDriverCallIsNamed) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 101);
  add_launch(log, 1, 1000, 1100), add_launch(log, 1, 2000, 2100), add_launch(log, 1, 2200, 2300);
  add_run(log, 5000, 5010, 1), add_run(log, 5020, 5030, 2), add_run(log, 5040, 5050, 3);
  add_calls(log, 101, {{2050, 2}});
  std::vector<format::CallPair> calls = {{990, 1}, {2190, 1}, {2190, 3}, {2310, 3}};
  for (format::CallPair& call : calls) call.time += kLogStart;
  log.add(9, format::RuntimeCalls{101, {calls.data(), static_cast<uint32_t>(calls.size())}});
  const auto trace = model_of(log);
  EXPECT_EQ(launch_of(*trace, 1), 0) << "zero is the first event";
  EXPECT_EQ(launch_of(*trace, 2), 1000);
  EXPECT_EQ(launch_of(*trace, 3), 1200);
}

TEST(Coverage, CountsEachLaunchWithoutGpuTimeOnce) {
  LogBuilder log = new_launch_log();
  log.page.finished = 0;
  log.page.gpu_pending = 1;
  add_thread(log, 1, 500);
  add_launch(log, 1, 0, 10);           // its record is missing although a later one arrived: unknown
  add_launch(log, 1, 20, 30);          // with GPU time
  add_launch(log, 1, 40, 50, 1, 700);  // failed
  add_launch(log, 1, 60, 70);          // pending
  add_calls(log, 500, {{25, 1}});
  add_run(log, 100, 110, 1);
  const auto trace = model_of(log);
  EXPECT_EQ(without(*trace, LaunchReason::Unknown), 1u);
  EXPECT_EQ(without(*trace, LaunchReason::Failed), 1u);
  EXPECT_EQ(without(*trace, LaunchReason::Pending), 1u);
  EXPECT_EQ(coverage_line(*trace),
            "coverage: launches 4, with GPU time 1 (failed 1, pending 1, unknown 1); GPU operations 1, with launch 1; "
            "lost records 0");
}

}  // namespace
}  // namespace prof::analyzer
