// A replay of the unchanged graph is the measured run; what a change saves is worked out by hand.
#include "analyzer/model/replay.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/scaling.h"

#include <gtest/gtest.h>

#include <random>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

constexpr uint32_t kKernels = kind_bit(NodeKind::Kernel), kCopies = kind_bit(NodeKind::Copy);
constexpr uint32_t kLaunches = kind_bit(NodeKind::KernelCall), kSyncs = kind_bit(NodeKind::SynchronizationCall);

// A trace of another tool, unless a test says otherwise.
struct SampleRun : HandTrace {
  SampleRun() { trace.processes[0].format = "Kineto"; }

  // A kernel and the call that launched it, joined by the next free id.
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

  // Builds the graph of [0, end of the run) and checks that it replays to what was measured.
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
    // Without the first kernel (10 to 50) the second starts 5 ns behind its event, which is then at 10.
    const auto first = run.trace.operations[0].detail;
    std::vector<bool> subjects(first + 1);
    subjects[first] = true;
    EXPECT_EQ(run.saved({{kKernels, kPartOwn, 0, 0, subjects, {}}}), with_event ? 40 : 0);
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
  EXPECT_EQ(run.saved_own(kKernels), 80 - 20) << "the first is over at 10, the second waits 5 behind it and for its "
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
    // Blocking: 5 latency, 3 and 4 behind each other; else both kernels keep their latencies of 45 and the 24 in stream 13.
    EXPECT_EQ(run.saved_own(kKernels), 90 - (flags == 0 ? 17 : 53));
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
  EXPECT_EQ(run.saved_own(kKernels), 1) << "the last one";
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
  EXPECT_EQ(run.saved({{kKernels, kPartOwn, 0, 0, subjects, {}}}), 0);
  EXPECT_EQ(run.saved({{kind_bit(NodeKind::OtherCall), kPartOwn, 0, 0, {}, {}}}), 120 - 62)
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
  // Not waited for: the caller goes on at 6, the next kernel waits for nothing but the copy's end at 70.
  EXPECT_EQ(run.saved({{kind_bit(NodeKind::MemoryCall), kPartOwn | kPartWait, 0, 0, {}, {}}}), 100 - 80);
}

TEST(DependencyGraph, KernelsThatOverlapInOneStreamKeepTheirDistance) {
  SampleRun run;
  run.launched(0, 2, 10, 50, 0, "first");
  run.launched(3, 5, 40, 60, 0, "early starter");
  run.launched(6, 8, 62, 70, 0, "third");
  EXPECT_EQ(run.graph().wall_ns(), 70);
  // first takes 0: the second starts with it at 10 and ends at 30, the third 2 later.
  const uint32_t first = run.trace.operations[0].detail;
  std::vector<bool> subjects(first + 1);
  subjects[first] = true;
  EXPECT_EQ(run.saved({{kKernels, kPartOwn, 0, 0, subjects, {}}}), 30);
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
    return run.saved({{kKernels, kPartOwn, 0, 0, subjects, {}}});
  };
  EXPECT_EQ(saved("short branch"), 0);
  EXPECT_EQ(saved("long branch"), 40) << "then the short branch ends last, at 40";
  EXPECT_EQ(saved("root"), 10);
}

TEST(DependencyGraph, AFullQueueHoldsALaunchUntilAnOperationHasFinished) {
  SampleRun run;
  // 1,200 kernels of 1,000 ns, launched every 10 ns. Where 1,000 are outstanding the launch returns with the next end.
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

// Anything: overlapping, nested, reversed, unlinked, shared ids, waits for what is not there.
void add_junk(SampleRun& run, std::mt19937& random, uint32_t events) {
  const auto number = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  for (int i = 0; i < 2; ++i)
    run.thread(0, 501 + static_cast<uint32_t>(i)), run.stream(0, 8 + static_cast<uint32_t>(i));
  static constexpr const char* kApis[] = {"cudaLaunchKernel",      "cudaMemcpyAsync",     "cudaMemcpy",
                                          "cudaStreamSynchronize", "cudaStreamWaitEvent", "cudaEventRecord",
                                          "cudaDeviceSynchronize", "cudaMalloc",          "cudaEventSynchronize"};
  run.calls_nest = false;
  run.trace.processes[0].format = number(2) == 0 ? "prof log" : "Kineto";
  run.call("cudaMalloc", 0, 1);
  for (uint32_t i = 0; i < events; ++i) {
    const int64_t begin = number(1000), end = begin + number(60) - (number(20) == 0 ? 30 : 0);
    switch (number(4)) {
      case 0:
      case 1: run.call(kApis[number(9)], begin, end, number(events), number(3), number(4)); break;
      case 2: run.kernel(begin, end, number(events), number(3), number(2) == 0 ? "a" : "b"); break;
      default: run.copy(begin, end, number(events), 64, number(2) == 0 ? 1 | 1 << 8 : 2 | 3 << 8, number(3)); break;
    }
    if (number(8) == 0) {
      run.sync(static_cast<SyncKind>(number(5)), begin, end, number(events), number(3), number(3));
      run.trace.syncs.back().record_correlation = number(events);
    }
  }
}

TEST(DependencyGraph, AnyRunReplaysExactlyAndEveryChangeIsBounded) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SampleRun run;
    add_junk(run, random, 5 + seed % 120);
    if (seed % 3 == 0) {
      run.graph(100, 700);
    } else {
      run.graph();
    }
    if (::testing::Test::HasFatalFailure()) return;
    const Scenario kernels{{kKernels, kPartOwn, 0, 0, {}, {}}}, launches{{kLaunches, kPartOwn, 0, 0, {}, {}}};
    const Scenario syncs{{kSyncs, kPartOwn | kPartWait, 0, 0, {}, {}}};
    Scenario both = kernels;
    both.push_back(launches[0]);
    Scenario all = both;
    all.push_back(syncs[0]);
    const std::vector<Outcome> outcomes = Replay(*run.made).walls_without({kernels, launches, syncs, both, all, {}});
    for (const Outcome& outcome : outcomes) {
      EXPECT_LE(outcome.wall_ns, run.made->wall_ns());
      EXPECT_LE(run.made->wall_ns() - outcome.wall_ns, outcome.own_ns) << "no more than the time that was taken out";
    }
    EXPECT_LE(outcomes[3].wall_ns, std::min(outcomes[0].wall_ns, outcomes[1].wall_ns)) << "more taken out, no longer";
    EXPECT_LE(outcomes[4].wall_ns, std::min(outcomes[3].wall_ns, outcomes[2].wall_ns));
    EXPECT_EQ(outcomes[5].wall_ns, run.made->wall_ns());
    // An item without waits saves no more than what it takes of the longest path.
    int64_t on_path = 0;
    for (const PathStep& step : Replay(*run.made).critical_path()) {
      if (run.made->nodes()[step.node].kind() == NodeKind::Kernel)
        on_path += run.made->time(run.made->nodes()[step.node].own);
    }
    EXPECT_LE(run.made->wall_ns() - outcomes[0].wall_ns, on_path);
  }
}

