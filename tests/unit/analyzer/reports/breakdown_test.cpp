// How a device's time is divided, in every window and by the definitions of several tools; answers computed by hand.
#include "analyzer/reports/breakdown.h"
#include "analyzer/analysis/select/window_sums.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <random>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

constexpr uint32_t kHostToDevice = 1;

// Two streams of one device:
//   stream 0  gemm 0-100, copy 140-200, memset 200-210, gemm 300-400
//   stream 1  ncclDevKernel 50-150
// All but the memset were launched inside an operator.
void fill_overlapping(HandTrace& hand) {
  hand.stream(0, 8);
  hand.range("aten::op", 0, 20);
  for (uint32_t id = 1; id <= 4; ++id) hand.launch(id, id + 1, id);
  hand.launch(30, 31, 5);
  hand.kernel(0, 100, 1, 0, "gemm");
  hand.kernel(50, 150, 2, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  hand.copy(140, 200, 3, 4096, kHostToDevice);
  hand.fill(200, 210, 5, 64);
  hand.kernel(300, 400, 4, 0, "gemm");
  hand.finish();
}

std::vector<DeviceBreakdown> break_hand(HandTrace& hand, const std::vector<Window>& windows,
                                        const BreakdownRules& rules) {
  return break_down({hand.trace, hand.views(), hand.selection, hand.options}, windows, rules);
}

// "what: time" of every row of the report.
std::string times(const Table& table) {
  std::string text;
  for (size_t row = 0; row < table.rows(); ++row) {
    text += (row == 0 ? "" : "; ") + tests::cell_text(table, row, "what") + " " + tests::cell_text(table, row, "time");
  }
  return text;
}

TEST(Breakdown, DividesTheWindowWithoutCountingOverlapsTwice) {
  HandTrace hand;
  fill_overlapping(hand);
  const std::vector<DeviceBreakdown> devices = break_hand(hand, {{"gpu", 0, 400}}, {});
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].first_ns, 0);
  EXPECT_EQ(devices[0].last_ns, 400);
  const Breakdown& whole = devices[0].windows.at(0);
  EXPECT_EQ(whole.busy_ns, 310);  // 0-210 and 300-400
  EXPECT_EQ(whole.idle_ns(), 90);
  EXPECT_EQ(whole.compute_ns, 200);
  EXPECT_EQ(whole.communication_ns, 100);
  EXPECT_EQ(whole.hidden_communication_ns(), 50);  // 50-100
  EXPECT_EQ(whole.exposed_communication_ns, 50);   // 100-150
  EXPECT_EQ(whole.memory_ns, 70);                  // 140-210
  EXPECT_EQ(whole.exposed_memory_ns, 60);          // 150-210
  EXPECT_EQ(whole.compute_ns + whole.exposed_communication_ns + whole.exposed_memory_ns + whole.idle_ns(), 400);
  EXPECT_EQ(whole.sum_ns, 370);
  EXPECT_EQ(whole.kernel_sum_ns, 300);
  EXPECT_EQ(whole.operations, 5u);
  EXPECT_EQ(whole.kernels, 3u);
  EXPECT_EQ(whole.unlinked, 0u);
  EXPECT_EQ(whole.linked_busy_ns, 310);
}

TEST(Breakdown, CutsOperationsAtTheEdgesOfWindows) {
  HandTrace hand;
  fill_overlapping(hand);
  const std::vector<DeviceBreakdown> devices = break_hand(hand, {{"a", 0, 100}, {"b", 100, 400}, {"c", 60, 70}}, {});
  ASSERT_EQ(devices.size(), 1u);
  const std::vector<Breakdown>& in = devices[0].windows;
  ASSERT_EQ(in.size(), 3u);
  EXPECT_EQ(in[0].busy_ns, 100);
  EXPECT_EQ(in[0].sum_ns, 150);  // 100 of the first gemm, 50 of nccl
  EXPECT_EQ(in[0].operations, 2u);
  EXPECT_EQ(in[1].busy_ns, 210);
  EXPECT_EQ(in[1].sum_ns, 220);
  EXPECT_EQ(in[1].operations, 4u);
  EXPECT_EQ(in[1].communication_ns, 50);
  EXPECT_EQ(in[1].exposed_communication_ns, 50);
  EXPECT_EQ(in[2].sum_ns, 20);
  EXPECT_EQ(in[2].hidden_communication_ns(), 10);
  EXPECT_EQ(in[2].idle_ns(), 0);
}

