// What delayed each event and how much slack it had, computed by hand; and the trace reports the same numbers for
// ranges as `ops`.
#include "analyzer/analysis/critical/event_bounds.h"
#include "analyzer/analysis/cost/op_averages.h"
#include "analyzer/analysis/critical/run_graph.h"
#include "analyzer/input/importer.h"
#include "analyzer/output/chrome/augment.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/json_events.h"
#include "tests/unit/analyzer/shared_traces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

std::string bound_text(const EventBound& bound) {
  static constexpr std::string_view kNames[] = {"nothing", "host",   "other thread", "GPU",        "queue full",
                                                "launch",  "stream", "other stream", "unexplained"};
  std::string text(kNames[static_cast<size_t>(bound.by)]);
  if (!bound.has_time) return text;
  return text + (bound.critical ? ", critical " : ", slack ") + std::to_string(bound.time_ns);
}

struct BoundRun : HandTrace {
  BoundRun() { trace.processes[0].format = "Kineto"; }
  void launched(int64_t begin, int64_t end, int64_t start, int64_t stop, uint32_t on_stream = 0) {
    launch(begin, end, ++next_id);
    kernel(start, stop, next_id, on_stream);
  }
  const EventBounds& bounds() {
    finish();
    made = std::make_unique<EventBounds>(trace);
    return *made;
  }
  std::string call_text(uint32_t row) const { return bound_text(made->of_call(row)); }
  std::string operation_text(uint32_t row) const { return bound_text(made->of_operation(row)); }
  uint32_t next_id = 0;
  std::unique_ptr<EventBounds> made;
};

// host    |launch 0-10|launch 10-14|                |sync 20 ........... 70|
// stream             |kernel 15-35|kernel 37-60|
TEST(EventBounds, AQueuedKernelIsBoundByItsStreamAndTheFirstByItsLaunch) {
  BoundRun run;
  run.launched(0, 10, 15, 35);
  run.launched(10, 14, 37, 60);
  run.call("cudaStreamSynchronize", 20, 70, 9);
  const EventBounds& bounds = run.bounds();
  EXPECT_EQ(run.call_text(0), "unexplained, critical 10") << "what the thread did before is not in the window";
  EXPECT_EQ(run.call_text(1), "host, slack 23") << "it ended at 14, its kernel started at 37";
  EXPECT_EQ(run.operation_text(0), "launch, critical 20");
  EXPECT_EQ(run.operation_text(1), "stream, critical 23");
  EXPECT_EQ(run.call_text(2), "GPU, critical 10") << "60 to 70";
  ASSERT_EQ(bounds.path_links().size(), 2u) << "launch to stream, stream to host";
  EXPECT_EQ(bounds.path_links()[0].from.row, 0u);
  EXPECT_TRUE(bounds.path_links()[0].from.is_call);
  EXPECT_EQ(bounds.path_links()[0].to.row, 0u);
  EXPECT_FALSE(bounds.path_links()[0].to.is_call);
  EXPECT_EQ(bounds.path_links()[1].from.row, 1u);
  EXPECT_EQ(bounds.path_links()[1].to.row, 2u);
  ASSERT_EQ(bounds.dependencies().size(), 1u) << "the call waited for the second kernel";
  EXPECT_EQ(bounds.dependencies()[0].from.row, 1u);
  EXPECT_TRUE(bounds.dependencies()[0].to.is_call);
  EXPECT_EQ(bounds.critical_ns(ThreadId{0}, 5, 65), 10) << "5 of the launch, 5 behind the wait";
}

// Two streams: the second kernel waits for the first through an event, the third waits for nothing.
TEST(EventBounds, AnEventOfAnotherStreamBindsAndIsADependency) {
  BoundRun run;
  run.stream(0, 8);
  run.stream(0, 9);
  run.launched(0, 5, 10, 50);
  run.call("cudaEventRecord", 6, 7, 77);
  run.call("cudaStreamWaitEvent", 8, 9, 78);
  run.sync(SyncKind::StreamWaitEvent, 8, 9, 78, 1, 0);
  run.trace.syncs.back().record_correlation = 77;
  run.launched(10, 12, 55, 75, 1);
  run.launched(13, 14, 20, 30, 2);
  run.call("cudaDeviceSynchronize", 15, 80, 79);
  const EventBounds& bounds = run.bounds();
  EXPECT_EQ(run.operation_text(0), "launch, critical 40");
  EXPECT_EQ(run.operation_text(1), "other stream, critical 20");
  EXPECT_EQ(run.operation_text(2), "launch, slack 45") << "until 75, when the other work had ended";
  std::vector<std::string> links;
  for (const EventLink& link : bounds.dependencies())
    links.push_back(std::to_string(link.from.row) + (link.to.is_call ? " call " : " operation ") +
                    std::to_string(link.to.row));
  std::sort(links.begin(), links.end());
  EXPECT_EQ(links, (std::vector<std::string>{"0 call 5", "0 operation 1", "1 call 5", "2 call 5"}));
}

