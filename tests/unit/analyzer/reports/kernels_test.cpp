// Statistics of kernels, their categories, compiled graphs and utilisation over time; answers computed by hand.
#include "analyzer/reports/kernels.h"
#include "analyzer/base/statistics.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

TEST(Statistics, GiveQuartilesBetweenRanksAndDeviationOfASample) {
  std::vector<int64_t> four = {40, 10, 30, 20};
  const Statistics all = statistics_of(four);
  EXPECT_EQ(all.count, 4u);
  EXPECT_EQ(all.total, 100);
  EXPECT_EQ(all.min, 10);
  EXPECT_EQ(all.max, 40);
  EXPECT_DOUBLE_EQ(all.mean, 25);
  EXPECT_DOUBLE_EQ(all.q1, 17.5);
  EXPECT_DOUBLE_EQ(all.median, 25);
  EXPECT_DOUBLE_EQ(all.q3, 32.5);
  EXPECT_NEAR(all.stddev, 12.909944, 1e-6);  // √(500 / 3)
  std::vector<int64_t> one = {7};
  EXPECT_DOUBLE_EQ(statistics_of(one).q3, 7);
  EXPECT_DOUBLE_EQ(statistics_of(one).stddev, 0);
  EXPECT_EQ(statistics_of({}).count, 0u);
  std::vector<int64_t> huge = {INT64_MAX, INT64_MAX};
  EXPECT_EQ(statistics_of(huge).total, INT64_MAX);
}

// gemm 10, 30, 20 (stream 7) and 40 (stream 8); relu 5; a copy of 100 bytes in 15 ns, a memset in 5. 0-125, busy 115.
void fill_kernels(HandTrace& hand) {
  hand.stream(0, 8);
  hand.range("aten::linear", 0, 3);
  hand.range("aten::addmm", 0, 2);
  hand.launch(0, 1, 1);
  hand.launch(1, 2, 2);
  hand.launch(2, 3, 3);
  hand.kernel(0, 10, 1, 0, "gemm");
  hand.kernel(10, 40, 2, 0, "gemm");
  hand.kernel(40, 60, 3, 0, "gemm");
  hand.kernel(60, 65, 9, 0, "relu");
  hand.kernel(60, 100, 9, 1, "gemm");
  hand.copy(100, 115, 9, 100, 1 | 1 << 8 | 3 << 16);
  hand.fill(120, 125, 9, 64);
  hand.finish();
}

TEST(Kernels, AreCountedByNameWithCopiesAndMemsets) {
  HandTrace hand;
  fill_kernels(hand);
  const Table table = hand.report(report_kernels);
  ASSERT_EQ(table.rows(), 4u);
  EXPECT_EQ(
      row_text(table, 0, {"type", "name", "count", "total", "mean", "min", "q1", "median", "q3", "max", "stddev"}),
      "kernel | gemm | 4 | 100 | 25 | 10 | 18 | 25 | 33 | 40 | 13");
  EXPECT_EQ(row_text(table, 0, {"busy_percent", "window_percent", "bytes"}), "83.33 | 80.00 | ");  // of 120, of 125
  EXPECT_EQ(row_text(table, 1, {"type", "name", "total", "bytes", "registers"}),
            "memcpy | [CUDA memcpy HtoD] Pageable -> Device | 15 | 100 | ");
  EXPECT_EQ(row_text(table, 2, {"name", "total"}), "relu | 5");
  EXPECT_EQ(row_text(table, 3, {"type", "name", "total"}), "memset | [CUDA memset] Device | 5");
}

TEST(Kernels, AreGroupedByStreamAndOperatorWhenAsked) {
  HandTrace hand;
  fill_kernels(hand);
  hand.options.group_by = {"stream"};
  const Table streams = hand.report(report_kernels);
  EXPECT_EQ(row_text(streams, 0, {"pid", "device", "stream", "name", "total"}), "100 | 0 | 7 | gemm | 60");
  EXPECT_EQ(row_text(streams, 1, {"pid", "device", "stream", "name", "total"}), "100 | 0 | 8 | gemm | 40");
  hand.options.group_by = {"op"};
  const Table operators = hand.report(report_kernels);
  // The innermost operator around the launch: addmm 0-2 holds the first two, linear 0-3 the third.
  EXPECT_EQ(row_text(operators, 0, {"operator", "name", "count", "total"}), "aten::addmm | gemm | 2 | 40");
  EXPECT_EQ(row_text(operators, 1, {"operator", "name", "count", "total"}), " | gemm | 1 | 40");
  EXPECT_EQ(row_text(operators, 2, {"operator", "name", "count", "total"}), "aten::linear | gemm | 1 | 20");
  hand.options.group_by = {"colour"};
  EXPECT_THROW(hand.report(report_kernels), std::runtime_error);
}

