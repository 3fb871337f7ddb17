// A gap is divided over what took its time. The pieces sum to the gap to the nanosecond, and none is charged to a call
// that had returned: random models, and divisions computed by hand.
#include "analyzer/analysis/idle/gap_division.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
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

TEST(GapDivision, WhereTheLaunchingThreadDidNothingTheThreadThatLaunchedBeforeIsCharged) {
  HandTrace hand;
  const uint32_t other = hand.thread(0, 501);
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  hand.call("cudaMalloc", 2000, 3000, 9);
  hand.range("late", 8000, 9500, RangeKind::Operator, other);
  hand.launch(9000, 9050, 2, other);
  hand.kernel(9100, 9500, 2);
  hand.finish();
  EXPECT_EQ(pieces_of(hand, {100, 9500}),
            "1000 to 2000 outside any call\n"
            "2000 to 3000 other thread: allocation cudaMalloc\n"
            "3000 to 8000 outside any call\n"
            "8000 to 9000 in an op in late\n"
            "9000 to 9050 launch call cudaLaunchKernel in late\n"
            "9050 to 9100 launch latency\n");
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
            "34000 to 34007 event of another stream\n");
  hand.trace.operations[3].start_ns = 32'999;  // 1 ns below the limit
  EXPECT_NE(pieces_of(hand, {100, 35'000}).find("3000 to 32999 between queued operations\n"), std::string::npos);
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

// A run at random: threads with calls, ranges and Python frames, streams of two GPUs, waits of streams, operations that
// overlap, lack their launch or start before it.
void random_run(HandTrace& hand, uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
  const char* const apis[] = {"cudaStreamSynchronize", "cudaMemcpyAsync",     "cudaMalloc",      "cudaFree",
                              "cuModuleLoadData",      "cudaStreamWaitEvent", "cuLaunchHostFunc"};
  const uint32_t threads = 1 + static_cast<uint32_t>(below(4));
  for (uint32_t t = 1; t < threads; ++t) hand.thread(0, 500 + t);
  hand.stream(0, 13);
  hand.stream(hand.device(0, 1), 7);
  const auto streams = static_cast<uint32_t>(hand.trace.streams.size());
  uint32_t id = 0;
  const auto nested = [&](auto& self, uint32_t thread, int64_t begin, int64_t end, int depth) -> void {
    for (int64_t now = begin + below(300); now + 20 < end;) {
      const int64_t until = std::min(end, now + 10 + below(2000));
      switch (below(5)) {
        case 0: {
          const RangeKind kinds[] = {RangeKind::Operator, RangeKind::Python, RangeKind::Nvtx, RangeKind::Overhead};
          const std::string text = "range " + std::to_string(below(9)) + ", seq = " + std::to_string(below(40));
          hand.range(text, now, until, kinds[below(12) % 4], thread);
          if (depth < 4) self(self, thread, now, until, depth + 1);
          break;
        }
        case 1: {
          const char* const api = apis[below(7)];
          const auto stream = static_cast<uint32_t>(below(streams));
          hand.call(api, now, until, ++id, thread);
          hand.trace.host.back().stream = HostStreamId{1 + stream};
          if (api[4] == 'S' && api[10] == 'W') {
            const auto other = static_cast<uint32_t>(below(streams + 1));
            hand.sync(SyncKind::StreamWaitEvent, now, until, id, stream, other == streams ? kNone : other);
          }
          break;
        }
        case 2: break;
        default:
          hand.launch(now, until, ++id, thread);
          if (below(10) != 0) {
            const int64_t start = std::max<int64_t>(0, now - 50 + below(4000));
            hand.kernel(start, start + below(1500), below(12) == 0 ? 1'000'000 + id : id,
                        static_cast<uint32_t>(below(streams)));
          }
      }
      now = until + below(600);
    }
  };
  hand.call("cuInit", 0, 1);
  for (uint32_t t = 0; t < threads; ++t) nested(nested, t, 10 + below(3000), 20'000 + below(40'000), 0);
  hand.finish();
}

TEST(GapDivision, PiecesOfRandomRunsSumToTheIdleTimeAndLieInsideTheirCalls) {
  std::map<std::string_view, uint64_t> seen;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    HandTrace hand;
    random_run(hand, seed);
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
        "between queued operations", "unlinked", "no more work"})
    EXPECT_GT(seen[part], 20u) << part;
}

}  // namespace
}  // namespace prof::analyzer
