// GPU activity end to end on the simulated GPU: libprof.so is preloaded into gpu_program, the script sets CUPTI's
// behaviour, and the test checks the log.
#include "tests/e2e/gpu/ended.h"

namespace prof::test {
namespace {

// With the simulator's own clock in the log, host and GPU times are the same numbers, and containment can be checked
// exactly.
const char* const kSimClock = "PROF_CLOCK=sim_now_ns";

// Checks the correlation id of every GPU record against its launch; `calls` maps a time to CUPTI's id.
void expect_every_record_has_its_launch(const Ended& run) {
  std::map<uint64_t, uint64_t> id_of_time;
  for (const std::string& line : run.lines("driver_calls")) {
    std::istringstream pairs(line.substr(line.find("calls=") + 6));
    for (std::string pair; std::getline(pairs, pair, ';');) {
      id_of_time[std::stoull(pair)] = std::stoull(pair.substr(pair.find(':') + 1));
    }
  }
  std::map<uint64_t, int> launches_of_id;
  size_t launches = 0;
  for (const char* kind : {"kernel_launch", "memory_launch", "graph_launch"}) {
    for (const std::string& line : run.lines(kind)) {
      const uint64_t end = field(line, "end");
      auto at = id_of_time.lower_bound(end - field(line, "duration"));
      ASSERT_NE(at, id_of_time.end()) << line;
      ASSERT_LE(at->first, end) << line;
      ++launches_of_id[at->second];
      ++launches;
    }
  }
  EXPECT_EQ(launches_of_id.size(), launches) << "two launches matched one call";
  for (const char* kind : {"kernel_run", "copy_run", "fill_run"}) {
    for (const std::string& line : run.lines(kind)) EXPECT_EQ(launches_of_id[field(line, "correlation")], 1) << line;
  }
}

TEST(GpuActivity, EveryOperationArrivesWithItsLaunch) {
  const Ended run({"work", "500"}, {kSimClock});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.messages.empty()) << run.messages[0];
  EXPECT_EQ(run.lines("kernel_run").size(), 1000u);
  EXPECT_EQ(run.lines("copy_run").size(), 1u);
  EXPECT_EQ(run.lines("fill_run").size(), 1u);
  EXPECT_EQ(run.meta("gpu_times"), "on");
  EXPECT_EQ(run.meta("gpu_correlation"), "driver calls");
  EXPECT_EQ(run.meta("cupti_path"), kBuild + "/sim/libcupti.so.13");
  EXPECT_EQ(run.meta("driver_version"), "13000");
  EXPECT_EQ(run.pending(), 0u);
  EXPECT_EQ(run.counter(format::LossCounter::cupti_dropped), 0u);
  expect_every_record_has_its_launch(run);
}

TEST(GpuActivity, DevicesAreDescribed) {
  const Ended run({"work", "1"}, {});
  EXPECT_EQ(run.lines("device").size(), 2u);
  std::map<std::string, int> keys;
  for (const std::string& line : run.lines("device_property")) {
    if (field(line, "ordinal") == 1)
      ++keys[line.substr(line.find("key=") + 4, line.find(" value=") - line.find("key=") - 4)];
  }
  for (const char* key :
       {"totalGlobalMem", "computeMajor", "computeMinor", "maxThreadsPerBlock", "numSms", "warpSize"}) {
    EXPECT_EQ(keys[key], 1) << key;
  }
}

TEST(GpuActivity, ThreadsAreToldApartBySystemThreadIds) {
  const Ended run({"threads", "300"}, {});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.lines("kernel_run").size(), 1200u);
  std::map<uint64_t, int> tids;
  for (const std::string& line : run.lines("thread")) ++tids[field(line, "tid")];
  size_t calls = 0;
  for (const std::string& line : run.lines("driver_calls")) {
    EXPECT_TRUE(tids.contains(field(line, "tid"))) << line;
    calls += static_cast<size_t>(std::count(line.begin(), line.end(), ';'));
  }
  EXPECT_EQ(calls, 1200u);
}

