// The costs of launches, copies and synchronisations; answers computed by hand.
#include "analyzer/model/memory_key.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

TEST(LaunchStats, KeepsTheSignOfTheDelayAndCountsShortKernels) {
  HandTrace hand;
  hand.launch(0, 5000, 1);
  hand.launch(10'000, 14'000, 2);
  hand.launch(50'000, 60'000, 3);
  hand.kernel(6000, 8000, 1, 0, "short");      // 2 us < its launch of 5 us
  hand.kernel(13'000, 43'000, 2, 0, "long");   // started before its launch returned: delay −1000
  hand.kernel(70'000, 81'000, 3, 0, "short");  // 11 us: not a short one
  hand.finish();
  const Table table = hand.report(report_launch_stats);
  ASSERT_EQ(table.rows(), 2u);
  const auto row = [&](size_t i) {
    return row_text(
        table, i,
        {"name", "api", "launches", "api_time", "api_avg", "operations", "delay_min", "delay_med", "delay_avg",
         "delay_max", "delay_negative", "gpu_time", "gpu_avg", "short", "launch_bound_percent"});
  };
  EXPECT_EQ(
      row(0),
      "long | cudaLaunchKernel | 1 | 4000 | 4000 | 1 | -1000 | -1000 | -1000 | -1000 | 1 | 30000 | 30000 | 0 | 0.0");
  EXPECT_EQ(
      row(1),
      "short | cudaLaunchKernel | 2 | 15000 | 7500 | 2 | 1000 | 5500 | 5500 | 10000 | 0 | 13000 | 6500 | 1 | 50.0");
  EXPECT_EQ(table.notes[0],
            "launch delay (GPU start - end of the call) of 3 operations: min -1.0000us, median 1.0000us, max 10.000us, "
            "sum 10.000us, below zero 1");
}

TEST(LaunchStats, CountsTheCallOfAGraphOnce) {
  HandTrace hand;
  hand.call("cudaGraphLaunch", 0, 100, 1);
  hand.kernel(200, 300, 1, 0, "a");
  hand.kernel(300, 500, 1, 0, "b");
  hand.finish();
  const Table apis = hand.report(report_launch_apis);
  ASSERT_EQ(apis.rows(), 1u);
  EXPECT_EQ(row_text(apis, 0, {"name", "launches", "api_time", "operations", "gpu_time", "delay_sum", "short"}),
            "cudaGraphLaunch | 1 | 100 | 2 | 300 | 300 | 0");
  const Table kernels = hand.report(report_launch_stats);
  EXPECT_EQ(row_text(kernels, 0, {"name", "launches", "api_avg", "operations"}), "b | 0 |  | 1");
  EXPECT_EQ(row_text(kernels, 1, {"name", "launches", "api_avg", "operations"}), "a | 1 | 100 | 1");
}

