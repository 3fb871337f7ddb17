// Twice the input takes twice the time. What is computed from the dependency graph, from ranges and from names grows as
// n log n for the inputs on which a careless pass is quadratic: deep nesting, long queues, many streams, threads and
// windows, equal names.
#include "analyzer/analysis/range_projection.h"
#include "analyzer/dependencies/replay.h"
#include "analyzer/model/forward_backward.h"
#include "analyzer/reports/reports.h"
#include "tests/unit/analyzer/analysis/scaling.h"

#include <algorithm>
#include <string>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

// One range around steps of four nested ranges. The first stream runs everything after the last launch, the second one
// immediately, so the GPU spans of all steps overlap.
void long_queue(HandTrace& hand, uint32_t count) {
  const uint32_t second = hand.stream(0, 8);
  const int64_t all = 1000 * int64_t{count};
  hand.range("run", 0, all, RangeKind::Nvtx);
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t begin = 1000 * int64_t{i};
    for (int64_t level = 1; level <= 4; ++level) {
      hand.range("step", begin + 10 * level, begin + 900 - 10 * level, RangeKind::Nvtx);
      hand.launch(begin + 100 * level, begin + 100 * level + 50, 4 * i + static_cast<uint32_t>(level));
      const bool late = level % 2 == 0;
      const int64_t start = late ? all + 200 * (2 * i + level / 2) : begin + 100 * level + 60;
      hand.kernel(start, start + (late ? 150 : 100), 4 * i + static_cast<uint32_t>(level), late ? 0 : second);
    }
  }
}

// Ranges that are all nested in each other, with a launch in each.
void deep_nesting(HandTrace& hand, uint32_t count) {
  const int64_t n = count;
  for (int64_t i = 0; i < n; ++i) {
    hand.range("deep", 10 * i, 100 * n - 10 * i, RangeKind::Nvtx);
    hand.launch(10 * i + 2, 10 * i + 8, static_cast<uint32_t>(i + 1));
    hand.kernel(10 * i + 5, 10 * i + 5 + 20 * (i % 3), static_cast<uint32_t>(i + 1));
  }
}

// Ranges that cross their neighbours, as ranges of several domains may do.
void crossing(HandTrace& hand, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    hand.range("cross", 10 * int64_t{i}, 10 * int64_t{i} + 105, RangeKind::Nvtx);
    hand.launch(10 * int64_t{i} + 1, 10 * int64_t{i} + 6, i + 1);
    hand.kernel(10 * int64_t{i} + 50, 10 * int64_t{i} + 58, i + 1);
  }
}

TEST(Scaling, ProjectionsOfRangesGrowWithTheInput) {
  for (const auto fill : {long_queue, deep_nesting, crossing}) {
    EXPECT_LE(tests::growth(8000, fill, [](const AnalysisInput& input) { ASSERT_GE(report_nvtx(input).rows(), 1u); }),
              tests::kMostGrowth);
  }
}

// Forward operators with increasing sequence numbers, in nests of four with the same number; backward operators in the
// opposite order. Every tenth number is the number of all such operators.
void forward_and_backward(HandTrace& hand, uint32_t count) {
  hand.thread(0, 501);
  hand.trace.details.push_back({});
  const auto op = [&](int64_t begin, int64_t end, int64_t sequence, uint32_t thread) {
    OperatorDetail detail;
    detail.sequence = sequence, detail.forward_thread = thread;
    hand.range(thread == 0 ? "aten::mm" : "MmBackward0", begin, end, RangeKind::Operator, thread);
    hand.trace.ranges.back().payload = hand.trace.details.size();
    hand.trace.details.push_back(detail);
  };
  const int64_t n = count;
  const auto number = [](int64_t i) { return i % 10 == 0 ? 7 : i; };
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t level = 0; level < 4; ++level) op(100 * i + level, 100 * i + 90 - level, number(i), 0);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t level = 0; level < 2; ++level)
      op(100 * (n + i) + level, 100 * (n + i) + 90 - level, number(n - 1 - i), 1);
  }
}

TEST(Scaling, LinksOfBackwardOperatorsGrowWithTheInput) {
  EXPECT_LE(tests::growth(8000, forward_and_backward,
                          [](const AnalysisInput& input) {
                            const ForwardBackward links(input.trace);
                            ASSERT_GE(links.links().size(), 8000u);
                          }),
            tests::kMostGrowth);
}

// Kernels of fifty names in an order that repeats only partly.
void many_names(HandTrace& hand, uint32_t count) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("kernel_" + std::to_string(i));
  uint32_t state = 1;
  for (uint32_t i = 0; i < count; ++i) {
    state = state * 1'664'525 + 1'013'904'223;
    hand.launch(100 * int64_t{i}, 100 * int64_t{i} + 50, i + 1);
    hand.kernel(100 * int64_t{i} + 60, 100 * int64_t{i} + 120, i + 1, 0, names[i % 7 == 0 ? state >> 24 & 31 : i % 50]);
  }
}

