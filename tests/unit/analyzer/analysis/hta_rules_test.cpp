// Which events does Holistic Trace Analysis count, and as what? The answers are those of HTA 0.6 on the same events.
#include "analyzer/analysis/hta_rules.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

TEST(HtaRules, ClassifiesByTheNameAlone) {
  EXPECT_EQ(hta_class("ncclDevKernel_AllReduce"), HtaClass::Communication);
  EXPECT_EQ(hta_class("void ncclKernel_Sum()"), HtaClass::Communication);
  EXPECT_EQ(hta_class("hipMemcpyAsync"), HtaClass::Communication);
  EXPECT_EQ(hta_class("Memcpy HtoD (Pageable -> Device)"), HtaClass::Memory);
  EXPECT_EQ(hta_class("Memset (Device)"), HtaClass::Memory);
  EXPECT_EQ(hta_class("batchedMemcpyKernel"), HtaClass::Other);
  EXPECT_EQ(hta_class("void SyncBatchNorm<float>()"), HtaClass::Other);
  EXPECT_EQ(hta_class("Stream Wait Event"), HtaClass::Other);
  EXPECT_EQ(hta_class("cudaGraphLaunchKernel"), HtaClass::Other);
  EXPECT_EQ(hta_class("gemm"), HtaClass::Computation);
  EXPECT_EQ(hta_class("mycudaLaunchKernel"), HtaClass::Computation);
}

TEST(HtaRules, KnowsLaunchesByTheirNames) {
  HandTrace hand;
  const char* const apis[] = {"cudaLaunchKernel",
                              "cudaLaunchKernelExC_v11060",
                              "cuLaunchKernel",
                              "cuLaunchKernelEx",
                              "cudaLaunchCooperativeKernel",
                              "cudaGraphLaunch",
                              "cudaMemcpyAsync",
                              "cudaMemcpy",
                              "hipLaunchKernel"};
  const std::vector<bool> queue = {true, true, true, true, false, false, true, false, true};
  const std::vector<bool> statistics = {true, true, false, false, false, false, true, false, false};
  int64_t now = 0;
  for (const char* const api : apis) {
    const auto id = static_cast<uint32_t>(now / 10 + 1);
    hand.call(api, now, now + 1, id);
    hand.kernel(now + 2, now + 3, id);
    now += 10;
  }
  hand.kernel(now, now + 1, 999);  // no launch
  hand.finish();
  const HtaRules rules(hand.trace);
  for (size_t i = 0; i < queue.size(); ++i) {
    SCOPED_TRACE(apis[i]);
    EXPECT_EQ(rules.in_queue_length(hand.trace.operations[i]), queue[i]);
    EXPECT_EQ(rules.in_launch_statistics(hand.trace.operations[i]), statistics[i]);
    EXPECT_TRUE(rules.counts(hand.trace.operations[i]));
  }
  EXPECT_TRUE(rules.counts(hand.trace.operations.back()));
  EXPECT_FALSE(rules.in_queue_length(hand.trace.operations.back()));
}

// Calls: 1 in step 1, 2 in step 2, 3 after it. An operation without a call.
void fill_steps(HandTrace& hand, bool second_step) {
  hand.range("ProfilerStep#1", 0, 100, RangeKind::Annotation);
  if (second_step) hand.range("ProfilerStep#2", 100, 200, RangeKind::Annotation);
  hand.launch(10, 20, 1);
  hand.launch(200, 210, 2);  // at the very end of the last step
  hand.launch(201, 211, 3);
  hand.kernel(30, 40, 1);
  hand.kernel(250, 260, 2);
  hand.kernel(300, 310, 3);
  hand.kernel(400, 410, 999);
  hand.finish();
}

TEST(HtaRules, SeveralStepsLeaveOutWhatNoCallUpToTheirEndLaunched) {
  HandTrace hand;
  fill_steps(hand, true);
  const HtaRules rules(hand.trace);
  std::vector<bool> counts;
  for (const GpuOperation& operation : hand.trace.operations) counts.push_back(rules.counts(operation));
  EXPECT_EQ(counts, (std::vector<bool>{true, true, false, false}));
  hand.options.definitions = Definitions::Hta;
  const Table table = hand.report(report_breakdown);
  EXPECT_EQ(row_text(table, 0, {"what", "time"}), "idle_time | 210");
  EXPECT_EQ(row_text(table, 3, {"what", "time"}), "kernel_time | 230");  // 30 to 260
}

TEST(HtaRules, OneStepLeavesOutNothing) {
  HandTrace hand;
  fill_steps(hand, false);
  const HtaRules rules(hand.trace);
  for (const GpuOperation& operation : hand.trace.operations) EXPECT_TRUE(rules.counts(operation));
}

TEST(HtaRules, SynchronisationsWithAStreamAreBusyTimeThatDoesNotCompute) {
  HandTrace hand;
  hand.launch(0, 5, 1);
  hand.call("cudaStreamSynchronize", 10, 70, 2);
  hand.call("cudaDeviceSynchronize", 80, 200, 3);
  hand.kernel(20, 50, 1);
  hand.sync(SyncKind::Stream, 40, 70, 2, 0);
  hand.sync(SyncKind::Context, 80, 200, 3, kNone);  // no stream: not a GPU event for HTA
  hand.call("cudaStreamSynchronize", 300, 310, 4);
  hand.sync(SyncKind::Stream, 300, 310, 4, 0);  // after the last operation
  hand.kernel(90, 100, 99);
  hand.finish();
  hand.options.definitions = Definitions::Hta;
  const Table hta = hand.report(report_breakdown);
  EXPECT_EQ(row_text(hta, 0, {"what", "time"}), "idle_time | 220");        // 70 to 90, 100 to 300
  EXPECT_EQ(row_text(hta, 1, {"what", "time"}), "compute_time | 40");      // 20 to 50, 90 to 100
  EXPECT_EQ(row_text(hta, 2, {"what", "time"}), "non_compute_time | 30");  // 50 to 70, 300 to 310
  EXPECT_EQ(row_text(hta, 3, {"what", "time"}), "kernel_time | 290");
  hand.options.definitions = Definitions::Ours;
  EXPECT_EQ(row_text(hand.report(report_breakdown), 1, {"what", "time"}), "idle | 40");
}

}  // namespace
}  // namespace prof::analyzer
