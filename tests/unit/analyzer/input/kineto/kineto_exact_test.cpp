// Real traces of torch.profiler compared with integer answers of another program: zero difference.
#include "analyzer/base/intervals.h"
#include "analyzer/input/importer.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace prof::analyzer {
namespace {

namespace fs = std::filesystem;

fs::path shared_data() {
  const char* const given = std::getenv("PROF_SHARED_DATA");
  return given != nullptr ? fs::path(given) : fs::path(PROF_SOURCE_DIR).parent_path() / "shared" / "data";
}

struct Case {
  const char* trace;
  const char* answers;
};

constexpr Case kCases[] = {
    {"h200/gpt2.trace.json.gz", "h200_gpt2.trace"},
    {"h200/gpt2.plain.trace.json.gz", "h200_gpt2.plain.trace"},
    {"h200/resnet18.trace.json.gz", "h200_resnet18.trace"},
    {"h200/resnet18.plain.trace.json.gz", "h200_resnet18.plain.trace"},
    {"hta/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz", "hta_amd_trace_mi250_minitoy_train_ROCm6_2_kineto"},
    {"hta/cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
     "hta_cpu_only_rank-34.Jul_15_10_52_41.1074.pt.trace"},
    {"hta/critical_path_cuda_event_sync__event_sync_trace.json.gz",
     "hta_critical_path_cuda_event_sync_event_sync_trace"},
    {"hta/critical_path_simple_add__benchmark_result_493459_1694039959_trace.json.gz",
     "hta_critical_path_simple_add_benchmark_result_493459_1694039959_trace"},
    {"hta/cupti_profiler__benchmark_result_924719_1679055439_trace.json.gz",
     "hta_cupti_profiler_benchmark_result_924719_1679055439_trace"},
    {"hta/rank_non_gpu__rank_non_gpu.json.gz", "hta_rank_non_gpu_rank_non_gpu"},
    {"hta/timeline_analysis__sampled_rank-0.json.gz", "hta_timeline_analysis_sampled_rank-0"},
    {"hta/triton_example__triton_example.json.gz", "hta_triton_example_triton_example"},
    {"h100/Falconsai_nsfw_image_detection__1016002.json.gz", "tracelens_h100_Falconsai_nsfw_image_detection__1016002"},
};

class KinetoExact : public testing::TestWithParam<Case> {};

// The answers also count flows and other events by category: the importer reports those counts as facts.
void compare_counts(const Process& process, const rapidjson::Value& answers) {
  EXPECT_EQ(process.fact("events"), std::to_string(answers["events"].GetUint64()));
  for (const auto& category : answers["categories"].GetObject()) {
    std::string name = category.name.GetString();
    if (name.starts_with("ph_")) name[2] = ' ';
    EXPECT_EQ(process.fact("events " + name), std::to_string(category.value.GetUint64())) << name;
  }
}

struct Sums {
  uint64_t count = 0, linked = 0;
  int64_t first = INT64_MAX, last = INT64_MIN, sum = 0;
  std::vector<Interval> intervals, linked_intervals;
};

TEST_P(KinetoExact, EqualsTheAnswers) {
  const fs::path file = shared_data() / GetParam().trace;
  if (!fs::exists(file)) GTEST_SKIP() << "no " << file;
  std::ifstream answer_file(shared_data() / "exact" / (std::string(GetParam().answers) + ".json"));
  const std::string text((std::istreambuf_iterator<char>(answer_file)), {});
  rapidjson::Document answers;
  ASSERT_FALSE(answers.Parse(text.c_str()).HasParseError());

  Trace trace;
  const FileHead head = read_head(file.string());
  const Importer* const importer = find_importer(head);
  ASSERT_NE(importer, nullptr);
  importer->import(head, trace, {});
  ASSERT_FALSE(trace.processes.empty());
  compare_counts(trace.processes[0], answers);
  EXPECT_TRUE(trace.processes[0].damage.empty());
  EXPECT_EQ(trace.host.size(), answers["runtime_events"].GetUint64());
  EXPECT_EQ(trace.operations.size(), answers["gpu_events"].GetUint64());
  if (trace.operations.empty()) return;

  Sums all;
  int64_t linked_first = INT64_MAX, linked_last = INT64_MIN;
  for (const GpuOperation& operation : trace.operations) {
    all.first = std::min(all.first, operation.start_ns);
    all.last = std::max(all.last, operation.end_ns);
    all.sum += operation.duration_ns();
    all.intervals.push_back({operation.start_ns, operation.end_ns});
    if (!operation.linked()) continue;
    ++all.linked;
    linked_first = std::min(linked_first, operation.start_ns);
    linked_last = std::max(linked_last, operation.end_ns);
    all.linked_intervals.push_back({operation.start_ns, operation.end_ns});
  }
  EXPECT_EQ(all.last - all.first, answers["span_ns"].GetInt64());
  EXPECT_EQ(all.sum, answers["sum_ns"].GetInt64());
  EXPECT_EQ(IntervalSet(all.intervals).length_ns(), answers["busy_ns"].GetInt64());
  const auto& linked = answers["linked"];
  EXPECT_EQ(all.linked, linked["n"].GetUint64());
  if (all.linked != 0) {
    EXPECT_EQ(IntervalSet(all.linked_intervals).length_ns(), linked["busy_ns"].GetInt64());
    EXPECT_EQ(linked_last - linked_first, linked["span_ns"].GetInt64());
  }
  for (const auto& stream : answers["streams"].GetArray()) {
    uint64_t count = 0;
    int64_t sum = 0;
    for (const GpuOperation& operation : trace.operations) {
      const Stream& of = trace.stream(operation.stream());
      if (std::to_string(of.number) != stream["stream"].GetString() ||
          std::to_string(trace.device(of.device).ordinal) != stream["device"].GetString())
        continue;
      ++count;
      sum += operation.duration_ns();
    }
    EXPECT_EQ(count, stream["n"].GetUint64());
    EXPECT_EQ(sum, stream["sum_ns"].GetInt64());
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, KinetoExact, testing::ValuesIn(kCases), [](const auto& test) {
  std::string name;
  for (const char c : std::string_view(test.param.answers))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace prof::analyzer
