// A program that profiles itself with CUPTI keeps working under libprof.so, and both get every record.
#include "tests/e2e/gpu/ended.h"

namespace prof::test {
namespace {

// Whether the program's functions come from dlsym or from its own linkage.
class SharedCupti : public testing::TestWithParam<const char*> {
 protected:
  Ended run(const Lines& steps, const Lines& settings = {}) { return Ended(steps, settings, {}, GetParam()); }
};

// What profiled_program prints after `work` of 200 kernels if it collects everything, and if it collects nothing.
const std::string kAllKinds =
    "kernels 200 serial 0 copies 1 fills 1 launches 200 other 0 early 0 late 0 threads right callbacks 0\n";
const std::string kNothing =
    "kernels 0 serial 0 copies 0 fills 0 launches 0 other 0 early 0 late 0 threads right callbacks 0\n";

void expect_whole_log(const Ended& run, size_t works) {
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.messages.empty()) << run.messages[0];
  EXPECT_EQ(run.meta("gpu_times"), "on");
  EXPECT_EQ(run.lines("kernel_launch").size(), 200 * works);
  EXPECT_EQ(run.lines("kernel_run").size(), 200 * works);
  EXPECT_EQ(run.lines("copy_run").size(), works);
  EXPECT_EQ(run.lines("fill_run").size(), works);
  size_t calls = 0;
  for (const std::string& line : run.lines("driver_calls"))
    calls += static_cast<size_t>(std::count(line.begin(), line.end(), ';'));
  EXPECT_EQ(calls, 202 * works) << "launching calls, and no others";
  EXPECT_EQ(run.pending(), 0u);
  EXPECT_EQ(run.counter(format::LossCounter::second_cupti), 0u);
}

TEST_P(SharedCupti, StartedAndStoppedWhileRecordingBothGetEverything) {
  const Ended run = this->run({"200", "work", "start", "work", "stop", "work", "start", "work", "stop"});
  EXPECT_EQ(run.output, kNothing + kAllKinds + kNothing + kAllKinds);
  expect_whole_log(run, 4);
  EXPECT_EQ(run.counter(format::LossCounter::cupti_shared), 1u);
}

TEST_P(SharedCupti, HasGivenABufferAwayBeforeItFlushesAndHasItBackAfterwards) {
  const Ended run = this->run({"200", "start", "work_alone", "stop", "say", "start", "work_alone", "stop", "say"});
  EXPECT_EQ(run.output, kAllKinds + kAllKinds);
  expect_whole_log(run, 2);
}

TEST_P(SharedCupti, StartedBeforeTheFirstLaunchBothGetEverything) {
  const Ended run = this->run({"200", "subscribe", "start", "work", "stop", "work"});
  EXPECT_EQ(run.output.substr(0, run.output.find("callbacks")), kAllKinds.substr(0, kAllKinds.find("callbacks")));
  EXPECT_NE(run.output.find("callbacks 400\n"), std::string::npos) << "entry and exit of each launch: " << run.output;
  expect_whole_log(run, 2);
}

TEST_P(SharedCupti, ItsTimesAreOfItsOwnClock) {
  const Ended run = this->run({"200", "work", "clock", "start", "work", "stop"});
  EXPECT_EQ(run.output, kNothing + kAllKinds);
  expect_whole_log(run, 2);
}

TEST_P(SharedCupti, ItsClockRegisteredFirstDoesNotBecomeTheLogs) {
  const Ended run = this->run({"200", "clock", "start", "work", "stop"});
  EXPECT_EQ(run.output, kAllKinds);
  expect_whole_log(run, 1);
  for (const std::string& line : run.lines("kernel_run")) {
    ASSERT_LT(field(line, "start"), 2 * field(run.lines("clock_anchor").back(), "monotonic_ns")) << line;
  }
}

TEST_P(SharedCupti, ItsThreadIdsAreOfTheSortItAskedFor) {
  const Ended run = this->run({"200", "system", "start", "work", "stop"});
  EXPECT_EQ(run.output, kAllKinds);
  expect_whole_log(run, 1);
}

TEST_P(SharedCupti, KernelsOneAtATimeAreMadeOfConcurrentOnes) {
  const Ended run = this->run({"200", "work", "serial", "work", "stop"});
  EXPECT_NE(run.output.find("kernels 0 serial 200 "), std::string::npos) << run.output;
  expect_whole_log(run, 2);
}

TEST_P(SharedCupti, WhereDriverCallsCannotBeNamedBothGetEverything) {
  const Ended run = this->run({"200", "work", "start", "work", "stop", "work"}, {"SIM=cupti no_driver_api"});
  EXPECT_EQ(run.output, kNothing + kAllKinds + kNothing);
  expect_whole_log(run, 3);
}

TEST_P(SharedCupti, FinalizedByTheProgramTheRecordingGoesOn) {
  const Ended run = this->run({"200", "subscribe", "start", "work", "finalize", "work", "subscribe", "start", "work"});
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.output.find(kNothing), std::string::npos) << run.output;
  EXPECT_EQ(run.output.rfind("kernels 200 "), run.output.rfind("kernels ")) << run.output;
  expect_whole_log(run, 3);
}

