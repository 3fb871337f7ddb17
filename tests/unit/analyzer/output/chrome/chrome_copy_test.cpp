// Chrome traces written again: recorded traces come out byte for byte where nothing is added, are the same trace to
// every reader where it is, and are written from the model with Kineto's kinds where they are not copied.
#include "analyzer/input/importer.h"
#include "analyzer/output/chrome/augment.h"
#include "analyzer/output/chrome/chrome_trace.h"
#include "analyzer/reports/nvprof_summary.h"
#include "analyzer/reports/reports.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/json_events.h"
#include "tests/unit/analyzer/shared_traces.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace prof::analyzer {
namespace {

namespace fs = std::filesystem;

// The file's content, decompressed.
std::string text_of(const fs::path& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  char buffer[65536];
  for (int got; (got = gzread(file, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  gzclose(file);
  return text;
}

size_t kernels_with_details(const Trace& trace) {
  return static_cast<size_t>(std::count_if(
      trace.operations.begin(), trace.operations.end(),
      [](const GpuOperation& operation) { return operation.kind() == GpuKind::Kernel && operation.bytes != 0; }));
}

class ChromeCopyTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  ChromeTraceResult write(const Trace& trace, const fs::path& to, const std::vector<std::string>& inputs, bool plain) {
    const Views views(trace);
    ChromeTraceOptions options;
    options.plain = plain;
    options.name = to;
    options.inputs = inputs;
    Sink sink(to);
    const ChromeTraceResult result = write_chrome_trace(trace, views, options, sink);
    sink.close();
    return result;
  }
  std::string csv(const Table& table) {
    const fs::path path = folder_ / "table.csv";
    Sink sink(path);
    write_table(table, TableFormat::Csv, TimeUnit::Auto, sink);
    sink.close();
    return text_of(path);
  }
  std::string answers(const Trace& trace) {
    const Views views(trace);
    const AnalysisInput input{trace, views, selection_, options_};
    return csv(report_gpu_trace(input)) + csv(report_api_trace(input)) + csv(report_nvtx_trace(input)) +
           csv(report_queue_depth(input)) + csv(summary_table(trace, views.names(), SummaryOptions()));
  }

  fs::path folder_ = fs::temp_directory_path() / ("chrome_copy." + std::to_string(getpid()));
  Selection selection_;
  ReportOptions options_;
};

class RecordedCopyTest : public ChromeCopyTest {
 protected:
  void SetUp() override {
    ChromeCopyTest::SetUp();
    if (tests::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces at " << tests::shared_data();
  }
};

TEST_F(RecordedCopyTest, IsTheFileByteForByteWhereNothingIsAdded) {
  for (const fs::path& path : tests::recorded_traces()) {
    const auto trace = read_trace(std::vector<std::string>{path});
    const ChromeTraceResult result = write(*trace, folder_ / "plain.json", {path}, true);
    EXPECT_TRUE(text_of(folder_ / "plain.json") == text_of(path)) << path;
    EXPECT_EQ(result.copied.repaired + result.copied.damaged + result.copied.augmented, 0u) << path;
    EXPECT_EQ(result.copied.events, result.events);
  }
}

TEST_F(RecordedCopyTest, IsTheSameTraceToOurselvesWithEveryEventFoundInTheModel) {
  for (const fs::path& path : tests::recorded_traces()) {
    const auto trace = read_trace(std::vector<std::string>{path});
    const fs::path copy = folder_ / "more.json";
    const ChromeTraceResult result = write(*trace, copy, {path}, false);
    EXPECT_EQ(result.copied.unmatched, 0u) << path;
    EXPECT_GT(result.copied.augmented, 0u) << path;
    const auto again = read_trace(std::vector<std::string>{copy});
    EXPECT_EQ(answers(*again), answers(*trace)) << path;
    // The copy adds the computed cost to kernels; these are details too.
    EXPECT_EQ(again->details.size() - kernels_with_details(*again),
              trace->details.size() - kernels_with_details(*trace));
    EXPECT_EQ(again->memory.size(), trace->memory.size());
  }
}

// A strict checker of PyTorch's traces reports the same for both, except for the number of events.
TEST_F(RecordedCopyTest, HasNoProblemThatTheFileDoesNotHave) {
  const auto problems = [&](const fs::path& path) {
    const std::string command =
        std::string("python3 ") + PROF_SOURCE_DIR + "/tests/golden/validate_trace.py " + path.string();
    std::string text;
    FILE* const pipe = popen(command.c_str(), "r");
    char buffer[4096];
    while (const size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
    pclose(pipe);
    return text.substr(0, text.rfind('\n', text.size() - 2) + 1);
  };
  size_t compared = 0;
  for (const fs::path& path : tests::recorded_traces()) {
    if (path.filename().string().find("gpt2.plain") == std::string::npos && path.parent_path().filename() != "hta")
      continue;
    // An excerpt without names for its processes; the counters that prof adds belong to one of these.
    if (path.filename().string().starts_with("call_stack")) continue;
    const auto trace = read_trace(std::vector<std::string>{path});
    write(*trace, folder_ / "more.json", {path}, false);
    std::ofstream(folder_ / "original.json", std::ios::binary) << text_of(path);
    const std::string expected = problems(folder_ / "original.json");
    EXPECT_EQ(problems(folder_ / "more.json"), expected) << path;
    ++compared;
  }
  EXPECT_GT(compared, 2u);
}

TEST_F(RecordedCopyTest, MergesTwoTracesSoThatTheyCanBeReadAgain) {
  const std::vector<std::string> paths = {tests::shared_data() / "h200/gpt2.plain.trace.json.gz",
                                          tests::shared_data() / "h200/resnet18.plain.trace.json.gz"};
  const auto trace = read_trace(paths);
  const ChromeTraceResult result = write(*trace, folder_ / "both.json", paths, false);
  EXPECT_EQ(result.copied.unmatched, 0u);
  const auto again = read_trace(std::vector<std::string>{folder_ / "both.json"});
  EXPECT_EQ(again->host.size(), trace->host.size());
  EXPECT_EQ(again->ranges.size(), trace->ranges.size());
  ASSERT_EQ(again->operations.size(), trace->operations.size());
  const auto linked = [](const Trace& of) {
    return std::count_if(of.operations.begin(), of.operations.end(), [](const GpuOperation& o) { return o.linked(); });
  };
  const auto busy = [](const Trace& of) {
    const Views views(of);
    int64_t sum = 0;
    for (const IntervalSet& device : views.busy()) sum += device.length_ns();
    return sum;
  };
  EXPECT_EQ(linked(*again), linked(*trace));
  EXPECT_EQ(busy(*again), busy(*trace));
}

// The merged header has "deviceProperties":[{"id":…,"name":…}]; the members "id" and "name" of the files are
// others.
TEST_F(ChromeCopyTest, AMemberOfTheFilesIsOursOnlyIfTheHeaderItselfHasIt) {
  std::vector<std::string> paths;
  for (const int pid : {5, 6}) {
    paths.push_back(folder_ / ("rank" + std::to_string(pid) + ".json"));
    std::ofstream(paths.back())
        << R"({"id":7,"n\u0061me":"both","schemaVersion":3,"deviceProperties":[{"id":0,"name":"GPU"}],"traceEvents":[)"
        << R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7}},)"
        << R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":)" << pid << R"(,"tid":1,"ts":1,"dur":2}]})";
  }
  const auto trace = read_trace(paths);
  write(*trace, folder_ / "both.json", paths, true);
  rapidjson::Document document;
  const std::string text = text_of(folder_ / "both.json");
  ASSERT_FALSE(document.Parse(text.c_str()).HasParseError()) << text;
  ASSERT_TRUE(document.HasMember("deviceProperties") && document["deviceProperties"].Size() != 0) << text;
  ASSERT_TRUE(document.HasMember("id") && document.HasMember("name")) << text;
  EXPECT_EQ(document["id"].GetInt(), 7);
  EXPECT_STREQ(document["name"].GetString(), "both");
  EXPECT_EQ(document["schemaVersion"].GetInt(), 1);
  ASSERT_EQ(document["inputs"].Size(), 2u);
  for (const auto& input : document["inputs"].GetArray()) {
    EXPECT_FALSE(input.HasMember("id")) << text;
    EXPECT_EQ(input["schemaVersion"].GetInt(), 3) << "the header has that member";
  }
}

// Not copied: as from a tool whose files are no text.
TEST_F(ChromeCopyTest, WritesEveryKindOfRangeFromTheModel) {
  tests::HandTrace hand;
  Trace& trace = hand.trace;
  const auto range = [&](const char* name, RangeKind kind, int64_t begin, int64_t end) {
    Range row;
    row.begin_ns = begin, row.end_ns = end, row.kind = kind;
    row.label = LabelId{static_cast<uint32_t>(trace.labels.size())};
    trace.labels.emplace_back().text = trace.strings.intern(name);
    trace.ranges.push_back(row);
    return trace.ranges.size() - 1;
  };
  range("main.py(3): run", RangeKind::Python, 0, 100'000);
  range("ProfilerStep#1", RangeKind::Annotation, 1'000, 90'000);
  const size_t op = range("aten::mm", RangeKind::Operator, 10'000, 50'000);
  range("Activity Buffer Request", RangeKind::Overhead, 60'000, 70'000);
  range("forward", RangeKind::Nvtx, 5'000, 55'000);
  trace.details.push_back({});
  OperatorDetail detail;
  detail.external_id = 4;
  detail.sequence = 9;
  detail.dims = trace.strings.intern("[[2,3],[3,4]]");
  trace.details.push_back(detail);
  trace.ranges[op].payload = 1;
  hand.launch(12'000, 15'000, 7);
  hand.kernel(20'000, 30'000, 7);
  trace.memory.push_back({25'000, -512, 4096, 1024, 2048, ThreadId{0}, 0});
  hand.finish();
  write(trace, folder_ / "out.json", {}, false);
  const std::string text = text_of(folder_ / "out.json");
  for (
      const char* part :
      {R"j("cat":"python_function","name":"main.py(3): run","pid":100,"tid":500,"ts":0.000,"dur":100.000)j",
       R"j("cat":"user_annotation","name":"ProfilerStep#1")j", R"j("cat":"user_annotation","name":"forward")j",
       R"j("cat":"overhead","name":"Activity Buffer Request")j",
       R"j("cat":"cpu_op","name":"aten::mm","pid":100,"tid":500,"ts":10.000,"dur":40.000,"args":{"External id":4,"Sequence number":9,"Input Dims":[[2,3],[3,4]],"self time (us)":37.000,"device time (us)":10.000,"critical path (us)":3.000,"kernel_flop":48})j",
       R"j("cat":"cpu_instant_event","s":"t","name":"[memory]","pid":100,"tid":500,"ts":25.000,"args":{"Total Reserved":2048,"Total Allocated":1024,"Bytes":-512,"Device Id":0,"Device Type":1,"Addr":4096})j"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  rapidjson::Document document;
  EXPECT_FALSE(document.Parse(text.c_str()).HasParseError());
  const auto again = read_trace(std::vector<std::string>{folder_ / "out.json"});
  EXPECT_EQ(again->ranges.size(), 5u);
  EXPECT_EQ(again->memory.size(), 1u);
  EXPECT_EQ(again->operations[0].launch, 0u);
}

// A file may have more than one array of events; the first event of each has no comma before it.
TEST_F(ChromeCopyTest, LeavesOutTheFirstEventOfAnyArrayWithItsComma) {
  const std::string good = R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":5,"ts":10,"dur":6})";
  const std::string bad = R"({"ph" "X"})";
  const fs::path from = folder_ / "in.json", to = folder_ / "out.json";
  for (const std::string& arrays : {"[" + bad + "," + good + "],\"traceEvents\":[" + good + "]",
                                    "[" + good + "],\"traceEvents\":[" + bad + "," + good + "]",
                                    "[" + good + "],\"traceEvents\":[" + bad + "," + bad + "," + good + "]"}) {
    std::ofstream(from, std::ios::binary) << "{\"traceEvents\":" << arrays << "}";
    const auto trace = read_trace(std::vector<std::string>{from});
    for (const bool plain : {true, false}) {
      const ChromeTraceResult result = write(*trace, to, {from}, plain);
      const std::string text = text_of(to);
      rapidjson::Document document;
      EXPECT_FALSE(document.Parse(text.c_str()).HasParseError()) << arrays << "\n" << text;
      EXPECT_EQ(result.copied.events, 2u) << arrays;
    }
  }
}

// 0        10       20       30       40       50
// |== a ==============================|           thread
//   |= b ====|    |== c ==|                       b in a; c in a
//    L1            L2                             launches of 6 and 4 us
TEST(Augment, AddsUpDeviceTimeOverAllRangesAroundALaunchWhateverTheirKind) {
  tests::HandTrace hand;
  Trace& trace = hand.trace;
  const auto range = [&](const char* name, RangeKind kind, int64_t begin, int64_t end) {
    Range row;
    row.begin_ns = begin, row.end_ns = end, row.kind = kind;
    row.label = LabelId{static_cast<uint32_t>(trace.labels.size())};
    trace.labels.emplace_back().text = trace.strings.intern(name);
    trace.ranges.push_back(row);
  };
  range("a", RangeKind::Nvtx, 0, 35'000);
  range("b", RangeKind::Operator, 2'000, 10'000);
  range("c", RangeKind::Python, 15'000, 22'000);
  hand.launch(3'000, 4'000, 1);
  hand.launch(16'000, 17'000, 2);
  hand.kernel(20'000, 26'000, 1);
  hand.kernel(30'000, 34'000, 2);
  hand.finish();
  const Views views(trace);
  tests::JsonEvents json;
  Augment augment(trace, views, json.list);
  EventMembers members(json.list);
  const auto of_range = [&](uint32_t row) {
    members.clear();
    augment.range(row, members);
    return members.text();
  };
  EXPECT_EQ(
      of_range(0),
      R"j("self time (us)":26.000,"device time (us)":10.000,"idle time (us)":4.000,"starved time (us)":0.000,"critical path (us)":1.000)j")
      << "less the operator and the launch that only Python's function is around";
  EXPECT_EQ(of_range(1), R"j("self time (us)":7.000,"device time (us)":6.000,"critical path (us)":1.000)j");
  EXPECT_EQ(of_range(2), R"j("self time (us)":6.000,"device time (us)":4.000)j");
  members.clear(augment_key("self time (us)") | augment_key("idle time (us)"));
  augment.range(0, members);
  EXPECT_EQ(members.text(), R"j("device time (us)":10.000,"starved time (us)":0.000,"critical path (us)":1.000)j");
  EXPECT_EQ(augment_key("stream"), 0u);
}

}  // namespace
}  // namespace prof::analyzer
