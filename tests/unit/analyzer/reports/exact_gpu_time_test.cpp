// The GPU time of recorded traces, to the nanosecond: spans, unions, sums, exposed time and statistics of kernels
// against answers worked out by an independent program, and against TraceLens's own tables. Skipped where the
// recordings are not at hand.
#include "analyzer/input/importer.h"
#include "analyzer/reports/breakdown.h"
#include "analyzer/reports/kernels.h"
#include "analyzer/reports/reports.h"
#include "tests/unit/analyzer/reports/torch_recording.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace prof::analyzer {
namespace {

namespace fs = std::filesystem;
using tests::data_folder;

std::string whole_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string without(std::string text, std::string_view part, std::string_view instead = "") {
  if (const size_t at = text.find(part); at != std::string::npos) text.replace(at, part.size(), instead);
  return text;
}

// The file with the answers of a trace; its name contains the folders.
fs::path answers_of(const fs::path& trace) {
  const std::string folder = trace.parent_path().filename(), name = without(trace.filename(), ".gz");
  const std::string prefix = folder == "h100" ? "tracelens_h100_" : folder + "_";
  return data_folder() / "exact" / (prefix + (folder == "hta" ? without(name, "__", "_") : name));
}

std::vector<fs::path> traces_with_answers() {
  std::vector<fs::path> traces;
  for (const char* folder : {"h200", "hta", "h100"}) {
    const fs::path path = data_folder() / folder;
    if (!fs::is_directory(path)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.path().string().find(".json") != std::string::npos && fs::exists(answers_of(entry.path())))
        traces.push_back(entry.path());
    }
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

// A trace and the inputs of its analyses.
struct Recorded {
  explicit Recorded(const fs::path& path) : trace(read_trace(std::vector<std::string>{path.string()})), views(*trace) {}
  AnalysisInput input() const { return {*trace, views, selection, options}; }
  std::unique_ptr<Trace> trace;
  Views views;
  Selection selection;
  ReportOptions options;
};

// "Memcpy HtoD (Pageable -> Device)" becomes "memcpy HtoD": other tools name memory differently.
std::string row_key(std::string_view type, std::string_view name, const Statistics& all, int64_t bytes) {
  std::ostringstream text;
  text.precision(20);
  text << type << ' '
       << (type == "memcpy"   ? name.substr(7, 4)
           : type == "memset" ? ""
                              : name)
       << ' ' << all.count << ' ' << all.total << ' ' << all.min << ' ' << all.max << ' ' << all.median << ' ' << bytes;
  return text.str();
}

class ExactAnswers : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(data_folder() / "exact")) GTEST_SKIP() << "no recorded traces at " << data_folder();
  }
};

BreakdownRules exact_rules() {
  BreakdownRules rules;
  rules.kernels = BreakdownRules::Kernels::NcclInName;
  rules.memsets_compute = rules.merge_devices = true;
  return rules;
}

void expect_breakdown(const Recorded& recorded, const rapidjson::Document& answers) {
  const AnalysisInput input = recorded.input();
  const std::vector<Window> windows = report_windows(input);
  ASSERT_EQ(windows.size(), 1u);
  const std::vector<DeviceBreakdown> scopes = break_down(input, windows, exact_rules());
  ASSERT_EQ(scopes.size(), 1u);
  const Breakdown& all = scopes[0].windows.at(0);
  EXPECT_EQ(scopes[0].last_ns - scopes[0].first_ns, answers["span_ns"].GetInt64());
  EXPECT_EQ(all.window_ns, answers["span_ns"].GetInt64());
  EXPECT_EQ(all.operations, answers["gpu_events"].GetUint64());
  EXPECT_EQ(all.busy_ns, answers["busy_ns"].GetInt64());
  EXPECT_EQ(all.idle_ns(), answers["idle_ns"].GetInt64());
  EXPECT_EQ(all.sum_ns, answers["sum_ns"].GetInt64());
  EXPECT_EQ(all.compute_ns, answers["comp_ns"].GetInt64());
  EXPECT_EQ(all.communication_ns, answers["comm_ns"].GetInt64());
  EXPECT_EQ(all.memory_ns, answers["memcpy_ns"].GetInt64());
  EXPECT_EQ(all.exposed_communication_ns, answers["exposed_comm_ns"].GetInt64());
  EXPECT_EQ(all.exposed_memory_ns, answers["exposed_memcpy_ns"].GetInt64());
  EXPECT_EQ(all.operations - all.unlinked, answers["linked"]["n"].GetUint64());
  EXPECT_EQ(all.linked_busy_ns, answers["linked"]["busy_ns"].GetInt64());
  if (answers["comm_comp_overlap_pct"].IsNull()) {
    EXPECT_EQ(all.communication_ns, 0);
  } else {
    EXPECT_NEAR(100 * static_cast<double>(all.hidden_communication_ns()) / static_cast<double>(all.communication_ns),
                answers["comm_comp_overlap_pct"].GetDouble(), 0.00005);
  }
  // libprof's definition: the same, except that memsets count with copies, and rules decide what is communication.
  const Breakdown ours = break_down(input, windows, {}).at(0).windows.at(0);
  EXPECT_EQ(ours.busy_ns, all.busy_ns);
  EXPECT_EQ(ours.communication_ns, all.communication_ns);
  EXPECT_EQ(ours.compute_ns + ours.exposed_communication_ns + ours.exposed_memory_ns + ours.idle_ns(), ours.window_ns);
}