TEST(LaunchStats, GivesOthersNumbersWhenAsked) {
  HandTrace hand;
  hand.launch(0, 60'000, 1);
  hand.launch(70'000, 71'000, 2);
  hand.kernel(50'000, 52'000, 1);    // delay −10,000
  hand.kernel(272'000, 275'000, 2);  // delay 201,000
  hand.finish();
  hand.options.definitions = Definitions::Hta;
  const Table hta = hand.report(report_launch_stats);
  ASSERT_EQ(hta.rows(), 1u);
  EXPECT_EQ(row_text(hta, 0,
                     {"operations", "api_time", "gpu_time", "delay", "delay_max", "short", "runtime_outliers",
                      "delay_outliers"}),
            "2 | 61000 | 5000 | 201000 | 201000 | 1 | 1 | 1");
  EXPECT_EQ(hta.notes.size(), 1u);
  hand.options.definitions = Definitions::Nsys;
  const Table nsys = hand.report(report_launch_stats);
  ASSERT_EQ(nsys.rows(), 1u);
  EXPECT_EQ(
      row_text(nsys, 0, {"tid", "count", "queue_count", "t_avg_ns", "t_max_ns", "a_avg_ns", "q_avg_ns", "k_min_ns"}),
      "500 | 2 | 1 | 132500.0 | 205000.0 | 30500.0 | 201000.0 | 2000.0");
}

TEST(LaunchStats, ByHtaLaunchesThatItDoesNotKnowAreLeftOutAndSaid) {
  HandTrace hand;
  hand.launch(0, 10, 1);
  hand.call("cuLaunchKernel", 20, 30, 2);
  hand.call("cudaGraphLaunch_v10000", 40, 50, 3);
  hand.call("cudaLaunchCooperativeKernel", 60, 70, 4);
  hand.kernel(100, 110, 1);
  hand.kernel(200, 220, 2);
  hand.kernel(300, 330, 3);
  hand.kernel(400, 440, 3);
  hand.kernel(500, 550, 4);
  hand.finish();
  hand.options.definitions = Definitions::Hta;
  const Table table = hand.report(report_launch_stats);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(row_text(table, 0, {"operations", "gpu_time"}), "1 | 10");
  EXPECT_EQ(table.notes.at(1),
            "left out, because HTA's launch statistics do not count their launches: 1 of cuLaunchKernel, 2 of "
            "cudaGraphLaunch, 1 of cudaLaunchCooperativeKernel");
}

TEST(LaunchStats, AStreamWithoutOperationsMayHaveNoDevice) {
  HandTrace hand;
  hand.launch(0, 10, 1);
  hand.call("cudaStreamSynchronize", 20, 30);
  hand.kernel(5, 25, 1);
  hand.finish();
  hand.trace.streams.emplace_back().device = DeviceId{7};  // the result of an unreadable definition
  hand.selection.devices = {0};
  EXPECT_EQ(hand.report(report_launch_stats).rows(), 1u);
  EXPECT_EQ(hand.report(report_copies).rows(), 0u);
  EXPECT_EQ(hand.report(report_syncs).rows(), 0u) << "not known to be of device 0";
  hand.selection.devices.clear();
  EXPECT_EQ(row_text(hand.report(report_syncs), 0, {"blocked", "gpu_busy"}), "1 | 5");
}

TEST(Copies, SumUpByDirectionAndMemoryAndSayWhatWasExposed) {
  HandTrace hand;
  constexpr uint32_t kHtoD = 1, kPageable = 1 << 8, kPinned = 2 << 8, kToDevice = 3 << 16;
  const uint32_t second = hand.stream(0, 13);
  hand.launch(0, 10, 1);
  for (uint32_t i = 2; i <= 5; ++i) hand.call("cudaMemcpyAsync", 10 * i, 10 * i + 5, i);
  hand.kernel(100, 1100, 1);
  hand.copy(1000, 2000, 2, 100'000, kHtoD | kPinned | kToDevice, second);  // 100 of it overlaps the kernel
  hand.copy(3000, 4000, 3, 50'000, kHtoD | kPinned | kToDevice, second);
  hand.copy(5000, 5500, 4, 1000, kHtoD | kPageable | kToDevice, second);
  hand.fill(5400, 5600, 5, 64);  // overlaps the pageable copy by 100
  hand.finish();
  const Table table = hand.report(report_copies);
  ASSERT_EQ(table.rows(), 3u);
  const auto row = [&](size_t i) {
    return row_text(
        table, i,
        {"direction", "source_memory", "destination_memory", "pageable", "count", "bytes", "time", "bandwidth_gb_per_s",
         "small", "small_percent", "small_time_percent", "exposed", "exposed_percent"});
  };
  EXPECT_EQ(row(0), "HtoD | Pinned | Device |  | 2 | 150000 | 2000 | 75.000 | 1 | 50.0 | 50.0 | 1900 | 95.0");
  EXPECT_EQ(row(1), "HtoD | Pageable | Device | yes | 1 | 1000 | 500 | 2.000 | 1 | 100.0 | 100.0 | 400 | 80.0");
  EXPECT_EQ(row(2), "memset |  | Device |  | 1 | 64 | 200 | 0.320 | 1 | 100.0 | 100.0 |  | ");
}

TEST(Syncs, SayWhatTheyWaitedForAndWhetherTheGpuWasBusy) {
  HandTrace hand;
  hand.range("train", 0, 10'000);
  hand.launch(0, 10, 1);
  hand.kernel(100, 1000, 1);
  hand.call("cudaStreamSynchronize", 50, 1050, 2);
  hand.sync(SyncKind::Stream, 50, 1050, 2, 0);
  hand.call("cudaStreamSynchronize", 2000, 2010, 3);  // nothing left to wait for
  hand.sync(SyncKind::Stream, 2000, 2010, 3, 0);
  hand.call("cudaDeviceSynchronize", 3000, 3005, 4);
  hand.call("cudaMemcpy", 4000, 4900, 5);
  hand.copy(4100, 4800, 5, 64, 2 | 3 << 8 | 1 << 16);
  hand.call("cudaMemcpyAsync", 5000, 5010, 6);  // returned before its copy was done
  hand.copy(5100, 5200, 6, 64, 2 | 3 << 8 | 2 << 16);
  hand.finish();
  const Table table = hand.report(report_syncs);
  ASSERT_EQ(table.rows(), 3u);
  const auto row = [&](size_t i) {
    return row_text(table, i,
                    {"call", "waits_for", "calls", "blocked", "time", "max", "gpu_busy", "gpu_idle", "top_range"});
  };
  EXPECT_EQ(row(0), "cudaStreamSynchronize | stream 7 | 2 | 1 | 1010 | 1000 | 900 | 110 | train");
  EXPECT_EQ(row(1), "cudaMemcpy | copy on stream 7 | 1 | 1 | 900 | 900 | 700 | 200 | train");
  EXPECT_EQ(row(2), "cudaDeviceSynchronize | device | 1 | 0 | 5 | 5 | 0 | 5 | train");
}

TEST(Syncs, InALogAnEventIsOfTheStreamItWasRecordedOnLast) {
  HandTrace hand;
  hand.stream(0, 13);
  const auto record = [&](int64_t begin, uint32_t stream) {
    hand.call("cuEventRecord", begin, begin + 5, 0, 0, 0xe1);
    hand.trace.host.back().stream = HostStreamId{1 + stream};
  };
  hand.launch(0, 5, 1);
  hand.launch(5, 10, 2);
  hand.kernel(100, 500, 1, 0);
  hand.kernel(100, 900, 2, 1);
  record(20, 1);
  hand.call("cuEventSynchronize", 600, 910, 0, 0, 0xe1);  // the kernel on stream 13 is not done
  record(920, 0);
  hand.call("cuEventSynchronize", 930, 940, 0, 0, 0xe1);  // stream 7 is
  hand.finish();
  const Table table = hand.report(report_syncs);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(row_text(table, 0, {"call", "waits_for", "blocked", "time", "gpu_busy"}),
            "cuEventSynchronize | event on stream 13 | 1 | 310 | 300");
  EXPECT_EQ(row_text(table, 1, {"waits_for", "blocked", "time"}), "event on stream 7 | 0 | 10");
}

TEST(Memory, FollowsTheAllocatorToItsPeak) {
  HandTrace hand;
  hand.range("step", 0, 1000);
  hand.range("aten::empty", 100, 200);
  hand.range("aten::mm", 300, 400);
  hand.memory(0, -50, 0x900);  // older than the recording
  hand.memory(150, 1000, 0x1000);
  hand.memory(350, 500, 0x2000);
  hand.memory(360, -1000, 0x1000);
  hand.memory(370, 200, 0x1000);        // the same address again
  hand.memory(500, 10, 0x3000, kNone);  // host
  hand.finish();
  const Table table = hand.report(report_memory);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(row_text(table, 0,
                     {"where", "allocations", "allocated_bytes", "releases", "released_bytes", "peak_bytes",
                      "peak_time", "end_bytes", "older_releases", "peak_range"}),
            "device 0 | 3 | 1700 | 2 | 1050 | 1450 | 350 | 650 | 1 | step/aten::mm");
  EXPECT_EQ(row_text(table, 1, {"where", "peak_bytes", "peak_range"}), "host | 10 | step");
  const Table ops = hand.report(report_memory_ops);
  EXPECT_EQ(
      row_text(ops, 0, {"name", "allocations", "allocated_bytes", "largest_bytes", "live_at_peak_bytes", "end_bytes"}),
      "aten::empty | 1 | 1000 | 1000 | 1000 | 0");
  EXPECT_EQ(
      row_text(ops, 1, {"name", "allocations", "allocated_bytes", "largest_bytes", "live_at_peak_bytes", "end_bytes"}),
      "aten::mm | 2 | 700 | 500 | 500 | 700");
}

TEST(Memory, JoinsTheCallsOfALogByAddress) {
  HandTrace hand;
  const auto allocate = [&](std::string_view api, int64_t begin, uint64_t bytes, uint64_t address) {
    hand.call(api, begin, begin + 10, 0, 0, bytes);
    HostEvent& event = hand.trace.host.back();
    event.live_depth = memory_key(address);
    event.word = HostEvent::pack(event.api(), HostKind::Allocation, 0, 0);
  };
  allocate("cuMemAlloc_v2", 0, 4096, 0x7f0000000000);
  allocate("cuMemAlloc_v2", 20, 8192, 0x7f0000001000);
  allocate("cuMemFree_v2", 40, 0, 0x7f0000000000);
  allocate("cuMemHostAlloc", 60, 100, 0x500000000000);
  allocate("cuMemAddressReserve", 80, 1 << 30, 0x600000000000);
  allocate("cuMemFree_v2", 100, 0, 0x7f0000900000);
  hand.finish();
  const Table table = hand.report(report_memory);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(
      row_text(table, 0, {"where", "from", "peak_bytes", "peak_time", "end_bytes", "released_bytes", "older_releases"}),
      "device 0 | CUDA calls | 12288 | 30 | 8192 | 4096 | 1");
  EXPECT_EQ(row_text(table, 1, {"where", "peak_bytes"}), "host | 100");
}

}  // namespace
}  // namespace prof::analyzer
