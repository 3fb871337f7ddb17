// A replay of the unchanged graph equals the measured run; the saving of a change is computed by hand.
#include "analyzer/dependencies/replay.h"
#include "tests/unit/analyzer/reports/sample_run.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace prof::analyzer {
namespace {

using tests::kCopies;
using tests::kKernels;
using tests::kLaunches;
using tests::kSyncs;
using tests::SampleRun;

TEST(DependencyGraph, OneLaunchIsTheSumOfItsParts) {
  SampleRun run;
  run.launched(0, 10, 15, 35);
  run.awaited("cudaStreamSynchronize", 20, 40);
  EXPECT_EQ(run.graph().wall_ns(), 40);
  EXPECT_EQ(run.saved_own(kKernels), 15) << "then the call's own 5 ns after 20";
  EXPECT_EQ(run.saved_own(kLaunches), 10);
  EXPECT_EQ(run.saved({{kKernels, kPartOther, 0, 0, {}, {}}}), 5) << "launch latency";
  EXPECT_EQ(run.saved_without_syncs(), 5) << "the kernel still ends at 35";
  EXPECT_EQ(run.saved({{kHostNodes, kPartBefore, 0, 0, {}, {}}}), 0) << "host work behind a running kernel";
  const Outcome kernels = run.without({{kKernels, kPartOwn, 0, 0, {}, {}}});
  EXPECT_EQ(kernels.count, 1u);
  EXPECT_EQ(kernels.own_ns, 20);
  const Outcome syncs = run.without({{kSyncs, kPartOwn | kPartWait, 0, 0, {}, {}}});
  EXPECT_EQ(syncs.count, 1u);
  EXPECT_EQ(syncs.own_ns, 20) << "15 blocked and 5 after";
}

TEST(DependencyGraph, AnEventMakesOneStreamWaitForAnother) {
  for (const bool with_event : {true, false}) {
    SampleRun run;
    run.stream(0, 8);
    run.launched(0, 5, 10, 50, 0, "first");
    if (with_event) {
      run.call("cudaEventRecord", 6, 7, 77);
      run.call("cudaStreamWaitEvent", 8, 9, 78);
      run.sync(SyncKind::StreamWaitEvent, 8, 9, 78, 1, 0);
      run.trace.syncs.back().record_correlation = 77;
    }
    run.launched(10, 12, 55, 75, 1, "second");
    run.awaited("cudaDeviceSynchronize", 13, 80);
    EXPECT_EQ(run.graph().wall_ns(), 80);
    // Without the first kernel (10 to 50) the second starts 5 ns after its event, which is then at 10.
    const auto first = run.trace.operations[0].detail;
    std::vector<bool> subjects(first + 1);
    subjects[first] = true;
    EXPECT_EQ(run.known({{kKernels, kPartOwn, 0, 0, subjects, {}}}), with_event ? 40 : 0);
    EXPECT_EQ(run.saved({{kKernels, kPartOwn, 0, 0, subjects, {}}}), 40)
        << "without the event, the latency of 43 may contain a wait for the kernel that ended in it";
  }
}

TEST(DependencyGraph, EventsOfLogsAreFollowedByTheirHandles) {
  SampleRun run;
  run.trace.processes[0].format = "prof log";
  run.stream(0, 8);
  run.launched(0, 5, 10, 50, 0, "first");
  run.call("cuEventRecord", 6, 7, 0, 0, 0xe1);
  run.launched(7, 8, 52, 60, 0, "behind the event");
  run.call("cuStreamWaitEvent", 8, 9, 0, 0, 0xe1);
  run.launched(10, 12, 55, 75, 1, "second");
  run.call("cuEventRecord", 12, 13, 0, 0, 0xe2);
  run.call("cuEventSynchronize", 13, 80, 0, 0, 0xe2);
  run.finish();
  run.finished = true;
  for (HostStream& stream : run.trace.host_streams) stream.type = 2, stream.flags = 1;
  for (HostEvent& event : run.trace.host) {
    const std::string_view api = run.trace.api_name(event);
    if (api == "cuEventRecord") event.stream = HostStreamId{event.subject == 0xe1 ? 1u : 2u};
    if (api == "cuStreamWaitEvent") event.stream = HostStreamId{2};
  }
  run.graph();
  ASSERT_EQ(run.waits.of_operations.size(), 1u);
  EXPECT_EQ(run.trace.operations[run.waits.of_operations[0].operation].end_ns, 50);
  EXPECT_EQ(run.trace.operations[run.waits.of_operations[0].waiter].start_ns, 55);
  ASSERT_EQ(run.waits.of_calls.size(), 1u);
  EXPECT_EQ(run.trace.operations[run.waits.of_calls[0].operation].end_ns, 75);
  EXPECT_EQ(run.known_own(kKernels), 80 - 20) << "the first is over at 10, the second waits 5 after it and for its "
                                                 "launch: 15; the call's 5 behind 15 and 13: 20, "
                                                 "the other kernel ends 2 behind 10";
}

TEST(DependencyGraph, TheLegacyDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  for (const uint32_t flags : {0u, 1u}) {
    SampleRun run;
    run.trace.processes[0].format = "prof log";
    run.stream(0, 13);
    run.launched(0, 5, 10, 50, 1, "blocking stream");
    run.launched(6, 8, 53, 70, 0, "default stream");
    run.launched(9, 11, 74, 90, 1, "blocking stream again");
    run.finish();
    run.finished = true;
    run.trace.host_streams[1].type = 0;  // legacy
    run.trace.host_streams[2].type = 2, run.trace.host_streams[2].flags = flags;
    run.graph();
    EXPECT_EQ(run.waits.of_operations.size(), flags == 0 ? 2u : 0u);
    // Blocking: 5 latency, then delays of 3 and 4. Otherwise both kernels keep their latencies of 45 and the 24 in
    // stream 13.
    EXPECT_EQ(run.known_own(kKernels), 90 - (flags == 0 ? 17 : 53));
    EXPECT_EQ(run.saved_own(kKernels), 73) << "the latencies may be waits for the kernels that ended in them";
  }
}

TEST(DependencyGraph, AnOverlappedCopySavesNothing) {
  SampleRun run;
  run.stream(0, 8);
  run.copied("cudaMemcpyAsync", 0, 4, 10, 40, 1);
  run.launched(5, 9, 12, 60);
  run.awaited("cudaDeviceSynchronize", 10, 65);
  EXPECT_EQ(run.graph().wall_ns(), 65);
  EXPECT_EQ(run.saved_own(kCopies), 0);
  EXPECT_EQ(run.saved_own(kKernels), 65 - 45) << "then the copy ends last: 40, and 5 of the call";
}

TEST(DependencyGraph, ALoopBoundByItsSynchronizationsRunsAheadWithoutThem) {
  SampleRun run;
  for (int64_t i = 0; i < 3; ++i) {
    run.launched(120 * i, 120 * i + 5, 120 * i + 10, 120 * i + 110);
    run.awaited("cudaStreamSynchronize", 120 * i + 5, 120 * i + 115);
  }
  EXPECT_EQ(run.graph().wall_ns(), 355);
  EXPECT_EQ(run.saved_without_syncs(), 45) << "three kernels of 100 behind 10";
  EXPECT_EQ(run.saved_own(kKernels), 300);
  EXPECT_EQ(run.saved_own(kLaunches), 15);
}

TEST(DependencyGraph, ALoopBoundByTheHostGainsFromItsLaunchesOnly) {
  SampleRun run;
  for (int64_t i = 0; i < 3; ++i) run.launched(10 * i, 10 * i + 8, 10 * i + 9, 10 * i + 10);
  EXPECT_EQ(run.graph().wall_ns(), 30);
  EXPECT_EQ(run.saved_own(kLaunches), 24) << "2 ns of work between, 1 latency, 1 kernel";
  EXPECT_EQ(run.known_own(kKernels), 1) << "the last one";
  EXPECT_EQ(run.saved_own(kKernels), 3) << "the thread may have waited for the kernels that ended between its calls";
  EXPECT_EQ(run.saved({{kHostNodes, kPartBefore, 0, 0, {}, {}}}), 4);
}

TEST(DependencyGraph, AThreadThatIsNotTheLongestSavesNothing) {
  SampleRun run;
  run.thread(0, 501);
  run.stream(0, 8);
  run.call("cudaFuncSetAttribute", 0, 100, 1000, 1);
  run.launched(100, 105, 110, 120, 1, "late", 1);
  run.launched(0, 5, 10, 60, 0, "early");
  run.awaited("cudaStreamSynchronize", 6, 62);
  EXPECT_EQ(run.graph().wall_ns(), 120);
  EXPECT_EQ(run.waits.inferred, 1u);
  const uint32_t early = run.trace.operations[0].detail;
  std::vector<bool> subjects(early + 1);
  subjects[early] = true;
  EXPECT_EQ(run.known({{kKernels, kPartOwn, 0, 0, subjects, {}}}), 0);
  EXPECT_EQ(run.saved({{kKernels, kPartOwn, 0, 0, subjects, {}}}), 50) << "the call may have waited for the kernel";
  EXPECT_EQ(run.known({{kind_bit(NodeKind::OtherCall), kPartOwn, 0, 0, {}, {}}}), 120 - 62)
      << "then the other thread's synchronisation ends the run";
}

TEST(DependencyGraph, ABlockingCopyHoldsItsCaller) {
  SampleRun run;
  run.launched(0, 5, 10, 50);
  run.copied("cudaMemcpy", 6, 75, 52, 70, 0, 2 | 3 << 8 | 1 << 16);
  run.launched(80, 85, 90, 100);
  EXPECT_EQ(run.graph().wall_ns(), 100);
  EXPECT_EQ(run.saved_own(kCopies), 18);
  EXPECT_EQ(run.saved_own(kKernels), 50) << "40 and 10";
  // If the caller does not wait, it continues at 6, and the next kernel waits only for the copy's end at 70.
  EXPECT_EQ(run.saved({{kind_bit(NodeKind::MemoryCall), kPartOwn | kPartWait, 0, 0, {}, {}}}), 100 - 80);
}

TEST(DependencyGraph, KernelsThatOverlapInOneStreamKeepTheirDistance) {
  SampleRun run;
  run.launched(0, 2, 10, 50, 0, "first");
  run.launched(3, 5, 40, 60, 0, "early starter");
  run.launched(6, 8, 62, 70, 0, "third");
  EXPECT_EQ(run.graph().wall_ns(), 70);
  // first takes 0: the second starts with it at 10 and ends at 30, the third ends 2 later.
  const uint32_t first = run.trace.operations[0].detail;
  std::vector<bool> subjects(first + 1);
  subjects[first] = true;
  EXPECT_EQ(run.known({{kKernels, kPartOwn, 0, 0, subjects, {}}}), 30);
  EXPECT_EQ(run.saved({{kKernels, kPartOwn, 0, 0, subjects, {}}}), 40) << "the second may be faster without the first";
}

TEST(DependencyGraph, BranchesOfOneGraphLaunchWaitForWhatEndedBeforeThem) {
  SampleRun run;
  run.call("cudaGraphLaunch", 0, 5, 1);
  run.kernel(10, 20, 1, 0, "root");
  run.kernel(22, 80, 1, 0, "long branch");
  run.kernel(22, 40, 1, 0, "short branch");
  run.kernel(81, 90, 1, 0, "join");
  for (uint32_t i = 0; i < 4; ++i) run.trace.operations[i].graph_node = 1 + i;
  run.graph();
  const auto saved = [&](std::string_view name) {
    std::vector<bool> subjects;
    for (const GpuOperation& operation : run.trace.operations) {
      if (run.trace.text(run.trace.kernels[operation.detail].name) != name) continue;
      subjects.resize(operation.detail + 1);
      subjects[operation.detail] = true;
    }
    return run.known({{kKernels, kPartOwn, 0, 0, subjects, {}}});
  };
  EXPECT_EQ(saved("short branch"), 0);
  EXPECT_EQ(saved("long branch"), 40) << "then the short branch ends last, at 40";
  EXPECT_EQ(saved("root"), 10);
}

TEST(DependencyGraph, AFullQueueHoldsALaunchUntilAnOperationHasFinished) {
  SampleRun run;
  // 1,200 kernels of 1,000 ns, launched every 10 ns. If 1,000 are outstanding, the launch returns when the next kernel
  // ends.
  int64_t host = 0;
  for (int64_t i = 0; i < 1200; ++i) {
    const int64_t room = i < 1000 ? 0 : 20 + 1000 * (i - 999), end = std::max(host + 5, room);
    run.launched(host, end, 20 + 1000 * i, 20 + 1000 * (i + 1));
    host = end + 5;
  }
  run.awaited("cudaStreamSynchronize", host, 20 + 1000 * 1200 + 3);
  run.graph();
  EXPECT_EQ(run.waits.blocked_launches.size(), 190u) << "all from the one that would have been at 10,100";
  EXPECT_EQ(run.saved({{kLaunches, kPartWait, kNodeReturns, 0, {}, {}}}), 0) << "the GPU bounds the run";
  const int64_t without = run.without({{kKernels, kPartOwn, 0, 0, {}, {}}}).wall_ns;
  EXPECT_GT(without, 1200 * 5);
  EXPECT_LE(without, 1200 * 10 + 30) << "1,200 launches every 10 ns, held by nothing";
}

TEST(DependencyGraph, ABackwardThreadWaitsForTheForwardThreadAndTheOtherWayRound) {
  SampleRun run;
  run.thread(0, 501);
  const auto op = [&](std::string_view name, int64_t begin, int64_t end, uint32_t thread, int64_t sequence,
                      uint32_t forward) {
    run.range(name, begin, end, RangeKind::Operator, thread);
    if (run.trace.details.empty()) run.trace.details.push_back({});
    run.trace.ranges.back().payload = run.trace.details.size();
    OperatorDetail detail;
    detail.sequence = sequence, detail.forward_thread = forward;
    run.trace.details.push_back(detail);
  };
  op("aten::mm", 0, 30, 0, 1, 0);
  run.launched(10, 20, 25, 35);
  op("MmBackward0", 40, 70, 1, 1, 1);
  run.launched(50, 60, 65, 75, 0, "kernel", 1);
  op("aten::add_", 80, 100, 0, -1, 0);
  run.launched(85, 95, 100, 110);
  run.graph();
  ASSERT_EQ(run.waits.handoffs.size(), 2u);
  EXPECT_EQ(run.waits.handoffs[0].to_ns, 40);
  EXPECT_EQ(run.waits.handoffs[1].from_ns, 70);
  EXPECT_EQ(run.saved_own(kLaunches), 30) << "one after the other through both threads";
}

TEST(DependencyGraph, WhatTheTimesDenyIsDroppedAndCounted) {
  SampleRun run;
  run.launched(0, 5, 10, 50);
  run.awaited("cudaStreamSynchronize", 6, 30);  // returns before the kernel ends: a clock error
  run.sync(SyncKind::Stream, 6, 30, run.next_id, 0);
  run.launched(100, 110, 90, 95);  // starts before its launch
  run.graph();
  EXPECT_EQ(run.waits.contradicted, 1u);
  EXPECT_TRUE(run.waits.of_calls.empty());
}

TEST(DependencyGraph, AWindowCutsWhatCrossesItsEdges) {
  SampleRun run;
  run.launched(0, 5, 10, 50);
  run.launched(6, 8, 52, 90);
  run.awaited("cudaStreamSynchronize", 9, 95);
  run.graph(20, 80);
  EXPECT_EQ(run.made->wall_ns(), 60);
  EXPECT_EQ(run.saved_own(kKernels), 58) << "2 ns between the kernels stay";
}

TEST(DependencyGraph, NothingAtAllIsNoTime) {
  SampleRun run;
  EXPECT_EQ(run.graph().wall_ns(), 0);
  EXPECT_EQ(run.made->last(), kNone);
  EXPECT_TRUE(Replay(*run.made).critical_path().empty());
}

TEST(DependencyGraph, TimesOverASecondAndTimesOfNoMeaningAreKept) {
  SampleRun run;
  constexpr int64_t kHour = 3'600'000'000'000;
  run.launched(0, kHour, kHour + 5, 2 * kHour);
  run.awaited("cudaStreamSynchronize", kHour + 1, 2 * kHour + 9);
  EXPECT_EQ(run.graph(0, 3 * kHour).wall_ns(), 2 * kHour + 9);
  EXPECT_EQ(run.saved_own(kKernels), kHour - 5);
  SampleRun absurd;
  absurd.call("cudaLaunchKernel", 0, INT64_MAX, 1);
  absurd.kernel(INT64_MIN, INT64_MAX, 1);
  absurd.kernel(5, INT64_MIN, 2);
  absurd.finish();
  const Dependencies waits(absurd.trace);
  const DependencyGraph graph(absurd.trace, waits, INT64_MIN, INT64_MAX);
  EXPECT_EQ(Replay(graph).wall_ns(), graph.wall_ns());
}

}  // namespace
}  // namespace prof::analyzer