TEST(EventBounds, AHostBoundLoopHasRoomOnTheGpuAndNoneOnTheHost) {
  BoundRun run;
  for (int i = 0; i < 5; ++i) run.launched(i * 100, i * 100 + 10, i * 100 + 15, i * 100 + 25);
  run.bounds();
  for (uint32_t i = 1; i < 4; ++i) {
    EXPECT_EQ(run.call_text(i), "host, critical 10");
    EXPECT_EQ(run.operation_text(i), "launch, slack " + std::to_string(90 * (4 - i)))
        << "it may end when the next one must start, which takes 10 itself";
  }
  EXPECT_EQ(run.operation_text(4), "launch, critical 10");
}

TEST(EventBounds, ACallInsideAnotherIsBoundAsThatOneIs) {
  BoundRun run;
  run.launched(0, 5, 10, 50);
  run.call("cudaDeviceSynchronize", 6, 60, 50);
  run.call("cuCtxSynchronize", 8, 59, 51);
  run.bounds();
  EXPECT_EQ(run.call_text(1), "GPU, critical 10");
  EXPECT_EQ(run.call_text(2), "GPU") << "its time is that of the call around it";
}

TEST(EventBounds, WithoutGpuWorkNothingIsBound) {
  BoundRun run;
  run.call("cudaMalloc", 0, 10, 1);
  const EventBounds& bounds = run.bounds();
  EXPECT_EQ(bounds.of_call(0).by, BoundBy::Nothing);
  EXPECT_EQ(bounds.critical_ns(ThreadId{0}, 0, 10), 0);
  EXPECT_TRUE(bounds.path_links().empty());
}

// The time on the critical path, summed by event, equals the report's sums.
void expect_the_path_of_the_report(const Trace& trace, const std::string& what) {
  const EventBounds bounds(trace);
  const Interval span = launched_span(trace);
  const Dependencies dependencies(trace);
  const DependencyGraph graph(trace, dependencies, span.begin_ns, span.end_ns);
  int64_t operations = 0, calls = 0;
  for (const PathStep& step : Replay(graph).critical_path()) {
    const Node& node = graph.nodes()[step.node];
    if ((kind_bit(node.kind()) & kOperationNodes) != 0) operations += step.end_ns - step.start_ns;
    if ((kind_bit(node.kind()) & kCallNodes) != 0) calls += step.end_ns - step.start_ns;
  }
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    const EventBound bound = bounds.of_operation(row);
    if (bound.critical) operations -= bound.time_ns;
    EXPECT_NE(bound.by, BoundBy::Nothing) << what << " operation " << row;
    EXPECT_GE(bound.time_ns, 0);
  }
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const EventBound bound = bounds.of_call(row);
    if (bound.critical) calls -= bound.time_ns;
    EXPECT_GE(bound.time_ns, 0);
  }
  EXPECT_EQ(operations, 0) << what;
  EXPECT_EQ(calls, 0) << what;
  const Column<int64_t> slacks = Replay(graph).slacks();
  for (const PathStep& step : Replay(graph).critical_path()) EXPECT_EQ(slacks[step.node], 0) << what;
}

// The number after the key, "12.345", in ns; 0 if the members do not contain the key.
int64_t member_ns(std::string_view members, const std::string& key) {
  const size_t at = members.find("\"" + key + "\":");
  return at == std::string_view::npos
             ? 0
             : std::llround(std::strtod(std::string(members.substr(at + key.size() + 3)).c_str(), nullptr) * 1000);
}