TEST(Kernels, OfOneNameAndTwoShapesAreOneRowUnlessShapesAreAskedFor) {
  HandTrace hand;
  hand.kernel(0, 10, 0, 0, "k");
  Kernel other = hand.trace.kernels.back();
  other.grid[0] = 2, other.grid[1] = other.grid[2] = 1, other.block[0] = 64, other.block[1] = other.block[2] = 1;
  other.registers = 40;
  hand.trace.kernels.push_back(other);
  hand.kernel(20, 40, 0, 0, "k");
  hand.trace.operations.back().detail = static_cast<uint32_t>(hand.trace.kernels.size() - 1);
  hand.finish();
  const Table one = hand.report(report_kernels);
  ASSERT_EQ(one.rows(), 1u);
  EXPECT_EQ(row_text(one, 0, {"count", "total", "registers"}), "2 | 30 | 40");
  hand.options.group_by = {"shape"};
  const Table two = hand.report(report_kernels);
  ASSERT_EQ(two.rows(), 2u);
  EXPECT_EQ(row_text(two, 0, {"count", "total", "grid", "block"}), "1 | 20 | 2x1x1 | 64x1x1");
}

TEST(Kernels, CountInAWindowWhenAPartOfThemIsThere) {
  HandTrace hand;
  fill_kernels(hand);
  hand.selection.from_ns = 35;
  hand.selection.to_ns = 60;
  const Table table = hand.report(report_kernels);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(row_text(table, 0, {"name", "count", "total"}), "gemm | 2 | 50");  // 10-40 and 40-60, not cut
}

TEST(Categories, ListKernelsWithTotalsAndCloseLikeTorchCompile) {
  HandTrace hand;
  hand.trace.details.push_back({});
  OperatorDetail detail;
  detail.other = hand.trace.strings.intern(R"("kernel_file":"/tmp/a/cab.py","num_warps":4,"num_stages":"2")");
  hand.trace.details.push_back(detail);
  hand.range("triton_poi_fused_add_0", 0, 10);
  hand.trace.ranges.back().payload = 1;
  hand.launch(1, 2, 1);
  hand.launch(11, 12, 2);
  hand.kernel(2, 42, 1, 0, "triton_poi_fused_add_0");
  hand.kernel(42, 52, 2, 0, "triton_poi_fused_mul_1");
  hand.kernel(60, 80, 2, 0, "ampere_sgemm_128x64_nn");
  hand.fill(100, 102, 2, 4);
  hand.finish();
  const Table table = hand.report(report_categories);
  ASSERT_EQ(table.rows(), 7u);
  const auto row = [&](size_t i) {
    return row_text(table, i, {"category", "kernel", "self_gpu_time", "count", "percent"});
  };
  EXPECT_EQ(row(0), "pointwise | triton_poi_fused_add_0 | 40 | 1 | 40.00");  // of the window 2-102
  EXPECT_EQ(row(1), "pointwise | triton_poi_fused_mul_1 | 10 | 1 | 10.00");
  EXPECT_EQ(row(2), "pointwise | Total | 50 | 2 | 50.00");
  EXPECT_EQ(row(3), "cublas | ampere_sgemm_128x64_nn | 20 | 1 | 20.00");
  EXPECT_EQ(row(6), "memset | Total | 2 | 1 | 2.00");
  EXPECT_EQ(row_text(table, 0, {"kernel_file", "num_warps", "num_stages"}), "/tmp/a/cab.py | 4 | 2");
  EXPECT_EQ(row_text(table, 1, {"kernel_file", "num_warps", "num_stages"}), " |  | ");
  ASSERT_EQ(table.footers.size(), 2u);
  EXPECT_EQ(table.footers[0], "Percent of time when GPU is busy: 72.00%");
  EXPECT_EQ(table.footers[1], "Total wall time 0.000 ms");

  hand.options.definitions = Definitions::Reference;
  hand.options.wall_ms = 0.00005;
  const Table reference = hand.report(report_categories);
  ASSERT_EQ(reference.rows(), 5u);
  EXPECT_EQ(row_text(reference, 2, {"category", "kernel", "self_gpu_time", "percent"}),
            "triton_pointwise | Total | 50 | 100.00");
  EXPECT_EQ(row_text(reference, 4, {"category", "kernel", "percent"}), "unknown | Total | 40.00");
  EXPECT_EQ(reference.footers.at(0), "Percent of time when GPU is busy: 140.00%");
}