void expect_streams(Recorded& recorded, const rapidjson::Document& answers) {
  for (const rapidjson::Value& stream : answers["streams"].GetArray()) {
    SCOPED_TRACE(stream["stream"].GetString());
    recorded.selection.streams = {static_cast<uint32_t>(std::stoul(stream["stream"].GetString()))};
    const AnalysisInput input = recorded.input();
    const std::vector<DeviceBreakdown> scopes = break_down(input, report_windows(input), {});
    ASSERT_EQ(scopes.size(), 1u);
    EXPECT_EQ(scopes[0].windows.at(0).operations, stream["n"].GetUint64());
    EXPECT_EQ(scopes[0].windows.at(0).busy_ns, stream["busy_ns"].GetInt64());
    EXPECT_EQ(scopes[0].windows.at(0).sum_ns, stream["sum_ns"].GetInt64());
    EXPECT_EQ(scopes[0].last_ns - scopes[0].first_ns, stream["span_ns"].GetInt64());
  }
  recorded.selection.streams.clear();
}

void expect_kernels(const Recorded& recorded, const rapidjson::Document& answers) {
  const AnalysisInput input = recorded.input();
  const std::vector<KernelGroup> groups = kernel_groups(input, report_windows(input), {});
  EXPECT_EQ(groups.size(), answers["distinct_names"].GetUint64());
  std::map<std::string, int> ours;
  for (const KernelGroup& group : groups) {
    const GpuOperation& example = recorded.trace->operations[group.example];
    const bool is_kernel = group.kind == GpuKind::Kernel, is_copy = group.kind == GpuKind::Copy;
    // A trace without byte counts reports none.
    const auto bytes = is_kernel ? -1 : static_cast<int64_t>(group.bytes);
    std::string name(is_kernel ? recorded.views.names().name(example, NameForm::Mangled)
                     : is_copy ? "memcpy " + std::string(copy_kind_name(example.detail & 0xff))
                               : "");
    ++ours[row_key(is_kernel ? "kernel" : is_copy ? "memcpy" : "memset", name, group.durations, bytes)];
  }
  for (const rapidjson::Value& row : answers["top"].GetArray()) {
    Statistics all;
    all.count = row["n"].GetUint64(), all.total = row["total_ns"].GetInt64();
    all.min = row["min_ns"].GetInt64(), all.max = row["max_ns"].GetInt64(), all.median = row["median_ns"].GetDouble();
    const std::string key = row_key(row["type"].GetString(), row["name"].GetString(), all,
                                    row["bytes"].IsNull() ? -1 : row["bytes"].GetInt64());
    EXPECT_EQ(ours[key], 1) << key;
  }
}

TEST_F(ExactAnswers, AreReproducedForEveryTrace) {
  const std::vector<fs::path> traces = traces_with_answers();
  EXPECT_EQ(traces.size(), 13u);
  for (const fs::path& path : traces) {
    SCOPED_TRACE(path);
    rapidjson::Document answers;
    const std::string text = whole_text(answers_of(path));
    answers.Parse(text.c_str());
    ASSERT_TRUE(answers.IsObject());
    Recorded recorded(path);
    if (answers["gpu_events"].GetInt() == 0) {
      EXPECT_EQ(recorded.trace->operations.size(), 0u);
      continue;
    }
    expect_breakdown(recorded, answers);
    expect_streams(recorded, answers);
    expect_kernels(recorded, answers);
  }
}

