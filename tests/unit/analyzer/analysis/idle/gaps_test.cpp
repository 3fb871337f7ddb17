// Every gap of a device has one cause and the event that explains it; answers computed by hand.
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/idle/full_queue_launches.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

std::vector<Gap> gaps_of(HandTrace& hand, Interval window) {
  return find_gaps(hand.trace, hand.views(), hand.selection, window);
}
std::string_view call_of(const HandTrace& hand, const Gap& gap) {
  return gap.call == kNone ? "" : hand.trace.api_name(hand.trace.host[gap.call]);
}

// Two kernels, the second launched long after the first had ended; `between` fills the time from 1000 to 9000.
template <class Between> Gap late_gap(Between between) {
  HandTrace hand;
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  between(hand);
  hand.launch(9000, 9050, 2);
  hand.kernel(9100, 9500, 2);
  hand.finish();
  const std::vector<Gap> gaps = gaps_of(hand, {100, 9500});
  EXPECT_EQ(gaps.size(), 1u);
  if (gaps.empty()) return {};
  EXPECT_EQ(gaps[0].begin_ns, 1000);
  EXPECT_EQ(gaps[0].end_ns, 9100);
  EXPECT_EQ(gaps[0].host_ns, 8000);
  EXPECT_EQ(gap_class(hand.trace, gaps[0]), GapClass::HostWait);
  return gaps[0];
}

TEST(Gaps, OperationsThatTouchOrOverlapHaveNoneBetweenThem) {
  HandTrace hand;
  for (uint32_t i = 0; i < 4; ++i) hand.launch(10 * i, 10 * i + 5, i + 1);
  hand.kernel(100, 200, 1);
  hand.kernel(200, 300, 2);
  hand.kernel(250, 400, 3);
  hand.kernel(401, 500, 4);
  hand.finish();
  const std::vector<Gap> gaps = gaps_of(hand, {100, 500});
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].begin_ns, 400);
  EXPECT_EQ(gaps[0].end_ns, 401);
}

TEST(Gaps, ALateHostIsExplainedByWhatItsThreadDid) {
  EXPECT_EQ(late_gap([](HandTrace&) {}).cause, GapCause::Outside);
  EXPECT_EQ(late_gap([](HandTrace& t) { t.range("aten::add", 0, 9500); }).cause, GapCause::Operator);
  // The Python function is the innermost for 5,000 ns, the op for 3,000.
  EXPECT_EQ(late_gap([](HandTrace& t) {
              t.range("step", 0, 9500, RangeKind::Annotation);
              t.range("model.py(3): forward", 2000, 7000, RangeKind::Python);
            }).cause,
            GapCause::Python);
  EXPECT_EQ(late_gap([](HandTrace& t) { t.call("cudaMalloc", 1500, 8000, 7); }).cause, GapCause::Allocation);
  EXPECT_EQ(late_gap([](HandTrace& t) { t.call("cudaFree", 1500, 8000, 7); }).cause, GapCause::Allocation);
  EXPECT_EQ(late_gap([](HandTrace& t) { t.call("cuModuleLoadData", 1500, 8000, 7); }).cause, GapCause::OtherCall);
  EXPECT_EQ(late_gap([](HandTrace& t) { t.range("Buffer Flush", 2000, 8000, RangeKind::Overhead); }).cause,
            GapCause::Profiler);
}

TEST(Gaps, ACallThatHeldTheThreadWhenTheGpuRanDryIsTheCauseHoweverShortItWasAfterwards) {
  const Gap gap = late_gap([](HandTrace& t) {
    t.call("cudaStreamSynchronize", 60, 1200, 7);
    t.range("model.py(3): forward", 1200, 9500, RangeKind::Python);
  });
  EXPECT_EQ(gap.cause, GapCause::Synchronize);
  EXPECT_NE(gap.call, kNone);
  EXPECT_NE(gap.range, kNone) << "the Python function that took the time afterwards";
  EXPECT_EQ(late_gap([](HandTrace& t) { t.call("cudaMemcpy", 60, 1200, 7); }).cause, GapCause::BlockingCopy);
  // A synchronisation that starts when the GPU is already idle waits for nothing, but it took the time.
  EXPECT_EQ(late_gap([](HandTrace& t) { t.call("cudaDeviceSynchronize", 1100, 8000, 7); }).cause,
            GapCause::Synchronize);
}

