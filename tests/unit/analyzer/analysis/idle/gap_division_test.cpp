// A gap is divided over what took its time. The pieces sum to the gap to the nanosecond, and none is charged to a call
// that had returned: random models, and divisions computed by hand.
#include "analyzer/analysis/idle/gap_division.h"
#include "tests/unit/analyzer/random_run.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

// "1000 to 1100 synchronising call cudaStreamSynchronize" per line, of all gaps.
std::string pieces_of(HandTrace& hand, Interval window) {
  std::string text;
  divide_gaps(hand.trace, hand.views(), hand.selection, window,
              [&](const DeviceGap&, std::span<const GapPiece> pieces) {
                for (const GapPiece& piece : pieces) {
                  text += std::to_string(piece.begin_ns) + " to " + std::to_string(piece.end_ns) + " ";
                  text += piece.charge.text();
                  if (piece.call != kNone) text += " " + std::string(hand.trace.api_name(hand.trace.host[piece.call]));
                  if (piece.range != kNone)
                    text += " in " + std::string(hand.trace.range_name(hand.trace.ranges[piece.range]));
                  text += "\n";
                }
              });
  return text;
}

// A gap from 1000 to 9100 whose last operation is launched at 9000.
template <class Between> std::string divided_late_gap(Between between) {
  HandTrace hand;
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  between(hand);
  hand.launch(9000, 9050, 2);
  hand.kernel(9100, 9500, 2);
  hand.finish();
  return pieces_of(hand, {100, 9500});
}

TEST(GapDivision, ACallIsChargedOnlyForTheTimeInWhichItRan) {
  EXPECT_EQ(divided_late_gap([](HandTrace& t) { t.call("cudaMemcpyAsync", 990, 1029, 7); }),
            "1000 to 1029 copy call cudaMemcpyAsync\n"
            "1029 to 9000 outside any call\n"
            "9000 to 9050 launch call cudaLaunchKernel\n"
            "9050 to 9100 launch latency\n");
  EXPECT_EQ(divided_late_gap([](HandTrace& t) {
              t.call("cudaStreamSynchronize", 60, 1200, 7);
              t.range("model.py(3): forward", 1200, 9500, RangeKind::Python);
              t.range("aten::add", 5000, 6000);
              t.call("cudaMalloc", 5100, 5300, 8);
            }),
            "1000 to 1200 synchronising call cudaStreamSynchronize\n"
            "1200 to 5000 Python in model.py(3): forward\n"
            "5000 to 5100 in an op in aten::add\n"
            "5100 to 5300 allocation cudaMalloc in aten::add\n"
            "5300 to 6000 in an op in aten::add\n"
            "6000 to 9000 Python in model.py(3): forward\n"
            "9000 to 9050 launch call cudaLaunchKernel in model.py(3): forward\n"
            "9050 to 9100 launch latency\n");
}

TEST(GapDivision, TheProfilersWorkTakesItsTimeFromTheHost) {
  EXPECT_EQ(divided_late_gap([](HandTrace& t) {
              const uint32_t profiler = t.thread(0, 900);
              t.range("Buffer Flush", 2000, 8000, RangeKind::Overhead, profiler);
              t.range("Buffer Flush", 9040, 9080, RangeKind::Overhead, profiler);
            }),
            "1000 to 2000 outside any call\n"
            "2000 to 8000 profiler\n"
            "8000 to 9000 outside any call\n"
            "9000 to 9040 launch call cudaLaunchKernel\n"
            "9040 to 9050 profiler cudaLaunchKernel\n"
            "9050 to 9100 launch latency\n");
}

// One thread launches, frees memory and stops. The other one did nothing until it launches.
std::string handed_over(int64_t other_begins, int64_t calls_again, const char* other_text = "late") {
  HandTrace hand;
  const uint32_t other = hand.thread(0, 501);
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  hand.call("cudaMalloc", 2000, 5000, 9);
  hand.call("cudaFree", calls_again, calls_again + 10, 10);
  hand.range(other_text, other_begins, 9500, RangeKind::Operator, other);
  hand.launch(9000, 9050, 2, other);
  hand.kernel(9100, 9500, 2);
  hand.finish();
  return pieces_of(hand, {100, 9500});
}

TEST(GapDivision, WhereTheLaunchingThreadDidNothingTheThreadThatHandedItsWorkOverIsCharged) {
  EXPECT_EQ(handed_over(8000, 9600),
            "1000 to 2000 outside any call\n"
            "2000 to 5000 other thread: allocation cudaMalloc\n"
            "5000 to 8000 outside any call\n"
            "8000 to 9000 in an op in late\n"
            "9000 to 9050 launch call cudaLaunchKernel in late\n"
            "9050 to 9100 launch latency\n");
}

