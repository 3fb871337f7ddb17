// Which operations and events are left out because of their times, and what does the model say of them?
#include "analyzer/input/unusable_times.h"
#include "tests/unit/analyzer/input/kineto/kineto_text.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>

namespace prof::tests {
namespace {

constexpr int64_t kEpochUs = 1'669'329'643'132'548;

// Launches and kernels of one stream, in microseconds.
class TraceText {
 public:
  TraceText& launch(int64_t ts, int id) {
    return event(fmt::format(
        R"("cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{},"dur":5,"args":{{"correlation":{}}})",
        ts, id));
  }
  TraceText& kernel(int64_t ts, int64_t dur, int id, const std::string& more = "") {
    return event(
        fmt::format(R"("cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"device":0,"stream":7,)"
                    R"("correlation":{}{}}})",
                    ts, dur, id, more));
  }
  TraceText& event(const std::string& members) {
    const bool with_phase = members.find("\"ph\"") != std::string::npos;
    text_ += (text_.empty() ? "{" : ",{") + std::string(with_phase ? "" : "\"ph\":\"X\",") + members + "}";
    return *this;
  }
  std::unique_ptr<Trace> import() const { return import_text(fmt::format(R"({{"traceEvents":[{}]}})", text_)); }

 private:
  std::string text_;
};

uint64_t left_out(const Trace& trace, UnusableTime reason) {
  return trace.processes.at(0).coverage.operations_unusable[static_cast<size_t>(reason)];
}
uint64_t launches_without(const Trace& trace, LaunchReason reason) {
  return trace.processes.at(0).coverage.launches_without[static_cast<size_t>(reason)];
}

TEST(UnusableTimes, WithoutAnyTheModelIsWhole) {
  const auto trace = TraceText().launch(10, 1).kernel(20, 5, 1).launch(30, 2).kernel(40, 5, 2).import();
  EXPECT_EQ(trace->operations.size(), 2u);
  EXPECT_TRUE(trace->processes[0].partial.empty());
}

