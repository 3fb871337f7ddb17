// Which kernels ran for which range, and how often did the range run?
#include "analyzer/analysis/cost/kernel_claims.h"

#include "tests/unit/analyzer/analysis/cost/operator_trace.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <span>
#include <string>

namespace prof::analyzer {
namespace {

using tests::kMm;
using tests::TraceText;

// "range: kernels" of each run.
std::string runs_of(const Trace& trace, const KernelClaims& claims) {
  std::string text;
  claims.for_each_run([&](std::span<const KernelClaim> run) {
    text += fmt::format("{}:", trace.range_name(trace.ranges[run.front().range]));
    for (const KernelClaim& each : run)
      text += fmt::format(" {}", trace.text(trace.kernels[trace.operations[each.operation].detail].name));
    text += "; ";
  });
  return text;
}

TEST(KernelClaims, AreOfTheInnermostRangeWithACost) {
  const auto trace =
      TraceText()
          .op("aten::linear", 0, 50, R"(,"Input Dims":[[64,32],[16,32],[16]],"Input type":["float","float","float"])")
          .op("aten::mm", 10, 40, kMm)
          .kernel("gemm", 11, 100, 110)
          .kernel("reduce", 12, 110, 120)
          .kernel("fill", 45, 120, 130)
          .op("my::op", 52, 58)
          .kernel("own", 53, 130, 140)
          .kernel("alone", 60, 140, 150)
          .import();
  const Views views(*trace);
  const LibraryCalls calls(*trace);
  RangeCosts costs(*trace, calls, DataType::Unknown);
  const KernelClaims claims(*trace, views, calls, costs);
  EXPECT_EQ(runs_of(*trace, claims), "aten::linear: fill; aten::mm: gemm reduce; ");
  EXPECT_TRUE(claims.counted_inside(0));
  EXPECT_FALSE(claims.counted_inside(1));
  EXPECT_TRUE(claims.in_range(3));   // own, though its range has no cost
  EXPECT_FALSE(claims.in_range(4));  // alone
}

TEST(KernelClaims, OfTwoCallsOfAnOperatorAreTwoRuns) {
  const auto trace = TraceText()
                         .op("aten::mm", 0, 20, kMm)
                         .kernel("a", 1, 100, 110)
                         .op("aten::mm", 30, 50, kMm)
                         .kernel("b", 31, 110, 120)
                         .import();
  const Views views(*trace);
  const LibraryCalls calls(*trace);
  RangeCosts costs(*trace, calls, DataType::Unknown);
  EXPECT_EQ(runs_of(*trace, KernelClaims(*trace, views, calls, costs)), "aten::mm: a; aten::mm: b; ");
}

TEST(KernelClaims, AreNoneWithoutKernels) {
  const auto trace = TraceText().op("aten::mm", 0, 20, kMm).import();
  const Views views(*trace);
  const LibraryCalls calls(*trace);
  RangeCosts costs(*trace, calls, DataType::Unknown);
  EXPECT_EQ(runs_of(*trace, KernelClaims(*trace, views, calls, costs)), "");
}

}  // namespace
}  // namespace prof::analyzer