TEST(GapDivision, AThreadThatGoesOnBesideTheLaunchingThreadIsNotCharged) {
  const std::string alone =
      "1000 to 8000 outside any call\n"
      "8000 to 9000 in an op in late\n"
      "9000 to 9050 launch call cudaLaunchKernel in late\n"
      "9050 to 9100 launch latency\n";
  EXPECT_EQ(handed_over(8000, 8500), alone) << "it makes calls while the launching thread works";
  EXPECT_EQ(handed_over(8000, 9049), alone);
  EXPECT_NE(handed_over(8000, 9050), alone) << "the launch had returned";
}

// The first thread launches for a while and then only is in a range. The second one works for it, then it goes on.
TEST(GapDivision, ThreadsThatLaunchInTurnWaitForEachOther) {
  HandTrace hand;
  const uint32_t backward = hand.thread(0, 501);
  hand.range("step", 0, 9500);
  for (int64_t i = 0; i < 10; ++i) hand.launch(100 * i, 100 * i + 50, static_cast<uint32_t>(1 + i));
  for (int64_t i = 0; i < 10; ++i) hand.kernel(100 * i + 60, 100 * i + 90, static_cast<uint32_t>(1 + i));
  hand.launch(1500, 1550, 11, backward);
  hand.kernel(1600, 1700, 11);
  hand.launch(9000, 9050, 12);
  hand.kernel(9100, 9500, 12);
  hand.finish();
  EXPECT_EQ(pieces_of(hand, {990, 1700}),
            "990 to 1500 other thread: in an op in step\n"
            "1500 to 1550 launch call cudaLaunchKernel\n"
            "1550 to 1600 launch latency\n");
}

TEST(GapDivision, AThreadThatStoppedLongBeforeIsNotCharged) {
  HandTrace hand;
  const uint32_t other = hand.thread(0, 501);
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  hand.call("cudaMalloc", 2000, 3000, 9);
  hand.launch(9000, 9050, 2, other);
  hand.kernel(9100, 9500, 2);
  hand.finish();
  EXPECT_EQ(pieces_of(hand, {100, 9500}),
            "1000 to 9000 outside any call\n"
            "9000 to 9050 launch call cudaLaunchKernel\n"
            "9050 to 9100 launch latency\n")
      << "6,000 after 3,000 of calls";
}

// A worker that fills a batch from 1,500 to `done` while the launching thread waits until 6,000.
std::string waited_for_worker(const char* wait, RangeKind kind, int64_t done, bool third = false,
                              const char* call_inside = nullptr) {
  HandTrace hand;
  const uint32_t worker = hand.thread(0, 501);
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  hand.range("train.py(1): step", 10, 9500, RangeKind::Python);
  hand.range(wait, 1200, 6000, kind);
  if (call_inside != nullptr) hand.call(call_inside, 1300, 1310, 7);
  hand.range("decode", 1500, done, RangeKind::Nvtx, worker);
  if (third) {
    const uint32_t loader = hand.thread(0, 502);
    hand.range("queue.get", 2000, 3000, RangeKind::Nvtx, worker);
    hand.call("cudaMalloc", 1900, 2990, 8, loader);
    hand.range("other work", 3000, 5000, RangeKind::Nvtx, hand.thread(0, 503));
  }
  hand.launch(9000, 9050, 2);
  hand.kernel(9100, 9500, 2);
  hand.finish();
  const std::string all = pieces_of(hand, {100, 9500});
  return all.substr(0, all.find("6000 to 9000 Python"));
}

TEST(GapDivision, ANamedWaitIsChargedToTheThreadThatStoppedWhenItEnded) {
  const struct {
    const char* text;
    RangeKind kind;
  } waits[] = {
      {"queue.py(171): get", RangeKind::Python},
      {"<built-in method acquire of _thread.lock object at 0x7f>", RangeKind::Python},
      {"threading.py(1064): join", RangeKind::Python},
      {"queue.get", RangeKind::Nvtx},
      {"pthread_cond_wait", RangeKind::Nvtx},
      {"futex", RangeKind::Operator},
      {"epoll_wait", RangeKind::Nvtx},
      {"waiting for batch", RangeKind::Annotation},
  };
  for (const auto& [text, kind] : waits) {
    EXPECT_EQ(waited_for_worker(text, kind, 5990),
              "1000 to 1200 Python in train.py(1): step\n"
              "1200 to 1500 other thread\n"
              "1500 to 5990 other thread: in an op in decode\n"
              "5990 to 6000 other thread\n")
        << text;
  }
}