TEST(Breakdown, GivesTheNumbersOfOtherToolsUnderTheirDefinitions) {
  HandTrace hand;
  fill_overlapping(hand);
  hand.options.definitions = Definitions::Hta;
  EXPECT_EQ(times(hand.report(report_breakdown)),
            "idle_time 90; compute_time 200; non_compute_time 110; kernel_time 400; comm_comp_overlap 50");
  // The memset was launched by no operator. It counts, because its call is in the trace.
  hand.options.definitions = Definitions::TraceLens;
  EXPECT_EQ(times(hand.report(report_breakdown)),
            "computation_time 210; exposed_comm_time 50; exposed_memcpy_time 50; busy_time 310; idle_time 90; "
            "total_time 400; total_comm_time 100; total_memcpy_time 60");
  // 300 ns of kernels in a wall time of 200 ns.
  hand.options.definitions = Definitions::Reference;
  hand.options.wall_ms = 0.0002;
  const Table reference = hand.report(report_breakdown);
  EXPECT_EQ(tests::row_text(reference, 1, {"what", "counted", "time", "wall_percent", "window_percent"}),
            "GPU busy | sum | 300 | 150.00 | 75.00");
}

TEST(Breakdown, TypesKernelsAsTheirToolsDoButTellsCopiesByKind) {
  HandTrace hand;
  hand.launch(0, 1, 1);
  hand.kernel(0, 10, 1, 0, "hipGemmKernel");      // communication by the rules of Holistic Trace Analysis
  hand.kernel(20, 40, 1, 0, "MemcpyLikeKernel");  // memory by its rules
  hand.kernel(50, 90, 1, 0, "multimem_all_reduce_kernel");
  hand.copy(100, 180, 1, 1, kHostToDevice);
  hand.finish();
  const std::vector<Window> all = {{"gpu", 0, 180}};
  const Breakdown ours = break_hand(hand, all, {}).at(0).windows.at(0);
  EXPECT_EQ(ours.compute_ns, 30);
  EXPECT_EQ(ours.communication_ns, 40);
  EXPECT_EQ(ours.memory_ns, 80);
  BreakdownRules rules;
  rules.kernels = BreakdownRules::Kernels::Hta;
  const Breakdown hta = break_hand(hand, all, rules).at(0).windows.at(0);
  EXPECT_EQ(hta.compute_ns, 40);
  EXPECT_EQ(hta.communication_ns, 10);
  EXPECT_EQ(hta.memory_ns, 100);
  rules.kernels = BreakdownRules::Kernels::NcclInName;
  EXPECT_EQ(break_hand(hand, all, rules).at(0).windows.at(0).compute_ns, 70);
}

TEST(Breakdown, TraceLensCountsWhatGraphsReplayAndNothingWithoutItsCall) {
  HandTrace hand;
  hand.range("aten::op", 0, 20);
  hand.launch(2, 7, 1);
  hand.call("cudaGraphLaunch", 30, 35, 2);
  hand.kernel(10, 15, 1);
  for (int64_t i = 0; i < 4; ++i) hand.kernel(40 + 100 * i, 140 + 100 * i, 2);
  hand.kernel(500, 900, 99);  // its call is not in the trace
  hand.finish();
  hand.options.definitions = Definitions::TraceLens;
  EXPECT_EQ(times(hand.report(report_breakdown)),
            "computation_time 405; exposed_comm_time 0; exposed_memcpy_time 0; busy_time 405; idle_time 25; "
            "total_time 430; total_comm_time 0; total_memcpy_time 0");
}

TEST(Breakdown, TraceLensKnowsCollectivesAndTheCopyKernelsOfRocmByName) {
  HandTrace hand;
  const char* const names[] = {"ncclDevKernel",
                               "void rcclGenericKernel<1>()",
                               "cross_device_reduce_1stage",
                               "__amd_rocclr_copyBuffer.kd",
                               "MEMORY_COPY_HOST_TO_DEVICE",
                               "__amd_rocclr_fillBufferAligned",
                               "my__amd_rocclr_copyBuffer"};
  uint32_t id = 0;
  for (const char* const name : names) {
    ++id;
    hand.launch(id, id + 1, id);
    hand.kernel(100 * id, 100 * id + 10, id, 0, name);
  }
  hand.finish();
  hand.options.definitions = Definitions::TraceLens;
  EXPECT_EQ(times(hand.report(report_breakdown)),
            "computation_time 20; exposed_comm_time 30; exposed_memcpy_time 20; busy_time 70; idle_time 540; "
            "total_time 610; total_comm_time 30; total_memcpy_time 20");
}