// A forward graph with two overlapping kernels, called twice; its backward inside autograd's operator on another
// thread.
TEST(Graphs, GetTheOperationsLaunchedInsideThem) {
  HandTrace hand;
  const uint32_t autograd = hand.thread(0, 501);
  hand.stream(0, 8);
  hand.range("Torch-Compiled Region: 0/0", 0, 20);
  hand.range("## Call CompiledFxGraph fab ##", 5, 15, RangeKind::Annotation);
  hand.range("Torch-Compiled Region: 0/0", 40, 50);
  hand.range("CompiledFunctionBackward", 60, 80, RangeKind::Operator, autograd);
  hand.range("## Call CompiledFxGraph fcd ##", 62, 70, RangeKind::Annotation, autograd);
  hand.range("my range", 62, 66, RangeKind::Nvtx, autograd);
  hand.launch(2, 3, 1);
  hand.launch(6, 7, 2);
  hand.launch(42, 43, 3);
  hand.launch(63, 64, 4, autograd);
  hand.launch(90, 91, 5);
  hand.kernel(10, 20, 1);
  hand.kernel(15, 35, 2, 1);
  hand.kernel(50, 60, 3);
  hand.kernel(70, 110, 4);
  hand.kernel(120, 130, 5);
  hand.finish();
  const Table table = hand.report(report_graphs);
  const auto row = [&](const Table& of, size_t i) {
    return row_text(of, i,
                    {"compiled_graph", "pass", "calls", "operations", "gpu_sum", "gpu_busy", "gpu_span", "host_time"});
  };
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(row(table, 0), "## Call CompiledFxGraph fcd ## | backward | 1 | 1 | 40 | 40 | 40 | 8");
  EXPECT_EQ(row(table, 1), "Torch-Compiled Region: 0/0 | forward | 2 | 3 | 40 | 35 | 50 | 30");
  EXPECT_EQ(row(table, 2), "## Call CompiledFxGraph fab ## | forward | 1 | 1 | 20 | 20 | 20 | 10");
  // Busy 25 + 10 + 40 + 10 = 85; window 10-130.
  EXPECT_EQ(row_text(table, 1, {"busy_percent", "window_percent", "wall_percent"}), "41.18 | 29.17 | ");
  hand.options.range = "my ";
  const Table more = hand.report(report_graphs);
  ASSERT_EQ(more.rows(), 4u);
  EXPECT_EQ(row(more, 1), "my range | backward | 1 | 1 | 40 | 40 | 40 | 4");
}

TEST(GpuUtil, CutsTheWindowInAtMostAHundredPieces) {
  HandTrace hand;
  hand.kernel(0, 500, 0);
  hand.kernel(900, 1000, 0);
  hand.finish();
  const Table table = hand.report(report_gpu_util);  // 1000 ns: 100 pieces of 10
  ASSERT_EQ(table.rows(), 100u);
  EXPECT_EQ(row_text(table, 49, {"start", "length", "busy", "busy_percent"}), "490 | 10 | 10 | 100.00");
  EXPECT_EQ(row_text(table, 50, {"start", "busy", "busy_percent", "sm_efficiency_percent"}), "500 | 0 | 0.00 | ");
  hand.selection.to_ns = 999;  // pieces of 10, the last one shorter
  const Table shorter = hand.report(report_gpu_util);
  ASSERT_EQ(shorter.rows(), 100u);
  EXPECT_EQ(row_text(shorter, 99, {"start", "length", "busy"}), "990 | 9 | 9");
  hand.selection.to_ns = 7;
  EXPECT_EQ(hand.report(report_gpu_util).rows(), 7u);
}

// 10 SMs of 2,048 threads. A: 5 blocks of 1,024 threads (half of the SMs, 25 % of their threads). B: 40 blocks (full).
TEST(GpuUtil, EstimatesHowFullTheDeviceWas) {
  HandTrace hand;
  hand.stream(0, 8);
  hand.trace.devices[0].properties = {{"numSms", 10}, {"maxThreadsPerMultiprocessor", 2048}};
  hand.kernel(0, 60, 0, 0, "A");
  hand.kernel(40, 80, 0, 1, "B");
  const auto shape = [&](size_t kernel, uint32_t blocks) {
    Kernel& row = hand.trace.kernels[kernel];
    row.grid[0] = blocks, row.block[0] = 1024;
    row.grid[1] = row.grid[2] = row.block[1] = row.block[2] = 1;
  };
  shape(1, 5);
  shape(2, 40);
  hand.kernel(99, 100, 0, 0, "A");
  hand.range("ProfilerStep#1", 0, 100, RangeKind::Annotation);
  hand.range("ProfilerStep#2", 100, 200, RangeKind::Annotation);
  hand.finish();
  hand.options.window = "step";
  const Table table = hand.report(report_gpu_util);
  ASSERT_EQ(table.rows(), 2u);
  // A alone 0-40 and 99-100 at 0.5, B 40-80 at 1: (20.5 + 40) / 100. Occupancy: (61 · 25 + 40 · 100) / 101.
  EXPECT_EQ(row_text(table, 0, {"window", "busy", "busy_percent", "sm_efficiency_percent", "occupancy_percent"}),
            "ProfilerStep#1 | 81 | 81.00 | 60.50 | 54.70");
  EXPECT_EQ(row_text(table, 1, {"window", "busy", "sm_efficiency_percent", "occupancy_percent"}),
            "ProfilerStep#2 | 0 | 0.00 | ");
}

}  // namespace
}  // namespace prof::analyzer