TEST(GapDivision, ANamedWaitWithoutAThreadThatEndedItIsUnknown) {
  EXPECT_EQ(waited_for_worker("queue.get", RangeKind::Nvtx, 2000),
            "1000 to 1200 Python in train.py(1): step\n"
            "1200 to 6000 unknown wait in queue.get\n")
      << "the worker worked for 500 and had ended 4,000 before";
  EXPECT_EQ(waited_for_worker("queue.get", RangeKind::Nvtx, 3750),
            "1000 to 1200 Python in train.py(1): step\n"
            "1200 to 1500 other thread\n"
            "1500 to 3750 other thread: in an op in decode\n"
            "3750 to 6000 other thread\n")
      << "no longer idle than it had worked";
}

// What is waited for may be a thread that records nothing.
TEST(GapDivision, ANamedWaitIsNotChargedToAThreadThatGoesOn) {
  const std::string unknown = "1000 to 1200 Python in train.py(1): step\n1200 to 6000 unknown wait in queue.get\n";
  EXPECT_EQ(waited_for_worker("queue.get", RangeKind::Nvtx, 6600), unknown) << "600 after 4,500 of work";
  EXPECT_EQ(waited_for_worker("queue.get", RangeKind::Nvtx, 9400), unknown) << "all the time";
  EXPECT_EQ(waited_for_worker("queue.get", RangeKind::Nvtx, 6500),
            "1000 to 1200 Python in train.py(1): step\n"
            "1200 to 1500 other thread\n"
            "1500 to 6000 other thread: in an op in decode\n")
      << "it woke the waiting thread and then ended its range";
}

TEST(GapDivision, TheThreadThatWasWaitedForMayHaveWaitedItself) {
  EXPECT_EQ(waited_for_worker("queue.get", RangeKind::Nvtx, 5990, true),
            "1000 to 1200 Python in train.py(1): step\n"
            "1200 to 1500 other thread\n"
            "1500 to 2000 other thread: in an op in decode\n"
            "2000 to 2990 other thread: allocation cudaMalloc\n"
            "2990 to 3000 other thread\n"
            "3000 to 5990 other thread: in an op in decode\n"
            "5990 to 6000 other thread\n");
}

TEST(GapDivision, ARangeInWhichItsThreadMadeCallsIsNoWait) {
  const auto text = [](const char* call) { return waited_for_worker("join", RangeKind::Nvtx, 5990, false, call); };
  EXPECT_EQ(text("cudaMemcpyAsync"),
            "1000 to 1200 Python in train.py(1): step\n"
            "1200 to 1300 in an op in join\n"
            "1300 to 1310 copy call cudaMemcpyAsync in join\n"
            "1310 to 6000 in an op in join\n")
      << "a join of tables";
  EXPECT_NE(text("cudaEventQuery").find("1500 to 5990 other thread: in an op in decode\n"), std::string::npos)
      << "it polls";
}