// Process 100: device 0 runs 0-100, launch known; its device 1 runs 50-150, launch unknown. Process 200 has the same
// correlation ids: device 0 runs 0-40.
void fill_two_processes(HandTrace& hand) {
  const uint32_t device1 = hand.device(0, 1), stream1 = hand.stream(device1, 7);
  const uint32_t process = hand.process(200), thread = hand.thread(process, 600);
  const uint32_t stream2 = hand.stream(hand.device(process, 0), 7);
  hand.launch(0, 5, 1);
  hand.launch(0, 5, 1, thread);
  hand.kernel(0, 100, 1);
  hand.kernel(50, 150, 9, stream1);
  hand.kernel(0, 40, 1, stream2);
  hand.finish();
}

TEST(Breakdown, SumsOverDevicesWhatItSaysOfEach) {
  HandTrace hand;
  fill_two_processes(hand);
  const Table table = hand.report(report_breakdown);
  const auto busy_rows = [&] {
    std::string text;
    for (size_t row = 0; row < table.rows(); ++row) {
      if (tests::cell_text(table, row, "what") != "busy") continue;
      text += tests::row_text(table, row, {"pid", "devices", "time", "window_percent"}) + "\n";
    }
    return text;
  };
  // 240 of three times 150.
  EXPECT_EQ(busy_rows(), "100 | 0 | 100 | 66.67\n100 | 1 | 100 | 66.67\n200 | 0 | 40 | 26.67\n | all | 240 | 53.33\n");
  const std::vector<DeviceBreakdown> devices = break_hand(hand, {{"gpu", 0, 150}}, {});
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[1].windows[0].unlinked, 1u);
  EXPECT_EQ(devices[1].windows[0].unlinked_sum_ns, 100);
  EXPECT_EQ(devices[1].windows[0].linked_busy_ns, 0);
  EXPECT_EQ(devices[2].windows[0].unlinked, 0u);
  BreakdownRules merged;
  merged.merge_devices = true;
  const std::vector<DeviceBreakdown> ranks = break_hand(hand, {{"gpu", 0, 150}}, merged);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].windows[0].busy_ns, 150);
  EXPECT_EQ(ranks[1].last_ns, 40);
}

TEST(Breakdown, SharesAreOfTheWallTimeGivenToo) {
  HandTrace hand;
  fill_two_processes(hand);
  hand.options.wall_ms = 0.0003;
  hand.selection.devices = {0};
  const Table table = hand.report(report_breakdown);
  ASSERT_GT(table.rows(), 2u);
  EXPECT_EQ(tests::row_text(table, 2, {"what", "wall_percent", "busy_percent"}), "busy | 33.33 | 100.00");
  // Two devices are selected, each with 300 ns of wall time: 140 of 600.
  EXPECT_EQ(tests::row_text(table, table.rows() - 1, {"devices", "what", "operations", "time", "wall_percent"}),
            "all | operations | 2 | 140 | 23.33");
}

TEST(Breakdown, OfNoOperationsIsEmpty) {
  HandTrace hand;
  hand.launch(0, 5, 1);
  hand.finish();
  EXPECT_EQ(hand.report(report_breakdown).rows(), 0u);
}

TEST(WindowSums, AgreeWithCountingOneByOne) {
  std::mt19937 random(7);
  const auto moment = [&] { return static_cast<int64_t>(random() % 50); };
  for (int round = 0; round < 200; ++round) {
    std::vector<Window> windows;
    for (int i = 0; i < 4; ++i) {
      const int64_t begin = moment();
      windows.push_back({"", begin, begin + 1 + moment()});
    }
    WindowSums sums(windows);
    std::vector<Interval> all;
    for (int i = 0; i < 20; ++i) {
      const int64_t begin = moment();
      all.push_back({begin, begin + moment() - 10});  // some are reversed, and therefore empty
      sums.add(all.back().begin_ns, all.back().end_ns);
    }
    for (const Window& window : windows) {
      WindowSums::Sum expected;
      for (const auto& [begin, end] : all) {
        expected.ns += std::max<int64_t>(0, std::min(end, window.end_ns) - std::max(begin, window.begin_ns));
        const bool begins_inside = begin >= window.begin_ns && begin < window.end_ns;
        if (begins_inside || (begin < window.begin_ns && end > window.begin_ns)) ++expected.count;
      }
      EXPECT_EQ(sums.in(window).ns, expected.ns);
      EXPECT_EQ(sums.in(window).count, expected.count);
    }
  }
}

}  // namespace
}  // namespace prof::analyzer