// The sums of the trace's members by name equal the rows of ops.
void expect_what_ops_says(const Trace& trace, const std::string& what) {
  const Views views(trace);
  const Selection everything;
  const ReportOptions options;
  const AnalysisInput input{trace, views, everything, options};
  tests::JsonEvents json;
  Augment augment(trace, views, json.list);
  struct Times {
    int64_t self_ns = 0, device_ns = 0;
    bool calls = false;
  };
  std::map<std::string, Times> sums;
  EventMembers members(json.list);
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    if (range.style != RangeStyle::PushPop || range.kind == RangeKind::Python) continue;
    members.clear();
    augment.range(row, members);
    Times& times = sums[std::string(views.event_names().text(views.event_names().of(range)))];
    times.self_ns += member_ns(members.text(), "self time (us)");
    times.device_ns += member_ns(members.text(), "device time (us)");
  }
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& call = trace.host[row];
    members.clear();
    augment.host(row, members);
    const bool has_calls_inside = members.text().find("self time") != std::string::npos;
    Times& times = sums[std::string(views.event_names().text(views.event_names().of(call)))];
    times.self_ns += has_calls_inside ? member_ns(members.text(), "self time (us)") : call.duration_ns();
    times.calls = true;
  }
  size_t compared = 0;
  for (const OpAverage& row : op_averages(input, OpGrouping()).rows) {
    if (row.on_device || row.is_async || row.name == "[memory]") continue;
    const auto found = sums.find(row.name);
    ASSERT_NE(found, sums.end()) << what << ": " << row.name;
    EXPECT_EQ(found->second.self_ns, row.self_cpu_ns) << what << ": " << row.name;
    if (!found->second.calls) {
      EXPECT_EQ(found->second.device_ns, row.device_ns) << what << ": " << row.name;
    }
    ++compared;
  }
  EXPECT_GT(compared, 0u) << what;
}

TEST(EventBounds, RangesSayWhatOpsSays) {
  HandTrace run;
  run.range("main.py(1): run", 0, 1'000'000, RangeKind::Python);
  run.range("ProfilerStep#1", 1'000, 900'000, RangeKind::Annotation);
  run.range("aten::layer_norm", 2'000, 90'000);
  run.range("aten::layer_norm", 3'000, 80'000);  // an only child of the same name
  run.launch(10'000, 20'000, 1);
  run.kernel(25'000, 65'000, 1);
  run.range("aten::is_leaf", 100'000, 110'000);  // not shown by ops
  run.range("aten::add", 120'000, 200'000);
  run.call("cudaLaunchKernel", 130'000, 150'000, 2);
  run.call("cuLaunchKernel", 132'000, 149'000, 3);
  run.kernel(160'000, 170'000, 2);
  run.range("Buffer Flush", 190'000, 195'000, RangeKind::Overhead);
  run.finish();
  expect_what_ops_says(run.trace, "by hand");
  expect_the_path_of_the_report(run.trace, "by hand");
  // The Python function's own time: 1,000,000 minus the step. The step's own time: 899,000 minus 88,000 (layer_norm)
  // and 80,000 (add); is_leaf is no child.
  const Views views(run.trace);
  tests::JsonEvents json;
  Augment augment(run.trace, views, json.list);
  std::map<std::string, std::string> texts;
  for (uint32_t row = 0; row < run.trace.ranges.size(); ++row) {
    EventMembers members(json.list);
    augment.range(row, members);
    texts[std::string(run.trace.range_name(run.trace.ranges[row]))] += std::string(members.text()) + "|";
  }
  EXPECT_EQ(member_ns(texts["main.py(1): run"], "self time (us)"), 101'000);
  EXPECT_EQ(member_ns(texts["main.py(1): run"], "device time (us)"), 50'000);
  EXPECT_EQ(member_ns(texts["ProfilerStep#1"], "self time (us)"), 731'000);
  EXPECT_EQ(texts["aten::is_leaf"].find("self time"), std::string::npos);
  EXPECT_EQ(member_ns(texts["aten::layer_norm"], "self time (us)"), 78'000) << "of both, less the launch";
}

TEST(EventBounds, RecordedTracesSayWhatTheReportsSay) {
  PROF_NEEDS_SHARED_DATA();
  for (const std::filesystem::path& path : tests::recorded_traces()) {
    const auto trace = read_trace(std::vector<std::string>{path});
    if (!trace->ranges.empty() || !trace->host.empty()) expect_what_ops_says(*trace, path);
    if (!trace->operations.empty()) expect_the_path_of_the_report(*trace, path);
  }
}

}  // namespace
}  // namespace prof::analyzer