TEST(DependencyGraph, BatchesGiveWhatSingleReplaysGive) {
  std::mt19937 random(7);
  SampleRun run;
  add_junk(run, random, 400);
  run.graph();
  std::vector<Scenario> scenarios;
  for (uint32_t kind = 0; kind < kNodeKinds; ++kind) {
    for (const uint32_t part : {kPartOwn, kPartBefore, kPartOther, kPartWait})
      scenarios.push_back({{1u << kind, part, 0, 0, {}, {}}});
  }
  const std::vector<Outcome> together = Replay(*run.made).walls_without(scenarios);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    const Outcome alone = Replay(*run.made).wall_without(scenarios[i]);
    EXPECT_EQ(together[i].wall_ns, alone.wall_ns) << i;
    EXPECT_EQ(together[i].own_ns, alone.own_ns) << i;
    EXPECT_EQ(together[i].count, alone.count) << i;
  }
}

TEST(DependencyGraph, VectorsOfEveryWidthGiveTheSameAnswers) {
  std::mt19937 random(8);
  SampleRun run;
  add_junk(run, random, 400);
  run.graph();
  const auto third = [](uint32_t row) { return row % 3 == 0; };
  const auto half = [](uint32_t, int64_t time_ns) { return time_ns / 2; };
  std::vector<Scenario> scenarios;
  for (const uint32_t part : {kPartOwn, kPartBefore, kPartOther, kPartWait}) {
    scenarios.push_back({{kCallNodes | kOperationNodes, part, 0, 0, {}, {}}});
    scenarios.push_back({{kCallNodes | kOperationNodes, part, 0, 0, {}, third}});
  }
  scenarios.push_back({{kOperationNodes, kPartOwn, 0, 0, {}, third, half}});
  const std::vector<Outcome> expected = Replay(*run.made, {}, Vectors::Baseline).walls_without(scenarios);
  EXPECT_GT(expected.back().own_ns, 0);
  for (const Vectors vectors : {Vectors::Avx2, Vectors::Avx512}) {
    if (vectors > widest_vectors()) continue;
    const std::vector<Outcome> outcomes = Replay(*run.made, {}, vectors).walls_without(scenarios);
    for (size_t i = 0; i < scenarios.size(); ++i) {
      EXPECT_EQ(outcomes[i].wall_ns, expected[i].wall_ns) << i;
      EXPECT_EQ(outcomes[i].own_ns, expected[i].own_ns) << i;
      EXPECT_EQ(outcomes[i].count, expected[i].count) << i;
    }
  }
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

int64_t cpu_ns_for(uint32_t launches) {
  SampleRun run;
  for (uint32_t i = 0; i < 3; ++i) run.stream(0, 8 + i);
  for (uint32_t i = 0; i < launches; ++i) {
    const int64_t t = 100 * static_cast<int64_t>(i);
    run.launched(t, t + 20, t + 30, t + 90, i % 4);
    if (i % 16 == 0) run.awaited("cudaDeviceSynchronize", t + 21, t + 95);
  }
  run.finish();
  int64_t best = INT64_MAX;
  for (int repeat = 0; repeat < 3; ++repeat) {  // the least of three: other programs run, too
    const int64_t before = tests::process_cpu_ns();
    const Dependencies waits(run.trace);
    const DependencyGraph graph(run.trace, waits, 0, INT64_MAX);
    EXPECT_EQ(Replay(graph).wall_ns(), graph.wall_ns());
    best = std::min(best, tests::process_cpu_ns() - before);
  }
  return best;
}

TEST(DependencyGraph, FourTimesTheRunTakesAboutFourTimesTheTime) {
  const int64_t quarter = cpu_ns_for(50'000), whole = cpu_ns_for(200'000);
  EXPECT_LT(whole, 10 * quarter + 50'000'000);
}

}  // namespace
}  // namespace prof::analyzer
