// A program that profiles itself with CUPTI's subscriber-scoped API prints the same with and without libprof.so, and
// the log has every launch and operation.
#include "tests/e2e/gpu/ended.h"

#include <algorithm>
#include <sstream>

namespace prof::test {
namespace {

constexpr size_t kKernels = 40;

// What the program prints without libprof.so.
std::string alone(const std::string& program, const Lines& steps, int& status) {
  int out[2];
  if (pipe(out) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    setenv("LD_LIBRARY_PATH", (kBuild + "/sim").c_str(), 1);
    setenv("TOOL_CUPTI", (kBuild + "/sim/libcupti.so.13").c_str(), 1);
    unsetenv("LD_PRELOAD");
    std::vector<char*> argv{strdup(program.c_str())};
    for (const std::string& step : steps) argv.push_back(strdup(step.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(97);
  }
  close(out[1]);
  std::string text;
  char part[4096];
  for (ssize_t size = 0; (size = read(out[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(size));
  close(out[0]);
  waitpid(child, &status, 0);
  return text;
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Whether the program's functions come from dlsym or from its own linkage.
class ScopedCupti : public testing::TestWithParam<const char*> {
 protected:
  Ended run(Lines steps, const Lines& settings = {}) {
    steps.insert(steps.begin(), std::to_string(kKernels));
    return Ended(steps, settings, {}, GetParam());
  }
  // Both print the same, and the log is whole. Returns what they print.
  std::string same(Lines steps, const Lines& settings = {}) {
    const auto works = static_cast<size_t>(std::count(steps.begin(), steps.end(), "work")) +
                       static_cast<size_t>(std::count(steps.begin(), steps.end(), "work_alone"));
    const Ended recorded = run(steps, settings);
    steps.insert(steps.begin(), std::to_string(kKernels));
    int status = -1;
    const std::string text = alone(GetParam(), steps, status);
    EXPECT_EQ(recorded.output, text);
    EXPECT_EQ(recorded.status, status);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(recorded.messages.empty()) << recorded.messages[0];
    if (works == 0) return text;
    EXPECT_EQ(recorded.meta("gpu_times"), "on");
    EXPECT_EQ(recorded.lines("kernel_launch").size(), kKernels * works);
    EXPECT_EQ(recorded.lines("kernel_run").size(), kKernels * works);
    EXPECT_EQ(recorded.lines("copy_run").size(), works);
    EXPECT_EQ(recorded.lines("fill_run").size(), works);
    EXPECT_EQ(recorded.pending(), 0u);
    return text;
  }
};

const std::string kAll = "kernels 40 copies 1 fills 1 launches 40 ";
const Lines kSession = {"subscribe_v2", "start_v2", "work", "say", "stop_v2", "say", "unsubscribe"};
const Lines kUserSession = {"subscribe_v2", "user",    "register_v2", "fields_v2",  "work",
                            "say",          "stop_v2", "no_user",     "unsubscribe"};
const Lines kGlobalSession = {"start", "work", "say", "stop", "say"};

Lines joined(std::initializer_list<Lines> parts) {
  Lines all;
  for (const Lines& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_P(ScopedCupti, StartedFirstTheClientHasItsRecordsAndTheLogIsWhole) {
  EXPECT_EQ(count(same(joined({kSession, {"work"}})), kAll), 1u);
}

TEST_P(ScopedCupti, StartedLaterTheClientHasItsRecordsAndTheLogIsWhole) {
  const Ended late = run(joined({{"work", "work"}, kSession, {"work"}}));
  EXPECT_EQ(count(late.output, kAll), 1u) << late.output;
  EXPECT_EQ(count(late.output, ": 14\n"), 0u) << late.output;
  EXPECT_EQ(late.lines("kernel_run").size(), 4 * kKernels);
  EXPECT_EQ(late.counter(format::LossCounter::cupti_shared), 1u);
}

TEST_P(ScopedCupti, SeveralSessionsWithWorkBetweenThem) {
  EXPECT_EQ(count(same(joined({kSession, {"work"}, kSession, {"work"}, kSession, {"work"}})), kAll), 3u);
}

TEST_P(ScopedCupti, UserDefinedRecordsHaveTheSelectedFieldsOnly) {
  const std::string text = same(joined({kUserSession, {"work"}, kUserSession}));
  EXPECT_EQ(count(text, kAll), 2u) << text;
  EXPECT_EQ(count(text, "joined 40 early 0 late 0 threads wrong 0 unreadable 0"), 2u) << text;
  EXPECT_EQ(count(text, "record bytes of kind 4: 40\n"), 2u) << text;
}

TEST_P(ScopedCupti, WholeAndUserDefinedRecordsInTurn) { same(joined({kUserSession, kSession, kUserSession})); }

TEST_P(ScopedCupti, TheFieldsMayChangeAfterAFlush) {
  same({"subscribe_v2", "user", "register_v2", "fields_v2", "work", "say", "stop_v2", "fewer_fields_v2", "work", "say",
        "stop_v2"});
}

// The files have lines that this program printed with CUPTI 13.5 on an H200 and on an H100.
TEST_P(ScopedCupti, EveryFieldIsWhereCuptiPutsItAndEachKindHasCuptisResult) {
  const auto expect = [&](const char* step, const char* file) {
    std::istringstream text(same({"subscribe_v2", "user", "register_v2", step, "work", "say"}));
    std::ifstream measured(std::string(PROF_CUPTI_MEASURED "/") + file);
    ASSERT_TRUE(measured.is_open()) << file;
    std::string line, printed, wanted;
    while (std::getline(text, line)) {
      for (const char* const of : {"places of kind", "all fields of kind", "kind "})
        if (line.find(of) == 0) printed += line + "\n";
    }
    while (std::getline(measured, line)) wanted += line + "\n";
    EXPECT_EQ(printed, wanted) << file;
  };
  expect("all_fields_v2", "cupti_places.txt");
  expect("other_fields_v2", "cupti_other_places.txt");
  expect("all_kinds_user_v2", "cupti_kinds_by_fields.txt");
}

TEST_P(ScopedCupti, DecompressionIsRefusedToASubscriberThatHasDeviceGraphs) {
  const std::string text = same({"subscribe_v2", "user", "register_v2", "field_54", "field_53", "field_54", "off_54",
                                 "field_54", "off_53", "field_54", "fields_54"});
  EXPECT_EQ(count(text, "cuptiActivityEnable_v2: 14\n"), 1u) << text;
}

TEST_P(ScopedCupti, FieldsThatCuptiDoesNotKnowHavePlacesOfNoBytes) {
  const std::string text = same({"subscribe_v2", "user", "register_v2", "unknown_fields_v2", "work", "say"});
  EXPECT_EQ(count(text, "places of kind 10: 32 bytes: 0@0+4/4 200@4+0/1 22@8+8/8 7@16+8/8 8@24+8/8\n"), 1u) << text;
  same({"subscribe_v2", "user", "register_v2", "strange_fields_v2", "work", "say"});
  same({"subscribe_v2", "user", "register_v2", "other_fields_v2", "work", "say"});
}

TEST_P(ScopedCupti, EachKindIsEnabledOrRefusedAsWithoutTheRecorder) {
  same({"subscribe_v2", "register_v2", "all_kinds_v2"});
  same({"subscribe_v2", "user", "register_v2", "all_kinds_user_v2"});
  same({"register", "all_kinds"});
}

TEST_P(ScopedCupti, WithoutFieldsOfItsKindsNoBufferIsRequested) {
  const std::string text = same({"subscribe_v2", "start_v2", "user", "context", "work", "given", "say"});
  EXPECT_EQ(count(text, "buffers requested: none\n"), 1u) << text;
  EXPECT_EQ(count(text, "completion: "), 0u) << text;
  EXPECT_EQ(count(text, "kernels 0 "), 1u) << "no fields are selected: " << text;
}

TEST_P(ScopedCupti, WrongRequestsAreRefused) {
  same({"nobody_v2", "subscribe_v2", "nobody_v2", "user", "register_v2", "wrong_fields_v2"});
}

// CUPTI refuses a mixture of the two APIs, whether or not libprof.so is there.
TEST_P(ScopedCupti, TheOtherApiIsRefusedAsWithoutTheRecorder) {
  same(joined({kGlobalSession, kSession}));
  same(joined({{"subscribe_v2", "start_v2", "work", "say", "stop_v2"}, kGlobalSession}));
  same({"enable", "subscribe_v2", "register_v2", "enable_v2"});
  EXPECT_EQ(count(same({"clock", "subscribe_v2", "register_v2", "enable_v2"}), "cuptiActivityEnable_v2: 14\n"), 4u);
  same({"register", "subscribe_v2", "register_v2", "enable_v2"});
  same({"clock", "global_4", "subscribe_v2", "register_v2", "enable_v2"});
  same({"enable", "stop", "subscribe_v2", "register_v2", "enable_v2"});
  same({"subscribe_v2", "start_v2", "context", "time", "push", "pop", "register", "clock", "enable"});
}

TEST_P(ScopedCupti, AfterItUnsubscribedTheGlobalApiWorks) {
  EXPECT_EQ(count(same(joined({kSession, kGlobalSession})), kAll), 2u);
}

TEST_P(ScopedCupti, InTurnWithTheGlobalApiWhichIsFinalized) {
  const Ended turns = run(joined({kSession, kGlobalSession, {"finalize"}, kSession, kGlobalSession, {"finalize"}}));
  EXPECT_EQ(count(turns.output, kAll), 4u) << turns.output;
  EXPECT_EQ(turns.lines("kernel_run").size(), 4 * kKernels);
  EXPECT_EQ(turns.status, 0);
}

TEST_P(ScopedCupti, ANewSubscriberMayUseTheGlobalApiAndAnOldOneTheOther) {
  EXPECT_EQ(count(same(joined({{"subscribe_v2"}, kGlobalSession, {"unsubscribe"}})), kAll), 1u);
  EXPECT_EQ(count(same({"subscribe", "start_v2", "work", "say", "stop_v2", "unsubscribe"}), kAll), 1u);
}

TEST_P(ScopedCupti, ItsClockItsThreadIdsAndItsAttributesAreItsOwn) {
  same({"subscribe_v2", "clock_v2", "system_v2", "time_v2", "start_v2", "work", "say", "time_v2", "stop_v2"});
  same({"subscribe_v2", "clock_v2", "system_v2", "user", "register_v2", "fields_v2", "work", "say", "stop_v2"});
  same({"subscribe_v2", "attributes_v2", "register_v2", "attributes_v2"});
}

TEST_P(ScopedCupti, SelectedCallsOnly) {
  same({"subscribe_v2", "register_v2", "call_v2", "work", "say", "no_call_v2", "work", "say"});
  same({"subscribe_v2", "register_v2", "only_launches_v2", "work", "say", "stop_v2"});
  same({"subscribe_v2", "register_v2", "not_launches_v2", "work", "say", "stop_v2"});
}

TEST_P(ScopedCupti, ExternalIdsKindsDroppedRecordsAndDumps) {
  same({"subscribe_v2", "start_v2", "external_v2", "push_v2", "work", "pop_v2", "pop_v2", "say"});
  same({"subscribe_v2", "register_v2", "dump_v2", "kinds_v2", "dropped_v2", "work", "say", "stop_v2", "kinds_v2"});
}

TEST_P(ScopedCupti, SeveralSubscribersAreAcceptedIfAllAllowIt) {
  same({"subscribe_v2", "second", "second_several", "unsubscribe"});
  const std::string text = same({"subscribe_several", "second_several", "second", "unsubscribe"});
  EXPECT_EQ(count(text, "several: 0\n"), 2u) << text;
  same({"subscribe_several", "callbacks", "use_second", "subscribe_several", "callbacks", "work", "use_first", "say",
        "use_second", "say", "unsubscribe", "work", "say", "use_first", "say", "unsubscribe"});
}

// The recorder keeps the subscriber of an earlier profiler in CUPTI, and it did not allow others.
TEST_P(ScopedCupti, SeveralSubscribersAfterASingleOneAreRefusedAndALineSaysSo) {
  const Ended after = run({"subscribe_v2", "unsubscribe", "subscribe_several", "subscribe_several"});
  EXPECT_EQ(count(after.output, "several: 39\n"), 2u) << after.output;
  EXPECT_EQ(count(after.output, "other subscriber"), 0u) << after.output;
  ASSERT_EQ(after.messages.size(), 1u);
  EXPECT_NE(after.messages[0].find("allow other CUPTI subscribers"), std::string::npos) << after.messages[0];
  EXPECT_NE(after.messages[0].find("PROF_GPU=off"), std::string::npos) << after.messages[0];
}

TEST_P(ScopedCupti, RecordsThatWereNotFlushedAreNotDeliveredAfterItUnsubscribed) {
  // The recorder may have flushed before. What comes is right, and nothing comes later.
  const Ended left = run({"subscribe_v2", "start_v2", "work_alone", "unsubscribe", "say", "work", "say"});
  EXPECT_EQ(left.status, 0);
  EXPECT_EQ(left.output.substr(left.output.rfind("-- say")).find("-- say\nkernels 0 "), 0u) << left.output;
  EXPECT_EQ(left.lines("kernel_run").size(), 2 * kKernels);
  const Ended disabled = run({"subscribe_v2", "start_v2", "work_alone", "disable_v2", "work", "say"});
  EXPECT_EQ(count(disabled.output, kAll), 1u) << "those before it disabled, and no others: " << disabled.output;
}

TEST_P(ScopedCupti, WithGpuTimesOffItHasCuptiToItself) {
  const Ended off = run(joined({kSession, {"work"}}), {"PROF_GPU=off"});
  EXPECT_EQ(count(off.output, kAll), 1u) << off.output;
  EXPECT_EQ(off.records(), 0u);
  EXPECT_EQ(off.counter(format::LossCounter::cupti_shared), 0u);
}

// The recording starts after the profiler did: neither takes CUPTI from the other.
TEST_P(ScopedCupti, BeforeARecordingThatStartsLater) {
  for (const Lines& session : {kSession, kGlobalSession}) {
    const Ended later = run(joined({session, {"work", "profiler", "work", "work"}, session}), {"PROF_START=profiler"});
    EXPECT_EQ(count(later.output, kAll), 2u) << later.output;
    EXPECT_EQ(later.lines("kernel_launch").size(), 3 * kKernels);
    EXPECT_EQ(later.lines("kernel_run").size(), 3 * kKernels);
    EXPECT_TRUE(later.messages.empty()) << later.messages[0];
  }
}

TEST_P(ScopedCupti, RecordsThatCuptiDropsAreCountedForBoth) {
  const Ended drops =
      run({"subscribe_v2", "start_v2", "work", "dropped_v2", "dropped_v2", "stop_v2"}, {"SIM=cupti drop 10"});
  EXPECT_EQ(count(drops.output, "dropped 0\n"), 1u) << drops.output;
  EXPECT_GT(drops.counter(format::LossCounter::cupti_dropped), 0u);
}

INSTANTIATE_TEST_SUITE_P(By, ScopedCupti, testing::Values(PROF_SCOPED_DLSYM_PROGRAM, PROF_SCOPED_LINKED_PROGRAM),
                         [](const auto& program) {
                           return std::string(program.param) == PROF_SCOPED_DLSYM_PROGRAM ? "Dlsym" : "Linkage";
                         });

}  // namespace
}  // namespace prof::test