// Two processes with a GPU each and 78 correlation ids in common; kernels of the first overlap on one stream by 12,442
// ns. The answers are SQL sums and unions over its tables.
TEST_F(ExactAnswers, HoldForTheDevicesOfAnExportOfNsightSystems) {
  const Recorded recorded(data_folder() / "nsys" / "mfu_2gpu_before.sqlite");
  const AnalysisInput input = recorded.input();
  const std::vector<DeviceBreakdown> devices = break_down(input, report_windows(input), {});
  ASSERT_EQ(devices.size(), 2u);
  const Breakdown &first = devices[0].windows.at(0), &second = devices[1].windows.at(0);
  EXPECT_NE(devices[0].process, devices[1].process);
  EXPECT_EQ(first.window_ns, second.window_ns);
  EXPECT_EQ(first.busy_ns, 273'817'787);
  EXPECT_EQ(first.kernels, 1993u);
  EXPECT_EQ(first.operations, 1993u + 643u);
  EXPECT_EQ(first.kernel_sum_ns, 270'875'926);
  EXPECT_EQ(first.kernel_sum_ns - (first.compute_ns + first.exposed_communication_ns), 12'442);
  EXPECT_EQ(first.communication_ns, 17'172'652);
  EXPECT_EQ(first.memory_ns, 2'954'303);
  EXPECT_EQ(second.busy_ns, 267'275'916);
  EXPECT_EQ(second.kernels, 2017u);
  EXPECT_EQ(second.kernel_sum_ns, 264'324'724);
  EXPECT_EQ(second.communication_ns, 8'229'100);
  EXPECT_EQ(second.memory_ns, 2'951'192);
}

// The fields of one line of csv.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<std::vector<std::string>> rows_of(const fs::path& path) {
  std::istringstream in(whole_text(path));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);  // titles
  while (std::getline(in, line)) rows.push_back(fields_of(line));
  return rows;
}

class TraceLens : public ExactAnswers {
 protected:
  fs::path trace = data_folder() / "h100" / "Falconsai_nsfw_image_detection__1016002.json.gz";
  fs::path tables = data_folder() / "h100" / "Falconsai_nsfw_image_detection__1016002_perf_report_csvs";
};

TEST_F(TraceLens, TimelineIsWithinTheRoundingOfItsFloats) {
  Recorded recorded(trace);
  recorded.options.definitions = Definitions::TraceLens;
  const Table table = report_breakdown(recorded.input());
  std::map<std::string, std::pair<double, double>> ours;  // ms, percent
  for (size_t row = 0; row < table.rows(); ++row) {
    ours[std::string(table.text(table.columns()[3].cells[row]))] = {
        static_cast<double>(table.columns()[6].cells[row]) / 1e6, Table::real(table.columns()[7].cells[row])};
  }
  const auto theirs = rows_of(tables / "gpu_timeline.csv");
  EXPECT_EQ(theirs.size(), 8u);
  EXPECT_EQ(ours.size(), 8u);
  for (const std::vector<std::string>& row : theirs) {
    SCOPED_TRACE(row.at(0));
    ASSERT_EQ(ours.count(row.at(0)), 1u);
    EXPECT_NEAR(ours[row[0]].first, std::stod(row.at(1)), 3e-6);
    EXPECT_NEAR(ours[row[0]].second, std::stod(row.at(2)), 1e-4);
  }
}

TEST_F(TraceLens, KernelsByOperatorAreTheSame) {
  Recorded recorded(trace);
  const AnalysisInput input = recorded.input();
  KernelGrouping grouping;
  grouping.operation = grouping.stream = true;
  std::map<std::string, Statistics> ours;
  for (const KernelGroup& group : kernel_groups(input, report_windows(input), grouping)) {
    if (group.kind != GpuKind::Kernel) continue;
    const GpuOperation& example = recorded.trace->operations[group.example];
    std::string key(recorded.trace->text(recorded.trace->labels[group.operator_label].text));
    key += " | ";
    key += recorded.views.names().name(example, NameForm::Mangled);
    key += " | " + std::to_string(recorded.trace->stream(example.stream()).number);
    ours[key] = group.durations;
  }
  const auto theirs = rows_of(tables / "kernel_summary.csv");
  EXPECT_EQ(theirs.size(), 15u);
  EXPECT_EQ(ours.size(), theirs.size());
  for (const std::vector<std::string>& row : theirs) {
    const std::string key = row.at(1) + " | " + row.at(2) + " | " + row.at(3);
    SCOPED_TRACE(key);
    ASSERT_EQ(ours.count(key), 1u);
    const Statistics& all = ours[key];
    EXPECT_NEAR(static_cast<double>(all.total) / 1e3, std::stod(row.at(4)), 3e-6);
    EXPECT_EQ(all.count, std::stoul(row.at(5)));
    EXPECT_NEAR(all.mean / 1e3, std::stod(row.at(6)), 3e-6);
    EXPECT_NEAR(static_cast<double>(all.min) / 1e3, std::stod(row.at(7)), 3e-6);
    EXPECT_NEAR(static_cast<double>(all.max) / 1e3, std::stod(row.at(8)), 3e-6);
  }
}

}  // namespace
}  // namespace prof::analyzer
