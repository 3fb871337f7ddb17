// Queue length, launch delay and gaps of real traces equal answers that were computed independently.
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/idle/hta_queue_length.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/launch_stats.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/shared_traces.h"

#include <gtest/gtest.h>

#include <cmath>

namespace prof::analyzer {
namespace {

using tests::AnsweredTrace;

struct Loaded {
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Views> views;
  Selection selection;
  ReportOptions options;
  explicit Loaded(const AnsweredTrace& each)
      : trace(read_trace({each.trace.string()}, {})), views(std::make_unique<Views>(*trace)) {}
  AnalysisInput input() const { return {*trace, *views, selection, options}; }
};

std::vector<AnsweredTrace> traces_with_gpu_work() {
  std::vector<AnsweredTrace> traces = tests::answered_traces();
  std::erase_if(traces, [](const AnsweredTrace& each) { return each.answers["gpu_events"].GetInt64() == 0; });
  EXPECT_EQ(traces.size(), 10u);
  return traces;
}

TEST(SharedTraces, QueueLengthsAreExact) {
  PROF_NEEDS_SHARED_DATA();
  for (const AnsweredTrace& each : traces_with_gpu_work()) {
    SCOPED_TRACE(each.name);
    const Loaded loaded(each);
    std::vector<StreamId> all;
    size_t compared = 0;
    for (uint32_t s = 0; s < loaded.trace->streams.size(); ++s) {
      const Stream& stream = loaded.trace->streams[s];
      if (stream.operations.size() == 0) continue;
      all.push_back(StreamId{s});
      for (const auto& answer : each.answers["streams"].GetArray()) {
        if (std::stoul(answer["stream"].GetString()) != stream.number) continue;
        ++compared;
        EXPECT_EQ(stream.operations.size(), answer["n"].GetUint());
        const HtaQueueLength length(*loaded.trace, {StreamId{s}});
        if (!answer.HasMember("queue_max") || answer["queue_max"].IsNull()) {
          EXPECT_TRUE(length.steps.empty());
          continue;
        }
        EXPECT_EQ(length.most(), answer["queue_max"].GetInt64());
        EXPECT_EQ(length.least(), answer["queue_min"].GetInt64());
        EXPECT_EQ(length.last(), answer["queue_end"].GetInt64());
        EXPECT_NEAR(length.weighted_mean(), answer["queue_twavg"].GetDouble(), 0.00005000001);
      }
    }
    EXPECT_EQ(compared, all.size());
    EXPECT_EQ(HtaQueueLength(*loaded.trace, all).most(), each.answers["qdepth004_max"].GetInt64());
  }
}

TEST(SharedTraces, LaunchDelaysAreExact) {
  PROF_NEEDS_SHARED_DATA();
  for (const AnsweredTrace& each : traces_with_gpu_work()) {
    SCOPED_TRACE(each.name);
    const Loaded loaded(each);
    const EventNames names(*loaded.trace);
    for (const LaunchesBy by : {LaunchesBy::Kernel, LaunchesBy::Api}) {
      std::vector<int64_t> delays;
      uint64_t negative = 0;
      const AnalysisInput input = loaded.input();
      StackGroups stacks(input.views, 0);
      for (const LaunchGroup& group : launch_groups(input, names, by, stacks)) {
        delays.insert(delays.end(), group.delays_ns.begin(), group.delays_ns.end());
        negative += group.negative;
      }
      const Statistics all = statistics_of(delays);
      const auto& answer = each.answers["launch_delay_ns"];
      EXPECT_EQ(all.count, answer["n"].GetUint64());
      if (all.count == 0) continue;
      EXPECT_EQ(all.min, answer["min"].GetInt64());
      EXPECT_EQ(all.max, answer["max"].GetInt64());
      EXPECT_EQ(all.total, answer["sum"].GetInt64());
      EXPECT_DOUBLE_EQ(all.median, answer["median"].GetDouble());
      EXPECT_EQ(negative, answer["negative"].GetUint64());
    }
  }
}

TEST(SharedTraces, GapsAndTheirClassesAreExact) {
  PROF_NEEDS_SHARED_DATA();
  for (const AnsweredTrace& each : traces_with_gpu_work()) {
    SCOPED_TRACE(each.name);
    const Loaded loaded(each);
    Interval span{INT64_MAX, INT64_MIN};
    for (const GpuOperation& operation : loaded.trace->operations) {
      span.begin_ns = std::min(span.begin_ns, operation.start_ns);
      span.end_ns = std::max(span.end_ns, operation.end_ns);
    }
    EXPECT_EQ(span.length_ns(), each.answers["span_ns"].GetInt64());
    constexpr const char* kClasses[] = {"unlinked", "host_wait", "short", "other"};
    uint64_t n[4] = {};
    int64_t ns[4] = {}, total = 0, longest = 0;
    const std::vector<Gap> gaps = find_gaps(*loaded.trace, *loaded.views, loaded.selection, span);
    for (const Gap& gap : gaps) {
      const auto which = static_cast<size_t>(gap_class(*loaded.trace, gap));
      ++n[which], ns[which] += gap.duration_ns();
      total += gap.duration_ns(), longest = std::max(longest, gap.duration_ns());
      EXPECT_NE(gap.operation, kNone);
    }
    const auto& answer = each.answers["gaps"];
    EXPECT_EQ(gaps.size(), answer["n"].GetUint64());
    EXPECT_EQ(total, answer["total_ns"].GetInt64());
    EXPECT_EQ(total, each.answers["idle_ns"].GetInt64());
    EXPECT_EQ(longest, answer["max_ns"].GetInt64());
    for (size_t i = 0; i < 4; ++i) {
      const auto found = answer["by_class"].FindMember(kClasses[i]);
      const bool any = found != answer["by_class"].MemberEnd();
      EXPECT_EQ(n[i], any ? found->value["n"].GetUint64() : 0) << kClasses[i];
      EXPECT_EQ(ns[i], any ? found->value["ns"].GetInt64() : 0) << kClasses[i];
    }
  }
}

TEST(SharedTraces, ExposedCopiesAreExact) {
  PROF_NEEDS_SHARED_DATA();
  for (const AnsweredTrace& each : traces_with_gpu_work()) {
    SCOPED_TRACE(each.name);
    const Loaded loaded(each);
    const Table table = report_copies(loaded.input());
    int64_t exposed = 0;
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string cell = tests::cell_text(table, row, "exposed");
      exposed += cell.empty() ? 0 : std::stoll(cell);
    }
    EXPECT_EQ(exposed, each.answers["exposed_memcpy_ns"].GetInt64());
  }
}

}  // namespace
}  // namespace prof::analyzer