TEST(UnusableTimes, AKernelWithoutStampsIsNotTimedAndItsLaunchSaysSo) {
  const auto trace =
      TraceText().launch(kEpochUs, 1).kernel(kEpochUs + 20, 5, 1).launch(kEpochUs + 30, 2).kernel(0, 0, 2).import();
  ASSERT_EQ(trace->operations.size(), 1u);
  EXPECT_EQ(trace->operations[0].start_ns, 20'000);
  EXPECT_EQ(trace->last_ns, 35'000);
  EXPECT_EQ(left_out(*trace, UnusableTime::NotTimed), 1u);
  EXPECT_EQ(launches_without(*trace, LaunchReason::NotTimed), 1u);
  EXPECT_EQ(trace->processes[0].coverage.launches_with_gpu_time, 1u);
  ASSERT_EQ(trace->processes[0].partial.size(), 1u);
  EXPECT_NE(coverage_line(*trace).find("GPU operations left out: not timed 1"), std::string::npos);
}

TEST(UnusableTimes, AKernelWithoutStampsIsNotTimedInAShortTraceToo) {
  const auto trace = TraceText().launch(10, 1).kernel(20, 5, 1).launch(30, 2).kernel(0, 0, 2).import();
  EXPECT_EQ(trace->operations.size(), 1u);
  EXPECT_EQ(left_out(*trace, UnusableTime::NotTimed), 1u);
}

TEST(UnusableTimes, AKernelWithoutADurationIsNotTimed) {
  const auto trace = TraceText()
                         .launch(10, 1)
                         .event(R"("cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"args":{"device":0,"stream":7,)"
                                R"("correlation":1})")
                         .import();
  EXPECT_EQ(trace->operations.size(), 0u);
  EXPECT_EQ(left_out(*trace, UnusableTime::NotTimed), 1u);
}

TEST(UnusableTimes, AStampOf1970IsNoTimeInATraceWithItsOwnZero) {
  const auto trace =
      import_text(R"({"baseTimeNanoseconds":1700000000000000000,"traceEvents":[)"
                  R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":50,"dur":5,)"
                  R"("args":{"correlation":1}},)"
                  R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":-1700000000000000.000,"dur":0,)"
                  R"("args":{"device":0,"stream":7,"correlation":1}}]})");
  EXPECT_EQ(trace->operations.size(), 0u);
  EXPECT_EQ(left_out(*trace, UnusableTime::NotTimed), 1u);
  EXPECT_EQ(trace->last_ns, 5'000);
}

TEST(UnusableTimes, AHostEventWithoutStampsDoesNotMoveTheZero) {
  const auto trace = TraceText()
                         .launch(kEpochUs, 1)
                         .kernel(kEpochUs + 20, 5, 1)
                         .event(R"("cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":0,"dur":0)")
                         .import();
  EXPECT_EQ(trace->last_ns, 25'000);
  EXPECT_EQ(trace->processes[0].coverage.events_not_timed, 1u);
  EXPECT_EQ(trace->ranges.size(), 0u);
}

TEST(UnusableTimes, AnEventAtTheZeroOfAShortTraceStays) {
  const auto trace =
      TraceText().event(R"("cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":0,"dur":0)").launch(5, 1).import();
  EXPECT_EQ(trace->ranges.size(), 1u);
  EXPECT_TRUE(trace->processes[0].partial.empty());
}

TEST(UnusableTimes, AKernelThatLastsOverLaterOnesOfItsStreamIsImpossible) {
  TraceText text;
  for (int i = 0; i < 6; ++i) text.launch(100 * i, i + 1).kernel(100 * i + 10, i == 2 ? 16'000'000 : 50, i + 1);
  const auto trace = text.import();
  EXPECT_EQ(trace->operations.size(), 5u);
  EXPECT_EQ(left_out(*trace, UnusableTime::Impossible), 1u);
  EXPECT_EQ(launches_without(*trace, LaunchReason::ImpossibleTime), 1u);
  EXPECT_EQ(trace->last_ns, 560'000);
}

// Programmatic dependent launch: the next kernel starts early, and a short one may even end before its predecessor.
TEST(UnusableTimes, KernelsThatOverlapTheNextOneArePossible) {
  const auto trace = TraceText()
                         .launch(0, 1)
                         .launch(1, 2)
                         .launch(2, 3)
                         .kernel(10, 100, 1)
                         .kernel(50, 20, 2)
                         .kernel(110, 50, 3)
                         .import();
  EXPECT_EQ(trace->operations.size(), 3u);
  EXPECT_TRUE(trace->processes[0].partial.empty());
}

TEST(UnusableTimes, BranchesOfOneGraphLaunchMayOverlap) {
  const std::string graph = R"(,"graph id":3,"graph node id":)";
  const auto trace = TraceText()
                         .launch(0, 1)
                         .kernel(10, 100, 1, graph + "1")
                         .kernel(20, 10, 1, graph + "2")
                         .kernel(40, 10, 1, graph + "3")
                         .import();
  EXPECT_EQ(trace->operations.size(), 3u);
}

TEST(UnusableTimes, OperationsWithoutAStreamMayOverlap) {
  TraceText text;
  for (int i = 0; i < 4; ++i)
    text.launch(i, i + 1).event(fmt::format(
        R"("cat":"kernel","name":"k","pid":0,"tid":"GPU","ts":{},"dur":{},"args":{{"device":0,"correlation":{}}})",
        10 + 20 * i, i == 0 ? 200 : 10, i + 1));
  EXPECT_EQ(text.import()->operations.size(), 4u);
}

TEST(UnusableTimes, AGpuThatIsDaysBehindItsHostIsOnAnotherClock) {
  TraceText text;
  for (int i = 0; i < 5; ++i) text.launch(kEpochUs + 100 * i, i + 1).kernel(86'400'000'000 + 100 * i, 50, i + 1);
  const auto trace = text.import();
  EXPECT_EQ(trace->operations.size(), 0u);
  EXPECT_EQ(left_out(*trace, UnusableTime::OtherClock), 5u);
  EXPECT_EQ(launches_without(*trace, LaunchReason::OtherClock), 5u);
  EXPECT_EQ(trace->last_ns, 405'000);
}

TEST(UnusableTimes, AGpuThatIsYearsAheadOfItsHostIsOnAnotherClock) {
  TraceText text;
  for (int i = 0; i < 5; ++i) text.launch(1'000 + 100 * i, i + 1).kernel(kEpochUs + 100 * i, 50, i + 1);
  const auto trace = text.import();
  EXPECT_EQ(left_out(*trace, UnusableTime::OtherClock), 5u);
  EXPECT_EQ(trace->last_ns, 405'000);
}

TEST(UnusableTimes, ADeviceThatIsHalfASecondBehindIsOnAnotherClockAsAWhole) {
  TraceText text;
  for (int i = 0; i < 5; ++i) text.launch(1'000'000 + 100 * i, i + 1).kernel(500'000 + 100 * i, 50, i + 1);
  text.kernel(600'000, 50, 99);  // its launch is not in the trace
  EXPECT_EQ(left_out(*text.import(), UnusableTime::OtherClock), 6u);
}

TEST(UnusableTimes, OperationsOnTheRightClockStayBesideOthers) {
  TraceText text;
  for (int i = 0; i < 6; ++i)
    text.launch(kEpochUs + 100 * i, i + 1).kernel((i < 4 ? 86'400'000'000 : kEpochUs) + 100 * i + 20, 50, i + 1);
  const auto trace = text.import();
  EXPECT_EQ(left_out(*trace, UnusableTime::OtherClock), 4u);
  EXPECT_EQ(trace->operations.size(), 2u);
}

TEST(UnusableTimes, ARangeThatWasNeverClosedDoesNotLastUntilAnEventOfAnotherClock) {
  TraceText text;
  for (int i = 0; i < 5; ++i) text.launch(1'000 + 100 * i, i + 1).kernel(kEpochUs + 100 * i, 50, i + 1);
  text.event(R"("ph":"B","cat":"x","name":"open","pid":1,"tid":1,"ts":1000)");
  const auto trace = text.import();
  ASSERT_EQ(trace->ranges.size(), 1u);
  EXPECT_EQ(trace->ranges[0].end_ns, 405'000);
}

TEST(UnusableTimes, AnInversionOfMicrosecondsStaysAndIsCounted) {
  const auto trace = TraceText().launch(1'000, 1).kernel(950, 50, 1).import();
  EXPECT_EQ(trace->operations.size(), 1u);
  EXPECT_EQ(trace->processes[0].coverage.operations_before_launch, 1u);
  EXPECT_TRUE(trace->processes[0].partial.empty());
}

TEST(UnusableTimes, ALongWaitInAQueueIsNoOtherClock) {
  const auto trace =
      TraceText().launch(0, 1).launch(10, 2).kernel(20, 900'000'000, 1).kernel(900'000'030, 50, 2).import();
  EXPECT_EQ(trace->operations.size(), 2u);
  EXPECT_TRUE(trace->processes[0].partial.empty());
}

}  // namespace
}  // namespace prof::tests
