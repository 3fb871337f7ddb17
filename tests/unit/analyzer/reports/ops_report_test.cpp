// Reports ops, ops-trace and nvtx on small models: rows, groups, sort keys, PyTorch's layout, projections.
#include "analyzer/analysis/cost/op_averages.h"
#include "analyzer/analysis/range_projection.h"
#include "analyzer/table/torch_table.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace prof::analyzer {
namespace {

using tests::cell_text;
using tests::HandTrace;
using tests::row_text;

// mm (with a launch) twice inside a step; a release outside; an annotation on the GPU; a start/end range.
HandTrace small() {
  HandTrace hand;
  hand.trace.details.push_back({});
  hand.range("ProfilerStep#1", 0, 4'000, RangeKind::Annotation);
  hand.range("ProfilerStep#2", 5'000, 9'000, RangeKind::Annotation);
  for (const int64_t at : {1'000, 6'000}) {
    hand.range("aten::mm", at, at + 1'500);
    hand.trace.ranges.back().payload = hand.trace.details.size();
    OperatorDetail detail;
    detail.dims = hand.trace.strings.intern(at == 1'000 ? "[[2,3],[3,5]]" : "[[4,3],[3,5]]");
    hand.trace.details.push_back(detail);
    hand.launch(at + 500, at + 600, static_cast<uint32_t>(at));
    hand.kernel(at + 700, at + 2'700, static_cast<uint32_t>(at), 0, "gemm");
    hand.memory(at + 100, 2'048, static_cast<uint64_t>(at));
  }
  hand.memory(9'500, -4'096, 1);
  hand.range("epoch", 0, 10'000, RangeKind::Nvtx);
  hand.trace.ranges.back().style = RangeStyle::StartEnd;
  hand.trace.gpu_annotations.push_back({1'700, 8'700, StreamId{0}, LabelId{1}});
  hand.finish();
  return hand;
}

TEST(OpsReport, PrintsPyTorchsTable) {
  HandTrace hand = small();
  Table table = hand.report(report_ops);
  ASSERT_TRUE(table.sort_by("self_cuda_time_total"));
  table.limit(3);
  const std::string rule = std::string(20, '-') + "  ";
  const std::string dashes = "------------  ";
  std::string separator = rule;
  for (int column = 0; column < 15; ++column) separator += dashes;
  EXPECT_EQ(table.text_form(table),
            separator +
                "\n                Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg  "
                "   Self CUDA   Self CUDA %    CUDA total  CUDA time avg"
                "       CPU Mem  Self CPU Mem      CUDA Mem  Self CUDA Mem    # of Calls   Total FLOPs  \n" +
                separator +
                "\n       ProfilerStep*         0.00%       0.000us         0.00%       0.000us       0.000us  "
                "     7.000us            --       7.000us       7.000us"
                "           0 B           0 B           0 B           0 B             1            --  \n"
                "            aten::mm        35.00%       2.800us        37.50%       3.000us       1.500us  "
                "     4.000us       100.00%       4.000us       2.000us"
                "           0 B           0 B       4.00 KB       4.00 KB             2       180.000  \n"
                "                gemm         0.00%       0.000us         0.00%       0.000us       0.000us  "
                "     4.000us       100.00%       4.000us       2.000us"
                "           0 B           0 B           0 B           0 B             2            --  \n" +
                separator + "\nSelf CPU time total: 8.000us\nSelf CUDA time total: 4.000us\n");
}

TEST(OpsReport, AveragesByNameInOrderOfTheFirstEvent) {
  HandTrace hand = small();
  const Table table = hand.report(report_ops);
  std::string rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    rows += row_text(table, row,
                     {"name", "device_type", "count", "self_cpu_time_total", "cpu_time_total", "cpu_time",
                      "self_device_time_total", "device_time_total", "self_device_memory_usage", "device_memory_usage",
                      "min", "max", "flops", "is_async"}) +
            "\n";
  }
  EXPECT_EQ(rows,
            "epoch | CPU | 1 | 0 | 10000 | 10000 | 0 | 0 | 0 | 0 | 10000 | 10000 | 0 | 1\n"
            "ProfilerStep* | CPU | 2 | 5000 | 8000 | 4000 | 0 | 4000 | 0 | 4096 | 4000 | 4000 | 0 | 0\n"
            "aten::mm | CPU | 2 | 2800 | 3000 | 1500 | 4000 | 4000 | 4096 | 4096 | 1500 | 1500 | 180 | 0\n"
            "cudaLaunchKernel | CPU | 2 | 200 | 200 | 100 | 0 | 0 | 0 | 0 | 100 | 100 | 0 | 0\n"
            "ProfilerStep* | CUDA | 1 | 0 | 0 | 0 | 7000 | 7000 | 0 | 0 | 7000 | 7000 | 0 | 0\n"
            "gemm | CUDA | 2 | 0 | 0 | 0 | 4000 | 4000 | 0 | 0 | 2000 | 2000 | 0 | 0\n"
            "[memory] | CPU | 1 | 0 | 0 | 0 | 0 | 0 | -4096 | -4096 | 0 | 0 | 0 | 0\n");
}

TEST(OpsReport, SortsByPyTorchsSpellingsAndTakesTopLevelOnly) {
  HandTrace hand = small();
  Table table = hand.report(report_ops);
  for (const char* key : {"cpu_time", "cuda_time", "device_time", "cpu_time_total", "cuda_time_total",
                          "device_time_total", "self_cpu_time_total", "self_cuda_time_total", "self_device_time_total",
                          "cpu_memory_usage", "cuda_memory_usage", "device_memory_usage", "self_cpu_memory_usage",
                          "self_cuda_memory_usage", "self_device_memory_usage", "count", "flops"})
    EXPECT_TRUE(table.sort_by(key)) << key;
  EXPECT_EQ(cell_text(table, 0, "name"), "aten::mm");
  table.sort_by("cpu_time_total");
  EXPECT_EQ(cell_text(table, 0, "name"), "epoch");
  hand.options.top_level = true;
  const Table top = hand.report(report_ops);
  std::string names;
  for (size_t row = 0; row < top.rows(); ++row) names += cell_text(top, row, "name") + " ";
  EXPECT_EQ(names, "epoch ProfilerStep* ProfilerStep* gemm [memory] ");
  EXPECT_NE(top.text_form(top).find("=\nThis report only display top-level ops statistics\n---"), std::string::npos);
}

TEST(OpsReport, KeepsWhatIsGroupedApart) {
  HandTrace hand = small();
  const auto rows_of = [&](std::vector<std::string> words, const char* key) {
    hand.options.group_by = std::move(words);
    const Table table = hand.report(report_ops);
    std::string rows;
    for (size_t row = 0; row < table.rows(); ++row) {
      if (cell_text(table, row, "name") == "aten::mm")
        rows += cell_text(table, row, key) + "=" + cell_text(table, row, "count") + " ";
    }
    return rows;
  };
  EXPECT_EQ(rows_of({}, "input_shapes"), "=2 ");
  EXPECT_EQ(rows_of({"shape"}, "input_shapes"), "[[2, 3], [3, 5]]=1 [[4, 3], [3, 5]]=1 ");
  EXPECT_EQ(rows_of({"thread"}, "thread"), "500=2 ");
  EXPECT_EQ(rows_of({"node"}, "node_id"), "0=2 ");
  for (const char* word : {"stack:", "stack:0", "stack:x", "stack:99999999999", "colour", ""})
    EXPECT_THROW(rows_of({word}, "name"), std::runtime_error) << word;
}

TEST(OpsReport, FormatsAsPyTorchDoes) {
  EXPECT_EQ(torch_time(999'999), "999.999us");
  EXPECT_EQ(torch_time(1'000'000), "1.000ms");
  EXPECT_EQ(torch_time(1'234'567'000), "1.235s");
  EXPECT_EQ(torch_time(-5'000'000), "-5000.000us");
  EXPECT_EQ(torch_share(1, 3), "33.33%");
  EXPECT_EQ(torch_share(5, 0), "--");
  EXPECT_EQ(torch_memory(-1'536), "-1.50 KB");
  EXPECT_EQ(torch_memory(1'023), "1023 B");
  EXPECT_EQ(torch_memory(5ll << 30), "5.00 GB");
}

TEST(OpsReport, SaysNothingOfAnEmptyTraceAndStaysCalm) {
  HandTrace hand;
  hand.finish();
  for (const auto& run : {report_ops, report_ops_trace, report_nvtx, report_fwd_bwd}) {
    const Table table = hand.report(run);
    EXPECT_EQ(table.rows(), 0u);
    EXPECT_EQ(table.text_form ? table.text_form(table) : "", "");
  }
}

TEST(OpsTrace, HasOneRowPerInstance) {
  HandTrace hand = small();
  const Table table = hand.report(report_ops_trace);
  ASSERT_EQ(table.rows(), 9u);
  EXPECT_EQ(row_text(table, 1,
                     {"id", "parent", "name", "start", "end", "self_cpu_time_total", "cpu_time_total",
                      "device_time_total", "kernels", "device_memory_usage", "record_scope"}),
            "1 |  | ProfilerStep#1 | 0 | 4000 | 2500 | 4000 | 2000 | 0 | 2048 | user");
  EXPECT_EQ(row_text(table, 2,
                     {"id", "parent", "name", "self_device_time_total", "kernels", "flops", "input_shapes",
                      "thread_or_stream", "record_scope"}),
            "2 | 1 | aten::mm | 2000 | 1 | 60 | [[2, 3], [3, 5]] | 500 | function");
  EXPECT_EQ(row_text(table, 4, {"id", "parent", "name", "device_type", "start", "device_time_total"}),
            " | 2 | gemm | CUDA | 1700 | 2000");
}

TEST(Nvtx, ProjectsRangesOnTheGpu) {
  HandTrace hand;
  hand.range("step, seq = 1", 0, 100, RangeKind::Nvtx);
  hand.range("inner", 10, 50, RangeKind::Nvtx);
  hand.range("step, seq = 2", 200, 300, RangeKind::Nvtx);
  hand.range("idle", 400, 410, RangeKind::Annotation);
  hand.launch(20, 25, 1), hand.launch(60, 65, 2), hand.launch(210, 215, 3);
  hand.kernel(30, 40, 1), hand.kernel(35, 55, 1);  // overlap
  hand.kernel(80, 90, 2);
  hand.kernel(220, 230, 3);
  hand.finish();
  const Table table = hand.report(report_nvtx);
  const auto row = [&](const Table& t, size_t i) {
    return row_text(t, i,
                    {t.columns()[0].key, "mean_level", "count", "with_gpu", "cpu_time_total", "gpu_span", "gpu_busy",
                     "span_busy_percent", "gpu_sum", "operations"});
  };
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(row(table, 0), "step | 0.0 | 2 | 2 | 200 | 70 | 45 | 64.3 | 50 | 4");
  EXPECT_EQ(row(table, 1), "inner | 1.0 | 1 | 1 | 40 | 25 | 25 | 100.0 | 30 | 2");
  EXPECT_EQ(row(table, 2), "idle | 0.0 | 1 | 0 | 10 |  |  |  |  | 0");
  hand.options.group_by = {"path"};
  const Table paths = hand.report(report_nvtx);
  EXPECT_EQ(row(paths, 1), "step/inner | 1.0 | 1 | 1 | 40 | 25 | 25 | 100.0 | 30 | 2");
  hand.options.group_by = {"shape"};
  EXPECT_THROW(hand.report(report_nvtx), std::runtime_error);
}

// Compared with the definition, computed range by range.
TEST(Nvtx, ProjectionsAreThoseOfTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    HandTrace hand;
    hand.thread(0, 501), hand.device(0, 1), hand.stream(1, 7), hand.stream(0, 8);
    const auto pick = [&](int64_t below) { return static_cast<int64_t>(random() % static_cast<uint32_t>(below)); };
    hand.range("zero", 0, 1, RangeKind::Nvtx);
    for (int i = 0; i < 40; ++i) {
      const int64_t begin = pick(1000), thread = pick(2);
      hand.range("r", begin, begin + pick(300), RangeKind::Nvtx, static_cast<uint32_t>(thread));
    }
    for (uint32_t i = 1; i <= 60; ++i) {
      const int64_t begin = pick(1000), start = begin + pick(400);
      hand.launch(begin, begin + 3, i, static_cast<uint32_t>(pick(2)));
      for (int64_t each = pick(3); each > 0; --each)
        hand.kernel(start + each * 7, start + each * 7 + pick(60), i, static_cast<uint32_t>(pick(3)));
    }
    const Trace& trace = hand.finish();
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < trace.ranges.size(); ++row) rows.push_back(row);
    const std::vector<Projection> found = project_ranges({trace, hand.views(), hand.selection, hand.options}, rows);
    for (const uint32_t row : rows) {
      const Range& range = trace.ranges[row];
      std::vector<Interval> inside;
      int64_t first = INT64_MAX, last = 0, sum = 0;
      for (const GpuOperation& operation : trace.operations) {
        const HostEvent& launch = trace.host[operation.launch];
        if (launch.thread != range.thread || launch.begin_ns < range.begin_ns || launch.begin_ns >= range.end_ns)
          continue;
        inside.push_back({operation.start_ns, operation.end_ns});
        first = std::min(first, operation.start_ns), last = std::max(last, operation.end_ns);
        sum += operation.duration_ns();
      }
      ASSERT_EQ(found[row].operations, inside.size());
      if (inside.empty()) continue;
      EXPECT_EQ(found[row].first_ns, first);
      EXPECT_EQ(found[row].last_ns, last);
      EXPECT_EQ(found[row].sum_ns, sum);
      EXPECT_EQ(found[row].busy_ns, IntervalSet(std::move(inside)).length_ns());
    }
  }
}

}  // namespace
}  // namespace prof::analyzer