TEST(Scaling, SequencesAndKernelsGrowWithTheInput) {
  EXPECT_LE(tests::growth(20'000, many_names,
                          [](const AnalysisInput& input) { ASSERT_GE(report_sequences(input).rows(), 1u); }),
            tests::kMostGrowth);
  EXPECT_LE(tests::growth(20'000, many_names,
                          [](const AnalysisInput& input) { ASSERT_EQ(report_kernels(input).rows(), 50u); }),
            tests::kMostGrowth);
}

// Four threads launch into four streams and wait; sometimes a stream waits for another one.
void waits(HandTrace& hand, uint32_t count) {
  for (uint32_t i = 1; i < 4; ++i) hand.stream(0, 7 + i), hand.thread(0, 500 + i);
  hand.trace.processes[0].format = "Kineto";
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t t = 100 * int64_t{i};
    const uint32_t id = 4 * i + 1, thread = i % 4;
    hand.launch(t, t + 20, id, thread);
    hand.kernel(t + 30, t + 90, id, thread);
    if (i % 16 == 7) hand.call("cudaDeviceSynchronize", t + 21, t + 95, id + 1, thread);
    if (i % 16 != 11) continue;
    hand.call("cudaStreamWaitEvent", t + 21, t + 25, id + 2, thread);
    hand.sync(SyncKind::StreamWaitEvent, t + 21, t + 25, id + 2, thread, (thread + 1) % 4);
    hand.trace.syncs.back().record_correlation = id;
  }
}

// A stream and a thread for every eighth launch.
void many_streams(HandTrace& hand, uint32_t count) {
  uint32_t stream = 0, thread = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i % 8 == 0) stream = hand.stream(0, 100 + i), thread = hand.thread(0, 1000 + i);
    const int64_t t = 100 * int64_t{i};
    hand.launch(t, t + 20, 2 * i + 1, thread);
    hand.kernel(t + 30, t + 900, 2 * i + 1, stream);
    if (i % 8 == 7) hand.call("cudaDeviceSynchronize", t + 21, t + 950, 2 * i + 2, thread);
  }
}

TEST(Scaling, TheDependencyGraphGrowsWithTheInput) {
  for (const auto fill : {waits, many_streams}) {
    EXPECT_LE(tests::growth(16'000, fill,
                            [](const AnalysisInput& input) {
                              const DependencyGraph graph(input.trace, input.views.dependencies(), 0, INT64_MAX);
                              ASSERT_EQ(Replay(graph).wall_ns(), graph.wall_ns());
                            }),
              tests::kMostGrowth);
  }
}

TEST(Scaling, CriticalPathAndWhatIfGrowWithTheInput) {
  for (const auto report : {report_critical_path, report_what_if}) {
    EXPECT_LE(tests::growth(16'000, waits, [&](const AnalysisInput& input) { ASSERT_GE(report(input).rows(), 3u); }),
              tests::kMostGrowth);
  }
}

// A window for each step, with a hundred ranges and ten launches in it.
void many_windows(HandTrace& hand, uint32_t count) {
  hand.options.window = "step";
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t t = 10'000 * int64_t{i};
    hand.range("ProfilerStep#" + std::to_string(i), t, t + 9999, RangeKind::Annotation);
    for (uint32_t k = 0; k < 100; ++k) hand.range("op", t + 50 + 90 * k, t + 100 + 90 * k);
    for (uint32_t k = 0; k < 10; ++k) {
      hand.launch(t + 900 * k, t + 900 * k + 50, 10 * i + k + 1);
      hand.kernel(t + 900 * k + 60, t + 900 * k + 160, 10 * i + k + 1);
    }
  }
}

TEST(Scaling, AWindowCostsWhatIsInIt) {
  EXPECT_LE(tests::growth(400, many_windows,
                          [](const AnalysisInput& input) { ASSERT_GE(report_critical_path(input).rows(), 400u); }),
            tests::kMostGrowth);
}

// One success in five attempts is enough: if the machine slows down while the smaller input runs, the growth is not
// visible.
TEST(Scaling, WhatIsQuadraticIsSeen) {
  uint64_t equal = 0;
  const auto quadratic = [&](const AnalysisInput& input) {
    for (const HostEvent& a : input.trace.host) {
      for (const HostEvent& b : input.trace.host) equal += a.begin_ns == b.begin_ns ? 1 : 0;
    }
  };
  double most = 0;
  for (int attempt = 0; attempt < 5 && most <= tests::kMostGrowth; ++attempt)
    most = std::max(most, tests::growth(2000, many_names, quadratic));
  EXPECT_GT(most, tests::kMostGrowth);
  EXPECT_GT(equal, 0u);
}

}  // namespace
}  // namespace prof::analyzer
