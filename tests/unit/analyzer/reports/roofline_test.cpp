// How much of a row's time is lost, and for which time that is unknown: computed by hand with the peaks of an H200,
// 4800 bytes per nanosecond.
#include "analyzer/reports/roofline.h"
#include "analyzer/reports/reports.h"

#include "tests/unit/analyzer/analysis/cost/operator_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace prof::analyzer {
namespace {

using namespace tests;

// 3 · 40,000,000 floats: 100 µs at the bandwidth.
constexpr std::string_view kAdd =
    R"(,"Input Dims":[[40000000],[40000000],[]],"Input type":["float","float","Scalar"],"Concrete Inputs":["","","1"])";
// 2·128·256·128 FLOPs in fp4, for which an H200 has no units.
constexpr std::string_view kFp4 =
    R"(,"Input Dims":[[128,64],[64,256],[1024],[2048],[],[],[],[]],"Input type":["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","c10::Float8_e4m3fn","c10::Float8_e4m3fn","","","Scalar","Scalar"],"Concrete Inputs":["","","","","","","15","False"])";

// An addition of 150 µs with a helper kernel of 20 µs, a kernel of 500 µs without a known formula, and a product
// without a peak of 300 µs with a helper kernel of 30 µs.
std::unique_ptr<Trace> step() {
  return TraceText()
      .range("step", 0, 90)
      .op("aten::add", 1, 20, kAdd)
      .kernel("vectorized_elementwise_kernel", 2, 100, 250)
      .kernel("workspace_reset", 5, 250, 270)
      .op("my::op", 21, 30)
      .kernel("mystery", 22, 300, 800)
      .op("aten::_scaled_mm", 31, 60, kFp4)
      .kernel("gemm_of_fp4", 32, 1000, 1300)
      .kernel("splitKreduce_kernel", 36, 1300, 1330)
      .import();
}

struct SaidReport {
  std::map<std::string, RoofPoint> rows;
  std::string note;  // the last note: the total loss
};
SaidReport report(const Trace& trace, std::string_view group) {
  const Views views(trace);
  const Selection selection;
  ReportOptions options;
  options.group_by = {std::string(group)};
  const AnalysisInput input{trace, views, selection, options};
  Estimates estimates(input, RowsAre::ByWork);
  SaidReport answer;
  for (const RoofPoint& point : roofline(input, estimates).points) answer.rows.emplace(point.name, point);
  answer.note = report_roofline(input).notes.back();
  return answer;
}

void expect_row(const SaidReport& report, const std::string& name, int64_t time_us, std::optional<int64_t> lost_us,
                int64_t unknown_us) {
  ASSERT_TRUE(report.rows.contains(name)) << name;
  const RoofPoint& row = report.rows.at(name);
  EXPECT_EQ(row.sums.total_ns, time_us * 1000) << name;
  EXPECT_EQ(row.lost_ns, lost_us ? std::optional(*lost_us * 1000) : std::nullopt) << name;
  EXPECT_EQ(row.sums.unknown_ns(), unknown_us * 1000) << name;
}

TEST(Roofline, AKernelWithoutAnIdealTimeIsNeitherLostNorGained) {
  const SaidReport kernels = report(*step(), "kernel");
  expect_row(kernels, "vectorized_elementwise_kernel", 150, 50, 0);
  expect_row(kernels, "workspace_reset", 20, std::nullopt, 20);
  expect_row(kernels, "mystery", 500, std::nullopt, 500);
  expect_row(kernels, "gemm_of_fp4", 300, std::nullopt, 300);
  EXPECT_EQ(kernels.note,
            "lost 50.000us of the 150.00us that have an ideal time, 15.0 % of 1.0000ms; the rest is unknown");
}

TEST(Roofline, AnOperatorsHelpersAreLostIfItsMainKernelHasAnIdealTime) {
  const SaidReport ops = report(*step(), "op");
  expect_row(ops, "aten::add", 170, 70, 0);
  expect_row(ops, "(no operator) mystery", 500, std::nullopt, 500);
  expect_row(ops, "aten::_scaled_mm", 330, std::nullopt, 330);
  EXPECT_EQ(ops.note, "lost 70.000us of the 170.00us that have an ideal time, 17.0 % of 1.0000ms; the rest is unknown");
}

TEST(Roofline, ARangeHasTheUnknownTimeOfWhatRanForItApart) {
  const SaidReport ranges = report(*step(), "range");
  expect_row(ranges, "step", 1000, 70, 830);
  EXPECT_EQ(ranges.note,
            "lost 70.000us of the 170.00us that have an ideal time, 17.0 % of 1.0000ms; the rest is unknown");
}

TEST(Roofline, TimeInWhichBothRanIsKnown) {
  // Half of the unknown kernel overlaps the addition.
  const auto trace = TraceText()
                         .range("step", 0, 90)
                         .op("aten::add", 1, 20, kAdd)
                         .kernel("vectorized_elementwise_kernel", 2, 100, 250)
                         .op("my::op", 21, 30)
                         .kernel("mystery", 22, 200, 300)
                         .import();
  expect_row(report(*trace, "range"), "step", 200, 50, 50);
}

}  // namespace
}  // namespace prof::analyzer