// The caller of backward() waits in its Python frame for autograd's thread, which frees memory and then ends.
TEST(GapDivision, AWaitForAnotherThreadIsChargedToWhatThatThreadDid) {
  HandTrace hand;
  const uint32_t backward = hand.thread(0, 501);
  hand.range("train.py(9): step", 0, 20'000, RangeKind::Python);
  hand.range("MmBackward0, seq = 5", 50, 500, RangeKind::Nvtx);
  hand.launch(100, 150, 1);
  hand.range("MmBackward0, stashed seq = 5", 1000, 6000, RangeKind::Nvtx, backward);
  hand.call("cudaFree", 3000, 5000, 3, backward);
  hand.kernel(200, 2000, 1);
  hand.launch(9000, 9050, 2);
  hand.kernel(9100, 9500, 2);
  hand.finish();
  EXPECT_EQ(pieces_of(hand, {200, 9500}),
            "2000 to 3000 other thread: in an op in MmBackward0, stashed seq = 5\n"
            "3000 to 5000 other thread: allocation cudaFree in MmBackward0, stashed seq = 5\n"
            "5000 to 6000 other thread: in an op in MmBackward0, stashed seq = 5\n"
            "6000 to 9000 Python in train.py(9): step\n"
            "9000 to 9050 launch call cudaLaunchKernel in train.py(9): step\n"
            "9050 to 9100 launch latency\n");
}

TEST(GapDivision, TheDevicesPartIsTheLaunchCallAndThenWhatTheOperationWaitedFor) {
  HandTrace hand;
  const uint32_t second = hand.stream(0, 13);
  hand.launch(0, 50, 1);
  hand.launch(60, 1200, 2);  // still in the call when the gap begins
  hand.launch(1300, 1310, 3);
  hand.launch(1320, 1330, 4);
  hand.call("cudaStreamWaitEvent", 1340, 1350, 5);
  hand.sync(SyncKind::StreamWaitEvent, 1340, 1350, 5, second, 0);
  hand.launch(1360, 1370, 6);
  hand.kernel(100, 1000, 1);
  hand.kernel(1300, 2000, 2);
  hand.kernel(2001, 3000, 3);
  hand.kernel(33'000, 34'000, 4);  // 30,000 ns after the GPU was free
  hand.kernel(34'007, 35'000, 6, second);
  hand.finish();
  EXPECT_EQ(pieces_of(hand, {100, 35'000}),
            "1000 to 1200 launch call cudaLaunchKernel\n"
            "1200 to 1300 launch latency\n"
            "2000 to 2001 between queued operations\n"
            "3000 to 33000 unknown\n"
            "34000 to 34007 between queued operations\n")
      << "the operation of the other stream had ended when the gap began";
  hand.trace.operations[3].start_ns = 32'999;  // 1 ns below the limit
  EXPECT_NE(pieces_of(hand, {100, 35'000}).find("3000 to 32999 between queued operations\n"), std::string::npos);
}

// The stream waits for the operation of another GPU that was launched before the event was recorded.
TEST(GapDivision, AWaitIsCutWhereTheOtherOperationEnded) {
  for (const int64_t start : {5007, 35'000, 34'999}) {
    for (const bool named : {true, false}) {
      HandTrace hand;
      const uint32_t there = hand.stream(hand.device(0, 1), 7);
      hand.trace.devices[1].physical = 1;
      hand.launch(0, 50, 1);
      hand.launch(60, 70, 2);
      hand.call("cudaEventRecord", 80, 85, 3);
      hand.launch(90, 95, 4);
      hand.call("cudaStreamWaitEvent", 100, 110, 5);
      hand.sync(SyncKind::StreamWaitEvent, 100, 110, 5, 0, there);
      if (named) hand.trace.syncs.back().record_correlation = 3;
      hand.launch(120, 130, 6);
      hand.kernel(100, 1000, 1);
      hand.kernel(200, 5000, 2, there);
      hand.kernel(5000, 5003, 4, there);  // after the event
      hand.kernel(start, 36'000, 6);
      hand.finish();
      hand.selection.devices = {0};
      const int64_t ended = named ? 5000 : 5003;
      EXPECT_EQ(pieces_of(hand, {100, 36'000}), "1000 to " + std::to_string(ended) + " event of another stream\n" +
                                                    std::to_string(ended) + " to " + std::to_string(start) +
                                                    (start - ended >= 30'000 ? " unknown\n" : " launch latency\n"));
    }
  }
}

// Stream 7 of the first GPU waits for "stream 7": that of the other GPU.
TEST(GapDivision, AWaitForTheOwnNumberIsForTheStreamOfAnotherGpu) {
  HandTrace hand;
  const uint32_t there = hand.stream(hand.device(0, 1), 7);
  hand.trace.devices[1].physical = 1;
  hand.launch(0, 50, 1);
  hand.launch(60, 70, 2);
  hand.call("cudaStreamWaitEvent", 100, 110, 5);
  hand.sync(SyncKind::StreamWaitEvent, 100, 110, 5, 0, 0);
  hand.launch(120, 130, 6);
  hand.kernel(100, 1000, 1);
  hand.kernel(200, 5000, 2, there);
  hand.kernel(5007, 6000, 6);
  hand.finish();
  hand.selection.devices = {0};
  EXPECT_EQ(pieces_of(hand, {100, 6000}),
            "1000 to 5000 event of another stream\n"
            "5000 to 5007 launch latency\n");
}

// The event's operation had ended before the launch was entered: the stream waited for nothing.
TEST(GapDivision, AnEventThatHadPassedBeforeTheLaunchIsNoWait) {
  HandTrace hand;
  const uint32_t second = hand.stream(0, 13);
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  hand.call("cudaStreamWaitEvent", 1500, 1510, 2);
  hand.sync(SyncKind::StreamWaitEvent, 1500, 1510, 2, second, 0);
  hand.launch(2000, 2100, 3);
  hand.kernel(2200, 3000, 3, second);
  hand.finish();
  EXPECT_EQ(pieces_of(hand, {100, 3000}),
            "1000 to 1500 outside any call\n"
            "1500 to 1510 other call cudaStreamWaitEvent\n"
            "1510 to 2000 outside any call\n"
            "2000 to 2100 launch call cudaLaunchKernel\n"
            "2100 to 2200 launch latency\n");
}

TEST(GapDivision, AHostFunctionIsChargedFromItsEarliestStart) {
  HandTrace hand;
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  hand.call("cuLaunchHostFunc", 1100, 1200, 0);
  hand.trace.host.back().stream = HostStreamId{1};
  hand.launch(1300, 1310, 2);
  hand.kernel(5000, 6000, 2);
  hand.finish();
  EXPECT_EQ(pieces_of(hand, {100, 6000}),
            "1000 to 1100 outside any call\n"
            "1100 to 1200 other call cuLaunchHostFunc\n"
            "1200 to 1300 outside any call\n"
            "1300 to 1310 launch call cudaLaunchKernel\n"
            "1310 to 5000 host function\n");
}

TEST(GapDivision, OperationsWithoutLaunchAndTheEndOfTheWindowHaveTheirOwnParts) {
  HandTrace hand;
  hand.call("cuInit", 0, 1);
  hand.kernel(100, 200, 1);
  hand.kernel(300, 400, 2);
  hand.finish();
  EXPECT_EQ(pieces_of(hand, {50, 500}), "50 to 100 unlinked\n200 to 300 unlinked\n400 to 500 no more work\n");
}

TEST(GapDivision, PiecesOfRandomRunsSumToTheIdleTimeAndLieInsideTheirCalls) {
  std::map<std::string_view, uint64_t> seen;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    HandTrace hand;
    tests::random_run(hand, seed);
    const Trace& trace = hand.trace;
    const Interval window{seed % 2 == 0 ? 0 : 5000, seed % 3 == 0 ? 30'000 : 80'000};
    std::map<uint32_t, int64_t> idle_ns, outside_ns;  // by device
    divide_gaps(trace, hand.views(), hand.selection, window,
                [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
                  int64_t now = gap.begin_ns;
                  for (const GapPiece& piece : pieces) {
                    ++seen[piece.charge.text()];
                    ASSERT_EQ(piece.begin_ns, now) << "no nanosecond is missing or in two pieces";
                    ASSERT_GT(piece.end_ns, piece.begin_ns);
                    now = piece.end_ns;
                    if (piece.call != kNone) {
                      ASSERT_LE(trace.host[piece.call].begin_ns, piece.begin_ns);
                      ASSERT_GE(trace.host[piece.call].end_ns, piece.end_ns) << "the call had returned";
                      ASSERT_EQ(index(trace.host[piece.call].thread), piece.thread);
                    }
                    if (piece.range != kNone) {
                      ASSERT_LE(trace.ranges[piece.range].begin_ns, piece.begin_ns);
                      ASSERT_EQ(index(trace.ranges[piece.range].thread), piece.thread);
                      if (piece.call == kNone) {
                        ASSERT_GE(trace.ranges[piece.range].end_ns, piece.end_ns);
                      }
                    }
                    const bool before = piece.end_ns <= gap.launched_ns();
                    if (gap.launch != kNone) {
                      ASSERT_TRUE(before || piece.begin_ns >= gap.launched_ns()) << "cut at the launch";
                      ASSERT_TRUE(!before || is_host_part(piece.part()));
                    }
                    const Interval part = inside(piece, window.begin_ns, window.end_ns);
                    idle_ns[index(gap.device)] += part.length_ns();
                  }
                  ASSERT_EQ(now, gap.end_ns);
                });
    for (const auto& [device, streams] : streams_by_gpu(trace, [](const Stream&) { return true; })) {
      std::vector<Interval> running;
      for (const StreamId stream : streams) {
        const Rows rows = trace.stream(stream).operations;
        for (uint32_t row = rows.first; row < rows.last; ++row)
          running.push_back({trace.operations[row].start_ns, trace.operations[row].end_ns});
      }
      const int64_t busy_ns = IntervalSet(std::move(running)).overlap_ns(window.begin_ns, window.end_ns);
      EXPECT_EQ(idle_ns[index(device)], window.length_ns() - busy_ns);
    }
  }
  for (const std::string_view part :
       {"synchronising call", "copy call", "allocation", "launch call", "other call", "Python", "in an op",
        "outside any call", "profiler", "launch latency", "event of another stream", "host function",
        "between queued operations", "unlinked", "no more work", "unknown wait", "other thread",
        "other thread: launch call"})
    EXPECT_GT(seen[part], 20u) << part;
}

}  // namespace
}  // namespace prof::analyzer