TEST(GpuActivity, KilledTwoSecondsLaterAllGpuTimesAreInTheLog) {
  const Ended run({"hold", "50"}, {}, std::chrono::milliseconds(2000));
  EXPECT_TRUE(WIFSIGNALED(run.status));
  EXPECT_FALSE(run.finished());
  EXPECT_EQ(run.lines("kernel_run").size(), 100u);
  EXPECT_EQ(run.pending(), 0u);
}

TEST(GpuActivity, UnfinishedWorkAtExitIsWaitedForWithinBoundsAndCountedAsPending) {
  // idle 0: the simulated device does not advance while nothing waits for it
  const Ended run({"unfinished"}, {"SIM=idle 0; kernel endless 100000000000", "PROF_EXIT_WAIT=0.5"});
  EXPECT_EQ(run.status, 0);
  EXPECT_GE(run.pending(), 1u);
  EXPECT_LT(run.seconds, 1.5);
  EXPECT_TRUE(run.finished());
}

TEST(GpuActivity, WorkThatFinishesDuringTheWaitAtExitIsCollected) {
  const Ended run({"unfinished"}, {"SIM=idle 100; kernel endless 1000000"});
  EXPECT_EQ(run.lines("kernel_run").size(), 2u);
  EXPECT_EQ(run.pending(), 0u);
}

TEST(GpuActivity, FlushThatHangsDoesNotHangTheExit) {
  const Ended run({"work", "10"}, {"SIM=cupti flush_hangs"});
  EXPECT_EQ(run.status, 0);
  EXPECT_LT(run.seconds, 2.5);
  EXPECT_EQ(run.counter(format::LossCounter::cupti_flush_timeouts), 1u);
  EXPECT_EQ(run.lines("kernel_launch").size(), 20u);
  EXPECT_TRUE(run.finished());
  EXPECT_EQ(run.messages.size(), 1u);
}

TEST(GpuActivity, FlushThatHangsInTheHelperDoesNotHangTheExit) {
  const Ended run({"unfinished"}, {"SIM=cupti flush_hangs; idle 0; kernel endless 100000000000", "PROF_FLUSH=0.05",
                                   "PROF_EXIT_WAIT=1"});
  EXPECT_EQ(run.status, 0);
  EXPECT_LT(run.seconds, 1.5);
}

TEST(GpuActivity, DroppedRecordsAreCounted) {
  const Ended run({"work", "500"}, {"SIM=cupti drop 10"});
  const uint64_t dropped = run.counter(format::LossCounter::cupti_dropped);
  EXPECT_GT(dropped, 0u);
  size_t calls = 0;
  for (const std::string& line : run.lines("driver_calls"))
    calls += static_cast<size_t>(std::count(line.begin(), line.end(), ';'));
  EXPECT_EQ(run.records() + calls + dropped, 2004u);
}

TEST(GpuActivity, LateBuffersStillArrive) {
  const Ended run({"work", "500"}, {"SIM=cupti late 100"});
  EXPECT_EQ(run.records(), 1002u);
}

TEST(GpuActivity, LostBuffersShowAsPending) {
  const Ended run({"work", "10000"}, {"SIM=cupti lose_buffer 2", "PROF_EXIT_WAIT=0.3"});  // several buffers
  EXPECT_EQ(run.status, 0);
  EXPECT_LT(run.lines("kernel_run").size(), 20000u);
  EXPECT_EQ(run.lines("kernel_launch").size(), 20000u);
}

TEST(GpuActivity, WithoutNamedDriverCallsThoseThatLaunchAreKeptOfAll) {
  const Ended run({"work", "200"}, {kSimClock, "SIM=cupti no_driver_api"});
  EXPECT_EQ(run.meta("gpu_correlation"), "every call");
  EXPECT_EQ(run.lines("kernel_run").size(), 400u);
  expect_every_record_has_its_launch(run);
}

