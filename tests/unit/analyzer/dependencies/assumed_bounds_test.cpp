// What may have waited for more than a trace shows does not limit what a change saves. Every run here is one in which
// something waits for a kernel of 10,000 ns in a way that the trace does not name.
#include "tests/unit/analyzer/reports/sample_run.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace prof::analyzer {
namespace {

using tests::kKernels;
using tests::kLaunches;
using tests::kSyncs;
using tests::SampleRun;

constexpr int64_t kHeavyNs = 10'000;
constexpr uint32_t kManagedToHost = 2 | 5 << 8 | 1 << 16;

// What the kernel "heavy" saves at most, and without assumptions.
struct Saved {
  int64_t at_most, known;
  bool operator==(const Saved&) const = default;
};
Saved without_heavy(SampleRun& run) {
  run.graph();
  std::vector<bool> heavy(run.trace.kernels.size());
  for (size_t kernel = 0; kernel < heavy.size(); ++kernel)
    heavy[kernel] = run.trace.text(run.trace.kernels[kernel].name) == "heavy";
  const Scenario scenario{{kKernels, kPartOwn, 0, 0, heavy, {}}};
  return {run.saved(scenario), run.known(scenario)};
}
std::ostream& operator<<(std::ostream& out, const Saved& saved) {
  return out << saved.at_most << ", known " << saved.known;
}

// A launch at 0, the kernel from 20 to 10,020.
void heavy(SampleRun& run, uint32_t thread = 0) { run.launched(0, 10, 20, 20 + kHeavyNs, 0, "heavy", thread); }

TEST(AssumedBounds, AnOperationWithoutLaunchDoesNotLimitOthers) {
  SampleRun run;
  run.stream(0, 8);
  heavy(run);
  run.awaited("cudaDeviceSynchronize", 11, 10'030);
  run.kernel(10'100, 10'150, 900, 1, "unlinked");
  run.call("cudaFree", 10'200, 10'300, 901);
  EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, 150})) << "it is not known why the second kernel started at 10,100";
}

TEST(AssumedBounds, AnOperationWithoutLaunchStaysAfterWhatItsStreamRanBefore) {
  SampleRun run;
  run.launched(0, 10, 20, 5'020, 0, "light");
  run.launched(11, 12, 5'020, 15'020, 0, "heavy");
  run.kernel(15'030, 15'040, 900, 0, "unlinked");
  run.kernel(15'050, 15'090, 901, 0, "unlinked");
  EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, kHeavyNs})) << "after the light kernel, with the measured delay";
}

TEST(AssumedBounds, UnlinkedOperationsBeforeAChangeDoNotMove) {
  SampleRun run;
  run.kernel(100, 200, 900, 0, "unlinked");
  run.kernel(300, 400, 901, 0, "unlinked");
  run.launched(90, 95, 400, 400 + kHeavyNs, 0, "heavy");
  run.awaited("cudaDeviceSynchronize", 96, 405 + kHeavyNs);
  EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, kHeavyNs}));
  EXPECT_EQ(run.known_own(kLaunches), 0) << "the stream is busy until 400";
  EXPECT_EQ(run.saved_own(kLaunches), 5) << "the second unlinked kernel may be the one that was launched";
}

TEST(AssumedBounds, AMigrationIsInNoOrderWithItsStream) {
  SampleRun run;
  run.copy(10, 20, 0, 4096, kManagedToHost, 0);
  heavy(run);
  for (int64_t page = 0; page < 5; ++page) run.copy(1000 + 1000 * page, 1900 + 1000 * page, 0, 4096, kManagedToHost, 0);
  run.awaited("cudaDeviceSynchronize", 11, 10'025);
  // Each migration takes 900 ns, side by side.
  EXPECT_EQ(without_heavy(run).at_most, 10'025 - 900) << "they can start at 0";
}

TEST(AssumedBounds, AThreadThatStartsAfterAWaitMovesWithIt) {
  SampleRun run;
  run.thread(0, 501);
  run.stream(0, 8);
  heavy(run);
  run.awaited("cudaDeviceSynchronize", 11, 10'030);
  run.launched(10'100, 10'110, 10'115, 10'200, 1, "light", 1);
  EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, 0}));
}

TEST(AssumedBounds, AThreadMayWaitForAnotherThread) {
  SampleRun run;
  run.thread(0, 501);
  run.stream(0, 8);
  run.call("cudaGetDevice", 0, 1, 0, 1);
  heavy(run);
  run.awaited("cudaDeviceSynchronize", 11, 10'030);
  run.launched(10'100, 10'110, 10'115, 10'200, 1, "light", 1);
  EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, 0}));
}

TEST(AssumedBounds, AThreadMayWaitBetweenItsCallsForWhatEndsThere) {
  SampleRun run;
  heavy(run);
  run.call("cudaGetDevice", 12'000, 12'010);
  EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, 0})) << "it may read memory that the kernel writes";
}

TEST(AssumedBounds, AThreadAloneDoesItsOwnWorkWhereNothingEnds) {
  SampleRun run;
  heavy(run);
  run.call("cudaGetDevice", 10'015, 10'016);
  EXPECT_EQ(without_heavy(run), (Saved{4, 4})) << "the kernel ends at 10,020";
}