TEST_P(SharedCupti, WithGpuTimesOffItHasCuptiToItself) {
  const Ended run = this->run({"200", "start", "work", "stop", "work"}, {"PROF_GPU=off"});
  EXPECT_EQ(run.output.substr(0, kAllKinds.find("early")), kAllKinds.substr(0, kAllKinds.find("early")));
  EXPECT_EQ(run.records(), 0u);
  EXPECT_EQ(run.counter(format::LossCounter::cupti_shared), 0u);
}

TEST_P(SharedCupti, NoCompletionMarksShowInItsRecords) {
  const Ended run = this->run({"2000", "start", "work", "stop"});
  EXPECT_EQ(run.counter(format::LossCounter::depth_marks), 0u);
  const Ended alone = this->run({"2000", "work"});
  EXPECT_GT(alone.counter(format::LossCounter::depth_marks), 0u);
}

// The driver accepts one CUPTI in a process, the first one.
class SecondLibrary : public testing::Test {
 protected:
  SecondLibrary() {
    fs::create_directories(folder_);
    fs::copy_file(fs::canonical(kBuild + "/sim/libcupti.so.13"), path_, fs::copy_options::overwrite_existing);
  }
  ~SecondLibrary() override { fs::remove_all(folder_); }
  Ended run(Lines settings) {
    settings.push_back("TOOL_CUPTI=" + path_);
    return Ended({"200", "work_alone", "try", "work_alone"}, settings, {}, PROF_DLSYM_PROGRAM);
  }

  const fs::path folder_ = fs::temp_directory_path() / ("prof-second-cupti-" + std::to_string(getpid()));
  const std::string path_ = (folder_ / "libcupti.so.13").string();
};

TEST_F(SecondLibrary, IsRefusedByTheDriverAndTheLineSaysWhoseItIsAndHowToShare) {
  const Ended run = this->run({});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output, "start: 39\n");
  EXPECT_EQ(run.lines("kernel_launch").size(), 400u);
  EXPECT_EQ(run.lines("kernel_run").size(), 400u) << "ours go on";
  EXPECT_EQ(run.counter(format::LossCounter::second_cupti), 1u);
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_NE(
      run.messages[0].find("(" + path_ + ", by cuptiActivityRegisterCallbacks, called by " PROF_DLSYM_PROGRAM ")"),
      std::string::npos)
      << run.messages[0];
  EXPECT_NE(run.messages[0].find("PROF_CUPTI"), std::string::npos) << run.messages[0];
}

TEST_F(SecondLibrary, IsSharedWherePROF_CUPTINamesIt) {
  const Ended run = this->run({"PROF_CUPTI=" + path_});
  EXPECT_EQ(run.output, "start: 0\n");
  EXPECT_EQ(run.lines("kernel_run").size(), 400u);
  EXPECT_TRUE(run.messages.empty()) << run.messages[0];
}

TEST_F(SecondLibrary, HasCuptiToItselfWithGpuTimesOff) {
  const Ended run = this->run({"PROF_GPU=off"});
  EXPECT_EQ(run.output, "start: 0\n");
  EXPECT_EQ(run.records(), 0u);
  EXPECT_TRUE(run.messages.empty()) << run.messages[0];
}

INSTANTIATE_TEST_SUITE_P(By, SharedCupti, testing::Values(PROF_DLSYM_PROGRAM, PROF_LINKED_PROGRAM),
                         [](const auto& program) {
                           return std::string(program.param) == PROF_DLSYM_PROGRAM ? "Dlsym" : "Linkage";
                         });

}  // namespace
}  // namespace prof::test