TEST(Gaps, WorkThatGoesOnInAnotherThreadIsSaidToDoSo) {
  HandTrace hand;
  const uint32_t other = hand.thread(0, 501);
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  hand.launch(9000, 9050, 2, other);
  hand.kernel(9100, 9500, 2);
  hand.finish();
  const std::vector<Gap> gaps = gaps_of(hand, {100, 9500});
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].cause, GapCause::OtherThread);
  EXPECT_EQ(gaps[0].thread, other);
  hand.selection.threads = {500};
  EXPECT_TRUE(gaps_of(hand, {100, 9500}).empty()) << "its launch is not of that thread";
}

TEST(Gaps, ALaunchMadeInTimeIsLatencyOrTheGpusOwnTime) {
  HandTrace hand;
  hand.launch(0, 50, 1);
  hand.launch(900, 1400, 2);   // entered before the gap, still running in the gap
  hand.launch(1500, 1550, 3);  // returned before the gap
  hand.kernel(100, 1000, 1);
  hand.kernel(1500, 2000, 2);
  hand.kernel(2001, 3000, 3);
  hand.finish();
  const std::vector<Gap> gaps = gaps_of(hand, {100, 3000});
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].cause, GapCause::LaunchLatency);
  EXPECT_EQ(gaps[0].host_ns, 0);
  EXPECT_EQ(gap_class(hand.trace, gaps[0]), GapClass::Short);
  EXPECT_EQ(gaps[1].cause, GapCause::Queued);
  EXPECT_EQ(gaps[1].duration_ns(), 1);
}

TEST(Gaps, AQueuedOperationThatDoesNotBeginWasHeldBySomethingNotRecorded) {
  HandTrace hand;
  hand.launch(0, 50, 1);
  hand.launch(60, 90, 2);
  hand.kernel(100, 1000, 1);
  hand.kernel(31'000, 32'000, 2);  // 30,000 ns after the GPU was free
  hand.finish();
  const std::vector<Gap> gaps = gaps_of(hand, {100, 32'000});
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].cause, GapCause::Held);
}

TEST(Gaps, AStreamThatWaitedForAnotherOneSaysSo) {
  HandTrace hand;
  const uint32_t second = hand.stream(0, 13);
  hand.launch(0, 50, 1);
  hand.call("cudaStreamWaitEvent", 60, 70, 2);
  hand.sync(SyncKind::StreamWaitEvent, 60, 70, 2, second, 0);
  hand.launch(80, 90, 3);
  hand.kernel(100, 1000, 1);
  hand.kernel(50'000, 60'000, 3, second);
  hand.finish();
  const std::vector<Gap> gaps = gaps_of(hand, {100, 60'000});
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].cause, GapCause::StreamWait);
  EXPECT_EQ(call_of(hand, gaps[0]), "cudaStreamWaitEvent");
  EXPECT_EQ(gap_class(hand.trace, gaps[0]), GapClass::Other);
}