TEST(AssumedBounds, AThreadMayWaitForAThreadThatHasOnlyRanges) {
  for (const int64_t end : {10'030, 10'031, 12'000, 12'001}) {
    SampleRun run;
    const uint32_t worker = run.thread(0, 501);
    heavy(run);
    run.awaited("cudaDeviceSynchronize", 11, 10'030);
    run.range("decode", 5, end, RangeKind::Nvtx, worker);
    run.call("cudaGetDevice", 12'000, 12'010);
    run.graph().each_node(kind_bit(NodeKind::OtherCall), [&](uint32_t, const Node& call) {
      EXPECT_EQ(call.has(kNodeStartAssumed), end > 10'030 && end <= 12'000) << end;
    });
  }
}

TEST(AssumedBounds, AQueryThatIsRepeatedIsAWait) {
  SampleRun run;
  heavy(run);
  for (int64_t t = 20; t < 10'000; t += 100) run.call("cudaStreamQuery", t, t + 60);
  run.call("cudaStreamQuery", 10'030, 10'050);
  // The first query takes its 60, after 10; the last one is bounded by nothing that is known.
  const Saved saved = without_heavy(run);
  EXPECT_GE(saved.at_most, 10'050 - 20 - 60 - 20);
  EXPECT_LE(saved.at_most, kHeavyNs);
  EXPECT_EQ(saved.known, 0);
}

TEST(AssumedBounds, AQueryOfALogThatFoundItsEventCompleteEndsTheWait) {
  SampleRun run;
  run.trace.processes[0].format = kProfLogFormat;
  heavy(run);
  for (int64_t t = 20; t < 10'000; t += 100) run.call("cuStreamQuery", t, t + 60);  // each found the stream complete
  EXPECT_EQ(without_heavy(run).at_most, 40) << "the last query ends at 9,980, the kernel at 10,020";
}

TEST(AssumedBounds, ACallInWhichAnOperationEndedMayHaveWaitedForIt) {
  for (const bool inside : {true, false}) {
    SampleRun run;
    heavy(run);
    run.call("cudaFree", 15, inside ? 10'021 : 10'020, 901);
    run.call("cudaGetDevice", 10'045, 10'046);
    EXPECT_EQ(without_heavy(run), (inside ? Saved{kHeavyNs, 0} : Saved{0, 0})) << "the kernel ends at 10,020";
  }
}

TEST(AssumedBounds, AWaitThatLastedLongerThanItsOperationMayHaveBeenForAnother) {
  SampleRun run;
  run.stream(0, 8);
  run.launched(1, 5, 8, 18, 1, "light");
  heavy(run);
  run.awaited("cudaStreamSynchronize", 12, 10'025);
  run.trace.processes[0].format = "Kineto";
  run.sync(SyncKind::Stream, 12, 10'025, run.next_id, 1);
  EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, 0})) << "the trace names the stream of the light kernel";
}

TEST(AssumedBounds, ALaunchMayHaveWaitedUnlessItIsTheShortest) {
  for (const int64_t long_ns : {12, 13}) {
    SampleRun run;
    run.stream(0, 8);
    run.launched(0, 12, 20, 20 + kHeavyNs, 0, "heavy");
    const int64_t begin = 10'020 - 10;
    run.launched(begin, begin + long_ns, begin + 50, begin + 60, 1, "light");
    const Saved saved = without_heavy(run);
    EXPECT_EQ(saved.known, 0);
    EXPECT_EQ(saved.at_most, long_ns > 12 ? 13 : 0) << "an operation ended in both launches";
  }
}

TEST(AssumedBounds, ALatencyInWhichAnotherStreamFinishedMayBeAWaitForIt) {
  for (const int64_t heavy_end : {10'020, 10'050, 10'060}) {
    for (const bool one_gpu : {true, false}) {
      SampleRun run;
      run.device(0, 1);
      run.stream(1, 8);
      run.launched(0, 10, 20, heavy_end, 0, "heavy");
      run.launched(11, 12, 10'050, 11'050, 1, "light");
      run.finish();
      run.finished = true;
      run.trace.devices[1].physical = one_gpu ? 0 : 1;
      const bool may_wait = heavy_end <= 10'050 || one_gpu;  // on its GPU it may wait for resources of one that runs
      EXPECT_EQ(without_heavy(run), (may_wait ? Saved{heavy_end - 20, 0} : Saved{0, 0})) << heavy_end;
    }
  }
}

TEST(AssumedBounds, OnlyWhatEndedInTheIntervalCounts) {
  // The kernel ends exactly when the stream of the light one is free, and exactly when that one starts.
  for (const int64_t end : {50, 51, 60, 61}) {
    SampleRun run;
    run.device(0, 1);
    run.stream(1, 8);
    run.launched(0, 2, 10, end, 0, "heavy");
    run.launched(3, 4, 10, 50, 1, "light");
    run.launched(5, 6, 60, 160, 1, "light");
    run.finish();
    run.finished = true;
    run.trace.devices[1].physical = 1;
    EXPECT_EQ(without_heavy(run).at_most, end > 50 && end <= 60 ? 10 : 0) << end << ": the delay of 10 after 50";
  }
}

TEST(AssumedBounds, AnotherProcessMayBeTheCauseWhicheverGpuItUses) {
  for (const bool one_gpu : {true, false}) {
    SampleRun run;
    run.process(200);
    run.thread(1, 600);
    run.device(1, 0);
    run.stream(1, 7);
    heavy(run);
    run.launched(11, 12, 10'050, 11'050, 1, "light", 1);
    run.finish();
    run.finished = true;
    run.trace.devices[1].physical = one_gpu ? 0 : 1;
    EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, 0}));
  }
}

TEST(AssumedBounds, OperationsThatShareAGpuMayTakeLessWithoutEachOther) {
  for (const bool one_gpu : {true, false}) {
    for (const int64_t light_start : {19, 21, 10'019, 10'020}) {
      SampleRun run;
      run.device(0, 1);
      run.stream(1, 8);
      run.launched(0, 1, 20, 20 + kHeavyNs, 0, "heavy");
      run.launched(2, 3, light_start, 20'000, 1, "light");
      run.finish();
      run.finished = true;
      run.trace.devices[1].physical = one_gpu ? 0 : 1;
      const bool beside = one_gpu && light_start < 10'020;
      const Saved saved = without_heavy(run);
      EXPECT_EQ(saved.known, 0);
      if (light_start < 10'020) {
        EXPECT_EQ(saved.at_most, beside ? kHeavyNs : 0) << light_start;
      }
      EXPECT_EQ(run.made->has_nodes(kKernels, kNodeTimeAssumed, 0), beside) << light_start;
    }
  }
}

TEST(AssumedBounds, ACommunicationKernelMayWaitForOtherGpus) {
  for (const bool communicates : {true, false}) {
    SampleRun run;
    run.device(0, 1);
    run.stream(1, 8);
    run.launched(0, 1, 20, 20 + kHeavyNs, 0, "heavy");
    run.launched(2, 3, 30, 10'100, 1, "ncclDevKernel_AllReduce");
    run.finish();
    run.finished = true;
    run.trace.devices[1].physical = 1;
    run.waits = Dependencies(run.trace);
    if (communicates) {
      for (const auto& kernel : run.trace.kernels)
        run.waits.communication.push_back(run.trace.text(kernel.name).starts_with("nccl"));
    }
    run.made = std::make_unique<DependencyGraph>(run.trace, run.waits, 0, 1 << 30);
    run.window_end = 1 << 30;
    run.expect_replay_is_exact();
    std::vector<bool> heavy_only(run.trace.kernels.size());
    for (size_t kernel = 0; kernel < heavy_only.size(); ++kernel)
      heavy_only[kernel] = run.trace.text(run.trace.kernels[kernel].name) == "heavy";
    EXPECT_EQ(run.saved({{kKernels, kPartOwn, 0, 0, heavy_only, {}}}), communicates ? kHeavyNs : 0);
    EXPECT_EQ(run.known({{kKernels, kPartOwn, 0, 0, heavy_only, {}}}), 0);
  }
}

TEST(AssumedBounds, TheCategoriesOfKernelsSayWhichOnesCommunicate) {
  SampleRun run;
  run.launched(0, 1, 20, 30, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  run.launched(2, 3, 40, 50, 0, "gemm");
  run.finish();
  const Dependencies& waits = run.views().dependencies();
  ASSERT_EQ(waits.communication.size(), run.trace.kernels.size());
  for (size_t kernel = 0; kernel < run.trace.kernels.size(); ++kernel) {
    EXPECT_EQ(waits.communication[kernel], run.trace.text(run.trace.kernels[kernel].name).starts_with("nccl"));
  }
}

TEST(AssumedBounds, TheTimeOfOperationsThatShareAGpuIsCounted) {
  SampleRun run;
  run.stream(0, 8);
  run.device(0, 1);
  run.stream(1, 7);
  run.trace.devices[1].physical = 1;
  run.launched(0, 1, 10, 50, 0);
  run.launched(2, 3, 40, 60, 1);
  run.launched(4, 5, 45, 55, 0);
  run.launched(6, 7, 10, 100, 2);
  EXPECT_EQ(run.graph().shared_ns(), 10 + 10) << "40 to 50 and 45 to 55; the other GPU runs one kernel";
}

TEST(AssumedBounds, AKernelThatOutlastsThousandsOfOthersStaysTheLast) {
  SampleRun run;
  run.stream(0, 8);
  heavy(run);
  run.launched(11, 12, 30, 1'000'000, 1, "long");  // it runs beside all others, so its time is not certain
  for (int64_t i = 0; i < 3000; ++i)
    run.launched(20 + 2 * i, 21 + 2 * i, 20'000 + 250 * i, 20'240 + 250 * i, 0, "light");
  EXPECT_EQ(without_heavy(run), (Saved{kHeavyNs, 0}));
}

}  // namespace
}  // namespace prof::analyzer
