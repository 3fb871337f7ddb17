// Every rule of advise on a run of a few calls: the largest possible saving is computed by hand.
#include "tests/unit/analyzer/reports/advise/advised_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace prof::analyzer {
namespace {

using tests::AdvisedRun;
using tests::kDeviceToPageable;
using tests::launch_bound_loop;

TEST(Advise, LaunchCostLeavesTheWorkBetweenLaunchesAndTheLastKernel) {
  AdvisedRun run;
  launch_bound_loop(run, 20);
  EXPECT_EQ(run.found("launch-cost"), "1605 | 40 | 0 | 80") << "wall 1995; 19 times 20 ns of work and 10 of the kernel";
  EXPECT_EQ(run.found("short-kernels"), "") << "19 kernels behind another one are too few";
  EXPECT_EQ(run.found("host-work"), "380 | 19 | 80 | 100");
  EXPECT_EQ(run.evidence("launch-cost"), "launching kernels one by one; 20 launch calls, 1.6000us; most: kernel (20)");
}

TEST(Advise, LaunchCostNeedsTwentyLaunches) {
  AdvisedRun run;
  launch_bound_loop(run, 19);
  EXPECT_EQ(run.found("launch-cost"), "");
}

TEST(Advise, ShortKernelsKeepTheirOwnTime) {
  AdvisedRun run;
  launch_bound_loop(run, 21);
  EXPECT_EQ(run.found("short-kernels"), "1605 | 40 | 100 | 195")
      << "wall 2095; the first launch of 80, 20 times 20 ns of work, the last kernel's 10 are left";
}

TEST(Advise, WithoutSynchronizationTheHostRunsAhead) {
  AdvisedRun run;
  for (int64_t i = 0; i < 3; ++i) {
    run.launched(120 * i, 120 * i + 5, 120 * i + 10, 120 * i + 110);
    run.call("cudaStreamSynchronize", 120 * i + 5, 120 * i + 115, ++run.next_id);
  }
  EXPECT_EQ(run.found("synchronization"), "45 | 3 | 5 | 115") << "wall 355; three kernels of 100 behind 10";
}

TEST(Advise, ABlockingCopyIsNotWaitedFor) {
  AdvisedRun run;
  run.launched(0, 5, 10, 50);
  run.copied("cudaMemcpy", 6, 75, 52, 70, kDeviceToPageable);
  run.launched(80, 85, 90, 100);
  EXPECT_EQ(run.found("blocking-copy"), "20 | 1 | 6 | 75") << "the next kernel waits for the copy's end at 70 only";
}

TEST(Advise, AMemsetOfPinnedMemoryHoldsItsCallerAndOneOfDeviceMemoryDoesNot) {
  for (const uint32_t memory : {2u, 3u}) {
    AdvisedRun run;
    run.call("cudaMemset", 0, 30, ++run.next_id);
    run.fill(10, 25, run.next_id, 4096);
    run.trace.operations.back().detail = memory;
    run.launched(40, 45, 50, 60);
    // The call ends at 0, the launch is made at 10 and would start at 20, the memset ends at 25: 35 instead of 60.
    EXPECT_EQ(run.found("blocking-memset"), memory == 2 ? "25 | 1 | 0 | 30" : "");
    EXPECT_EQ(run.found("blocking-copy"), "");
  }
}

TEST(Advise, PageableCopiesTakeNoTimeNorDoTheirCalls) {
  AdvisedRun run;
  run.copied("cudaMemcpyAsync", 0, 20, 5, 15, 1 | 1 << 8 | 3 << 16);
  run.launched(30, 35, 40, 50);
  EXPECT_EQ(run.found("pageable-copy"), "20 | 2 | 0 | 20");
  EXPECT_EQ(run.found("exposed-copies"), "10 | 1 | 0 | 20") << "the copy's own 10, its call's 5 + 5 stay";
}

TEST(Advise, SmallCopiesLeaveTheWorkBetweenTheirCalls) {
  AdvisedRun run;
  for (int64_t i = 0; i < 10; ++i) run.copied("cudaMemcpyAsync", 20 * i, 20 * i + 10, 20 * i + 12, 20 * i + 18);
  EXPECT_EQ(run.found("small-copies"), "108 | 20 | 0 | 18") << "wall 198; nine times 10 ns are left";
}

TEST(Advise, CopiesThatOverlapStillTakeTheirSum) {
  AdvisedRun run;
  run.launched(0, 5, 10, 20);
  run.copied("cudaMemcpyAsync", 6, 8, 20, 60);
  EXPECT_EQ(run.found("exposed-copies"), "20 | 1 | 6 | 60") << "wall 60; without the copy 20, but it takes 40";
}

TEST(Advise, CopiesAreSmallUpTo64KiBAndManyFrom10) {
  for (const auto& [copies, bytes] : {std::pair{10, 65'536}, {10, 65'537}, {9, 65'536}}) {
    AdvisedRun run;
    for (int64_t i = 0; i < copies; ++i)
      run.copied("cudaMemcpyAsync", 20 * i, 20 * i + 10, 20 * i + 12, 20 * i + 18, tests::kPinnedToDevice,
                 static_cast<uint64_t>(bytes));
    EXPECT_EQ(run.found("small-copies").empty(), copies < 10 || bytes > 65'536) << copies << " of " << bytes;
  }
}

TEST(Advise, MovingLessDataSavesTheCopiesAndTheirCalls) {
  AdvisedRun run;
  run.launched(0, 5, 10, 20);
  run.copied("cudaMemcpyAsync", 6, 8, 20, 60);
  EXPECT_EQ(run.found("moved-data"), "40 | 2 | 6 | 60") << "nothing is left after the kernel";
  EXPECT_EQ(run.evidence("moved-data"),
            "data is moved between host and device, for 40ns of 60ns to device 0; 1 copies, 64 bytes, 40ns; 2ns in "
            "their calls");
}

TEST(Advise, CopiesWithinADeviceMoveNoDataOfTheHost) {
  AdvisedRun run;
  run.launched(0, 5, 10, 20);
  run.copied("cudaMemcpyAsync", 6, 8, 20, 60, 8 | 3 << 8 | 3 << 16);
  EXPECT_EQ(run.found("moved-data"), "");
}

TEST(Advise, MigrationsOfManagedMemoryAreNoCopiesOfTheProgram) {
  AdvisedRun run;
  run.launched(0, 5, 10, 20);
  for (int64_t i = 0; i < 12; ++i) run.copy(30 + 10 * i, 35 + 10 * i, 0, 4096, 1 | 1 << 8 | 5 << 16);
  for (const char* rule : {"moved-data", "small-copies", "repeated-copies", "slow-copies", "pageable-copy"})
    EXPECT_EQ(run.found(rule), "") << rule;
}

TEST(Advise, WhatIsCopiedAgainAndAgainCanStayOnTheDevice) {
  for (const int copies : {9, 10}) {
    AdvisedRun run;
    for (int64_t i = 0; i < copies; ++i) run.copied("cudaMemcpyAsync", 20 * i, 20 * i + 10, 20 * i + 12, 20 * i + 18);
    // The first copy and its call of 10 stay; the host's 10 ns between the calls remain.
    EXPECT_EQ(run.found("repeated-copies"), copies == 10 ? "98 | 18 | 20 | 38" : "");
  }
  AdvisedRun other_sizes;
  for (int64_t i = 0; i < 10; ++i)
    other_sizes.copied("cudaMemcpyAsync", 20 * i, 20 * i + 10, 20 * i + 12, 20 * i + 18, tests::kPinnedToDevice,
                       static_cast<uint64_t>(64 + i));
  EXPECT_EQ(other_sizes.found("repeated-copies"), "");
}

TEST(Advise, DataThatComesBackCanStayOnTheDevice) {
  constexpr uint32_t kToPinned = 2 | 3 << 8 | 2 << 16;
  AdvisedRun run;
  run.copied("cudaMemcpyAsync", 0, 5, 10, 30, kToPinned);
  run.copied("cudaMemcpyAsync", 40, 45, 50, 80);
  EXPECT_EQ(run.found("round-trips"), "45 | 4 | 40 | 80") << "35 ns of the host between the calls are left";
  AdvisedRun other_way;
  other_way.copied("cudaMemcpyAsync", 0, 5, 10, 30);
  other_way.copied("cudaMemcpyAsync", 40, 45, 50, 80, kToPinned);
  EXPECT_EQ(other_way.found("round-trips"), "") << "to the device first";
}

TEST(Advise, CopiesInOneBatchReachTheBestRate) {
  AdvisedRun run;
  for (int64_t i = 0; i < 10; ++i)
    run.copied("cudaMemcpyAsync", 20 * i, 20 * i + 10, 20 * i + 12, 20 * i + 18, tests::kPinnedToDevice,
               i == 9 ? 640 : 64);
  EXPECT_EQ(run.found("slow-copies"), "102 | 20 | 0 | 18") << "90 ns of the host, then the large copy's 6";
}

TEST(Advise, PinnedMemoryIsNotToBePinned) {
  for (const uint32_t kind : {tests::kPinnedToDevice, uint32_t{1 | 1 << 8 | 3 << 16}}) {
    AdvisedRun run;
    for (int64_t i = 0; i < 10; ++i)
      run.copied("cudaMemcpy", 1000 * i, 1000 * i + 900, 1000 * i + 100, 1000 * i + 890, kind);
    ASSERT_NE(run.found("exposed-copies"), "");
    ASSERT_NE(run.found("blocking-copy"), "");
    const bool pageable = kind != tests::kPinnedToDevice;
    EXPECT_EQ(run.found("pageable-copy") != "", pageable);
    for (size_t row = 0; row < run.advise().rows(); ++row) {
      if (pageable && run.cell(row, "rule") == "idle-device") continue;  // only the part in copies
      EXPECT_EQ(run.cell(row, "action").find("pin") != std::string::npos,
                pageable && (run.cell(row, "rule") == "exposed-copies" || run.cell(row, "rule") == "blocking-copy" ||
                             run.cell(row, "rule") == "pageable-copy"))
          << run.cell(row, "rule");
    }
  }
}

TEST(Advise, AllocationsCountInTheSecondHalf) {
  AdvisedRun run;
  run.launched(0, 5, 10, 20);
  for (const int64_t at : {30, 100, 120, 140}) run.call("cudaMalloc", at, at + 10, ++run.next_id);
  run.launched(160, 165, 170, 180);
  EXPECT_EQ(run.found("allocation"), "30 | 3 | 100 | 110");
}

TEST(Advise, WithoutTheDefaultStreamsOrderAStreamWaitsOnlyForItself) {
  AdvisedRun run;
  run.trace.processes[0].format = "prof log";
  run.stream(0, 13);
  run.launched(0, 5, 10, 50, 1, "blocking stream");
  run.launched(6, 8, 53, 70, 0, "default stream");
  run.launched(9, 11, 74, 90, 1, "blocking stream again");
  run.finish();
  run.trace.host_streams[1].type = 0, run.trace.host_streams[2].type = 2;
  run.table = std::make_unique<Table>(run.report(report_advise));
  EXPECT_EQ(run.found("default-stream"), "20 | 1 | 9 | 90") << "the third starts at 54, the second still ends at 70";
}

TEST(Advise, CommunicationIsTakenOut) {
  AdvisedRun run;
  run.launched(0, 5, 10, 40, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  run.launched(6, 8, 42, 50);
  EXPECT_EQ(run.found("communication"), "30 | 1 | 0 | 40");
}

TEST(Advise, OneKernelDominates) {
  AdvisedRun run;
  run.launched(0, 5, 10, 70, 0, "big");
  run.launched(6, 8, 72, 80, 0, "small");
  EXPECT_EQ(run.found("dominating-kernel"), "60 | 1 | 0 | 70");
  EXPECT_EQ(run.evidence("dominating-kernel"),
            "one kernel takes much of the GPU's time: big; 1 times, 60ns of 68ns of all operations");
}

TEST(Advise, AFullQueueHoldsTheLaunchesBehindIt) {
  AdvisedRun run;
  run.stream(0, 8);
  // 1,200 kernels of 1,000 ns, launched every 10 ns. If 1,000 are outstanding, the launch returns when the next kernel
  // ends: 190.
  int64_t host = 0;
  for (int64_t i = 0; i < 1200; ++i) {
    const int64_t room = i < 1000 ? 0 : 20 + 1000 * (i - 999), end = std::max(host + 5, room);
    run.launched(host, end, 20 + 1000 * i, 20 + 1000 * (i + 1));
    host = end + 5;
  }
  run.launched(host, host + 5, host + 10, host + 2'000'010, 1, "behind the queue");
  const int64_t not_held = 1010 * 10 + 190 * 5;
  const std::string found = run.found("full-queue");
  EXPECT_EQ(found.substr(0, found.find(" |", found.find('|') + 1)), std::to_string(host - not_held) + " | 190");
}

TEST(Advise, AFewLaunchesAreSlow) {
  AdvisedRun run;
  int64_t at = 0;
  for (int i = 0; i < 6; ++i) {
    const int64_t took = i == 2 ? 101'000 : 1'000;
    run.launched(at, at + took, at + took + 10, at + took + 20);
    at += took + 100;
  }
  EXPECT_EQ(run.found("slow-launches"), "101000 | 1 | 2200 | 103200");
}

TEST(Advise, OtherCallsTakeTheHostsTime) {
  AdvisedRun run;
  run.launched(0, 5, 8, 9);
  run.call("cuModuleLoadData", 10, 60, ++run.next_id);
  run.launched(70, 75, 80, 90);
  EXPECT_EQ(run.found("other-call"), "50 | 1 | 10 | 60");
}

TEST(Advise, TheHostsWorkIsNamedByTheRangeItIsIn) {
  AdvisedRun run;
  run.range("forward", 5, 55);
  run.launched(0, 5, 8, 10);
  run.launched(65, 70, 75, 80);
  EXPECT_EQ(run.found("host-work"), "60 | 2 | 5 | 65");
  EXPECT_EQ(run.found("host-work-in"), "50 | 1 | 5 | 55") << "10 ns outside the range stay";
  EXPECT_EQ(run.evidence("host-work-in"), "the host's own work in forward; 50ns outside CUDA calls, before 1 calls");
}

TEST(Advise, ADeviceIsIdleBecauseOfWhatTheHostDid) {
  AdvisedRun run;
  run.range("load", 6, 60);
  run.launched(0, 5, 10, 20);
  run.launched(70, 75, 80, 90);
  EXPECT_EQ(run.found("idle-device"), "40 | 1 | 20 | 60\n10 | 2 | 0 | 5\n10 | 1 | 60 | 70")
      << "the range, the launch calls, and the time after the range";
  EXPECT_EQ(run.evidence("idle-device"),
            "device 0 is idle because of the host: in an op, load; 1 gaps, 40ns of 70ns idle");
  EXPECT_EQ(
      run.evidence("low-use"),
      "device 0 works for less than half of the time because of the host: in an op load; busy 20ns of 90ns; in 23 "
      "of 30 equal parts of the window for less than half; the host fills 60ns of 70ns idle before operations: in "
      "an op load 40ns, launch call cudaLaunchKernel 10ns, outside any call 10ns");
  EXPECT_EQ(run.found("low-use").substr(0, 2), "70") << "wall 90; two kernels of 10 are left";
}

TEST(Advise, AKernelWithFewBlocksKeepsItsShareOfTheSms) {
  AdvisedRun run;
  run.launched(0, 5, 10, 50);
  run.trace.devices[0].properties = {{"numSms", 4}};
  Kernel& kernel = run.trace.kernels.back();
  kernel.grid[0] = 2, kernel.grid[1] = kernel.grid[2] = 1;
  kernel.block[0] = 32, kernel.block[1] = kernel.block[2] = 1;
  EXPECT_EQ(run.found("small-grid"), "20 | 1 | 0 | 50") << "2 of 4 SMs: half of 40 ns";
}

TEST(Advise, OneDeviceIsIdleWhileAnotherOneWorks) {
  AdvisedRun run;
  run.device(0, 1);
  run.stream(1, 8);
  run.launched(0, 2, 10, 20, 1, "short");
  run.launched(3, 5, 10, 50, 0, "long");
  run.launched(6, 8, 52, 90, 0, "longer");
  EXPECT_EQ(run.found("device-imbalance"), "46 | 2 | 52 | 90") << "88 ns of work on two devices: 44 each";
  EXPECT_EQ(run.evidence("device-imbalance"),
            "device 0 of pid 100 works while others of the process are idle; busy 78ns, "
            "the 2 devices on average 44ns; alone or with fewer for 68ns");
}

TEST(Advise, EvenDevicesAreNoFinding) {
  AdvisedRun run;
  run.device(0, 1);
  run.stream(1, 8);
  run.launched(0, 2, 10, 50, 0);
  run.launched(3, 5, 10, 45, 1);
  EXPECT_EQ(run.found("device-imbalance"), "");
}

// Rank 1 computes until 60 and enters the collective at 62; the kernel of rank 0 has waited since 10.
void two_ranks(AdvisedRun& run) {
  constexpr std::string_view kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  run.process(200);
  run.trace.processes[1].rank = 1;
  run.thread(1, 600);
  run.device(1, 0);
  run.stream(1, 7);
  run.launched(0, 5, 10, 100, 0, kReduce);
  run.launched(0, 5, 6, 60, 1, "compute", 1);
  run.launched(7, 9, 62, 100, 1, kReduce, 1);
  for (Process& process : run.trace.processes) process.host = "node";
}

TEST(Advise, ARankWaitsInACollectiveForALaterOne) {
  AdvisedRun run;
  two_ranks(run);
  EXPECT_EQ(run.found("late-rank"), "52 | 5 | 10 | 100") << "the collective's own 38 ns behind rank 0's launch at 10";
  EXPECT_EQ(run.evidence("late-rank"),
            "other processes wait in communication kernels for rank 1 (pid 200); it comes last to "
            "1 of 1 collectives; the others' kernels wait 52ns for it, at most 52ns");
}

// As two_ranks(), with times a thousand times as long and several collectives; rank 1's clock is ahead.
void ranks_with_clocks(AdvisedRun& run, int64_t collectives, int64_t ahead_ns, int64_t jitter_ns = 0) {
  constexpr std::string_view kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  run.process(200);
  run.trace.processes[1].rank = 1;
  run.thread(1, 600);
  run.device(1, 0);
  run.stream(1, 7);
  for (int64_t k = 0; k < collectives; ++k) {
    const int64_t t = k * 1'000'000, there = t + ahead_ns + (k % 2 == 0 ? jitter_ns : -jitter_ns);
    run.launched(t, t + 5'000, t + 10'000, t + 100'000, 0, kReduce);
    run.launched(there, there + 5'000, there + 6'000, there + 60'000, 1, "compute", 1);
    run.launched(there + 7'000, there + 9'000, there + 62'000, there + 100'000, 1, kReduce, 1);
  }
}

TEST(Advise, TheLateRankIsFoundAlsoIfClocksOfHostsDiffer) {
  for (const int64_t ahead_ns : {int64_t{0}, int64_t{3'000'000}, int64_t{10'000}, int64_t{10'001}}) {
    AdvisedRun run;
    ranks_with_clocks(run, 5, ahead_ns);
    ASSERT_NE(run.found("late-rank"), "") << ahead_ns;
    const std::string longest = ahead_ns == 10'000 ? "62.000us" : "52.000us";  // so small a difference is kept
    EXPECT_TRUE(run.evidence("late-rank")
                    .starts_with("other processes wait in communication kernels for rank 1 (pid "
                                 "200); it comes last to 5 of 5 collectives;"));
    EXPECT_TRUE(run.evidence("late-rank").ends_with("at most " + longest)) << run.evidence("late-rank");
    EXPECT_FALSE(run.has_note("late-rank: cannot tell"));
  }
}

TEST(Advise, ClocksThatNoDriftExplainsHideTheLateRank) {
  AdvisedRun run;
  ranks_with_clocks(run, 6, 3'000'000, 900'000);
  EXPECT_EQ(run.found("late-rank"), "");
  EXPECT_TRUE(run.has_note("late-rank: cannot tell"));
}

TEST(Advise, TwoCollectivesDoNotShowWhoIsLate) {
  for (const int64_t collectives : {2, 3}) {
    AdvisedRun run;
    ranks_with_clocks(run, collectives, 0);
    EXPECT_EQ(run.found("late-rank").empty(), collectives == 2);
    EXPECT_EQ(run.has_note("late-rank: cannot tell"), collectives == 2);
  }
}

TEST(Advise, ProcessesOfOneHostHaveOneClock) {
  AdvisedRun run;
  ranks_with_clocks(run, 5, 400'000);
  for (Process& process : run.trace.processes) process.host = "node";
  EXPECT_EQ(run.found("late-rank"), "") << "these kernels are no collectives";
  EXPECT_FALSE(run.has_note("late-rank"));
}

TEST(Advise, KernelsThatDoNotEndTogetherAreNoCollective) {
  AdvisedRun run;
  constexpr std::string_view kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  run.process(200);
  run.thread(1, 600);
  run.device(1, 0);
  run.stream(1, 7);
  run.launched(0, 5, 10, 100'000, 0, kReduce);
  run.launched(0, 5, 80'000, 140'000, 1, kReduce, 1);
  EXPECT_EQ(run.found("late-rank"), "");
}

TEST(Advise, ASelectionAsksOnlyAboutItsPartOfTheRun) {
  AdvisedRun run;
  run.device(0, 1);
  run.stream(1, 8);
  run.launched(0, 2, 10, 20, 1, "short");
  run.launched(3, 5, 10, 50, 0, "long");
  run.launched(6, 8, 52, 90, 0, "long");
  run.selection.devices = {1};
  EXPECT_EQ(run.found("dominating-kernel"), "") << "'short' dominates device 1, but nothing waits for it";
  EXPECT_EQ(run.found("host-work"), "");
  run.table = nullptr, run.selection.devices = {0};
  run.table = std::make_unique<Table>(run.report(report_advise));
  EXPECT_EQ(run.found("dominating-kernel"), "70 | 2 | 3 | 50") << "wall 90; then device 1 ends last, at 20";
}

TEST(Advise, EachOfSeveralWindowsIsAskedByItself) {
  AdvisedRun run;
  for (int64_t step = 0; step < 3; ++step) {
    run.range("ProfilerStep#" + std::to_string(step), 100 * step, 100 * step + 95, RangeKind::Annotation);
    run.range("load", 100 * step + 6, 100 * step + 60);
    run.launched(100 * step, 100 * step + 5, 100 * step + 10, 100 * step + 20);
    run.launched(100 * step + 70, 100 * step + 75, 100 * step + 80, 100 * step + 90);
  }
  run.options.window = "step";
  run.finish();
  run.table = std::make_unique<Table>(run.report(report_advise));
  EXPECT_EQ(run.found("idle-device"),
            "40 | 1 | 20 | 60\n10 | 1 | 60 | 70\n10 | 2 | 0 | 5\n40 | 1 | 120 | 160\n10 | 1 | 160 | 170\n10 | 2 | "
            "100 | 105\n40 | 1 | 220 | 260\n10 | 2 | 200 | 205\n10 | 1 | 260 | 270")
      << "the range load, the step around it, and the launch calls";
  EXPECT_EQ(run.found("host-work-in"),
            "54 | 1 | 6 | 60\n11 | 1 | 60 | 70\n54 | 1 | 106 | 160\n11 | 1 | 160 | 170\n54 | 1 | 206 | 260\n11 | 1 | "
            "260 | 270");
}

TEST(Advise, NothingAtAllIsNothingFound) {
  AdvisedRun run;
  EXPECT_EQ(run.advise().rows(), 0u);
}

}  // namespace
}  // namespace prof::analyzer