// The calls of a log: the event's handle and the stream are known, no synchronisation record exists.
TEST(Gaps, AStreamWaitIsFoundByTheHandleOfTheEventToo) {
  for (const bool recorded_elsewhere : {true, false}) {
    HandTrace hand;
    const uint32_t second = hand.stream(0, 13);
    const auto on_stream = [&](uint32_t stream) { hand.trace.host.back().stream = HostStreamId{1 + stream}; };
    hand.launch(0, 20, 1);
    hand.call("cuEventRecord", 20, 25, 0, 0, 0xe1);
    on_stream(recorded_elsewhere ? 0 : second);
    hand.call("cuEventRecord", 30, 35, 0, 0, 0xe2);  // another event
    on_stream(second);
    hand.call("cuStreamWaitEvent", 60, 70, 0, 0, 0xe1);
    on_stream(second);
    hand.launch(80, 90, 3);
    hand.kernel(100, 1000, 1);
    hand.kernel(1010, 2000, 3, second);
    hand.finish();
    const std::vector<Gap> gaps = gaps_of(hand, {100, 2000});
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_EQ(gaps[0].cause, recorded_elsewhere ? GapCause::StreamWait : GapCause::Queued);
    EXPECT_EQ(call_of(hand, gaps[0]), recorded_elsewhere ? "cuStreamWaitEvent" : "cudaLaunchKernel");
  }
}

TEST(Gaps, AreOfTheUnionOfStreamsAndReachTheEdgesOfTheWindow) {
  HandTrace hand;
  const uint32_t second = hand.stream(0, 13);
  const uint32_t gpu1 = hand.stream(hand.device(0, 1), 7);
  hand.launch(0, 10, 1);
  hand.launch(10, 20, 2);
  hand.launch(20, 30, 3);
  hand.kernel(100, 300, 1);
  hand.kernel(250, 400, 2);          // overlaps in its own stream
  hand.kernel(200, 600, 3, second);  // longer than both
  hand.kernel(700, 800, 99);         // no launch in the input
  hand.launch(30, 40, 4);
  hand.kernel(500, 600, 4, gpu1);
  hand.finish();
  const std::vector<Gap> gaps = gaps_of(hand, {100, 800});
  ASSERT_EQ(gaps.size(), 3u);
  EXPECT_EQ(gaps[0].begin_ns, 600);
  EXPECT_EQ(gaps[0].cause, GapCause::Unlinked);
  EXPECT_EQ(gaps[0].previous, 3u) << "the one that ended last: row 3, on the second stream";
  EXPECT_EQ(index(gaps[1].device), 1u);
  EXPECT_EQ(gaps[1].begin_ns, 100);
  EXPECT_EQ(gaps[1].end_ns, 500);
  EXPECT_EQ(gaps[1].cause, GapCause::Queued);
  EXPECT_EQ(gaps[2].begin_ns, 600);
  EXPECT_EQ(gaps[2].end_ns, 800);
  EXPECT_EQ(gaps[2].cause, GapCause::NoMoreWork);
  // One stream alone: the gap from 400 to 700. The 100 before the window's first operation on the stream are no gap of
  // it.
  hand.selection.streams = {7};
  hand.selection.devices = {0};
  const std::vector<Gap> alone = gaps_of(hand, {100, 800});
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].begin_ns, 400);
}

TEST(Gaps, AFullQueueIsSeenByDepthAndByTheLengthOfTheCall) {
  HandTrace hand;
  // 1,100 kernels of 100 us, launched 1 us apart; from launch 1,001 on, a launch takes as long as a kernel.
  int64_t now = 0;
  for (uint32_t i = 1; i <= 1100; ++i) {
    const int64_t takes = i > 1001 ? 100'000 : 900;
    hand.launch(now, now + takes, i);
    now += takes + 100;
    const int64_t start = 2'000'000 + 100'000 * static_cast<int64_t>(i);
    hand.kernel(start, start + 100'000, i);
  }
  hand.finish();
  const FullQueueLaunches full(hand.trace, hand.views());
  uint32_t held = 0;
  for (uint32_t row = 0; row < hand.trace.host.size(); ++row) held += full.held(row) ? 1 : 0;
  EXPECT_EQ(held, 99u);
  EXPECT_FALSE(full.held(1000)) << "1,000 outstanding, but a short call";
}

}  // namespace
}  // namespace prof::analyzer