TEST(GpuActivity, RefusedByCuptiTheHostSideGoesOn) {
  const Ended run({"work", "10"}, {"SIM=cupti enable_fails 35"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.lines("kernel_launch").size(), 20u);
  EXPECT_EQ(run.records(), 0u);
  EXPECT_EQ(run.counter(format::LossCounter::cupti_unavailable), 1u);
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_NE(run.messages[0].find("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"), std::string::npos) << run.messages[0];
  EXPECT_NE(run.meta("gpu_times").find("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"), std::string::npos);
}

TEST(GpuActivity, WithoutCuptiOneLineSaysSo) {
  const Ended run({"work", "10"}, {"PROF_CUPTI=/nonexistent/libcupti.so"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.lines("kernel_launch").size(), 20u);
  EXPECT_EQ(run.counter(format::LossCounter::cupti_unavailable), 1u);
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_NE(run.messages[0].find("/nonexistent/libcupti.so"), std::string::npos) << run.messages[0];
}

TEST(GpuActivity, CuptiOfANewerCudaThanTheDriversIsRefused) {
  const Ended run({"work", "10"}, {"SIM=driver_version 12040; cupti version 130001"});
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_NE(run.messages[0].find("newer CUDA than the driver's"), std::string::npos) << run.messages[0];
  EXPECT_EQ(run.lines("kernel_launch").size(), 20u);
}

TEST(GpuActivity, OlderCuptiIsReadWithItsOwnFields) {
  const Ended run({"work", "10"}, {"SIM=cupti version 26"});
  EXPECT_EQ(run.meta("cupti_version"), "26");
  EXPECT_EQ(run.lines("kernel_run").size(), 20u);
}

TEST(GpuActivity, LoaderFindsTheLibraryWhereNothingElseSaysWhere) {
  const Ended run({"work", "10"}, {"PROF_CUPTI="});
  EXPECT_EQ(run.meta("cupti_found"), "by the loader's search");
  EXPECT_EQ(run.lines("kernel_run").size(), 20u);
}

TEST(GpuActivity, TurnedOffItIsSilent) {
  const Ended run({"work", "10"}, {"PROF_GPU=off"});
  EXPECT_EQ(run.lines("kernel_launch").size(), 20u);
  EXPECT_EQ(run.records(), 0u);
  EXPECT_TRUE(run.messages.empty());
  EXPECT_EQ(run.counter(format::LossCounter::cupti_unavailable), 0u);
}

// Late records give no information about the depth; the marks do.
TEST(GpuActivity, CompletionMarksBoundTheDepthOfAProgramThatNeverWaits) {
  const Ended counts({"work", "20000"}, {"PROF_FLUSH=0", "SIM=cupti late 200", "PROF_DEPTH=counts"});
  const Ended marks({"work", "20000"}, {"PROF_FLUSH=0", "SIM=cupti late 200"});
  const auto median = [](const Ended& run) {  // one launch that loses its processor must not decide
    std::vector<uint64_t> depths;
    for (const std::string& line : run.lines("kernel_launch")) depths.push_back(field(line, "depth"));
    std::nth_element(depths.begin(), depths.begin() + depths.size() / 2, depths.end());
    return depths[depths.size() / 2];
  };
  EXPECT_EQ(marks.status, 0);
  EXPECT_GT(marks.counter(format::LossCounter::depth_marks), 8u) << "from half a millisecond to four apart";
  EXPECT_GT(marks.counter(format::LossCounter::depth_mark_ns), 100 * marks.counter(format::LossCounter::depth_marks));
  EXPECT_LT(static_cast<double>(marks.counter(format::LossCounter::depth_mark_ns)), 1e9 * marks.seconds / 10);
  EXPECT_EQ(counts.counter(format::LossCounter::depth_marks), 0u);
  EXPECT_LT(median(marks), median(counts) / 2);
  EXPECT_EQ(marks.lines("kernel_run").size(), 40000u);
}

}  // namespace
}  // namespace prof::test
