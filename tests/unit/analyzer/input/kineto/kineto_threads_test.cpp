// Which processes and threads does a file have, and what are they called?
#include "analyzer/input/kineto/kineto_threads.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

class KinetoThreadRows : public ::testing::Test {
 protected:
  Trace trace;
  const ImportMark mark{trace};
  const std::string path = "t";
  KinetoThreads threads{trace, mark, path};

  StringId id(std::string_view text) { return trace.strings.intern(text); }
  ThreadId thread(std::string_view pid, std::string_view tid) { return threads.thread(id(pid), id(tid)); }
};

TEST_F(KinetoThreadRows, AreOneForEachPair) {
  const ThreadId first = thread("10", "11"), second = thread("10", "12"), other = thread("20", "11");
  EXPECT_EQ(thread("10", "11"), first);
  ASSERT_EQ(trace.threads.size(), 3u);
  ASSERT_EQ(trace.processes.size(), 2u);
  EXPECT_EQ(trace.thread(first).process, trace.thread(second).process);
  EXPECT_EQ(trace.processes[index(trace.thread(other).process)].pid, 20u);
  EXPECT_EQ(trace.thread(second).tid, 12u);
  EXPECT_EQ(trace.processes[0].source, "t");
  EXPECT_EQ(threads.find_process(id("20")), 1u);
  EXPECT_EQ(threads.find_process(id("30")), kNone);
}

TEST_F(KinetoThreadRows, WithTextsInPlaceOfNumbersAreNamedByThem) {
  thread("trainer", "loader");
  threads.write_names();
  EXPECT_EQ(trace.processes[0].executable, "trainer");
  EXPECT_EQ(trace.processes[0].pid, 0u);
  EXPECT_EQ(trace.threads[0].name, "loader");
}

TEST_F(KinetoThreadRows, OfNegativePidsBelongToTheFirstProcess) {
  thread("10", "11");
  const ThreadId overhead = thread("-1", "0");
  EXPECT_EQ(trace.processes.size(), 1u);
  threads.write_names();
  EXPECT_EQ(trace.thread(overhead).name, "profiler overhead");
}

TEST_F(KinetoThreadRows, HaveTheNamesOfTheMetadata) {
  threads.name_thread(id("10"), id("11"), id("main"));
  threads.name_process(id("10"), id("python"));
  threads.name_thread(id("99"), id("1"), id("of no event"));
  thread("10", "11");
  EXPECT_EQ(threads.tracks().size(), 1u);
  EXPECT_EQ(threads.tracks()[0].thread_name, id("main"));
  EXPECT_EQ(threads.tracks()[0].process_name, id("python"));
  EXPECT_EQ(threads.named_tracks().size(), 2u);
  threads.write_names();
  EXPECT_EQ(trace.threads[0].name, "main");
  EXPECT_EQ(trace.processes[0].executable, "python");
}

TEST_F(KinetoThreadRows, AreRemovedWithTheProcessesThatHaveNoOther) {
  thread("1", "14");
  thread("10", "11");
  thread("10", "12");
  const std::vector<uint32_t> to = threads.remove({true, false, true});
  EXPECT_EQ(to, (std::vector<uint32_t>{kNone, 0, kNone}));
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.threads[0].tid, 11u);
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_EQ(trace.processes[0].pid, 10u);
  EXPECT_EQ(index(trace.threads[0].process), 0u);
  EXPECT_EQ(threads.find_process(id("10")), 0u);
  EXPECT_EQ(threads.find_process(id("1")), kNone);
}

TEST_F(KinetoThreadRows, LeaveOneProcessWhereAllAreRemoved) {
  thread("1", "14");
  EXPECT_EQ(threads.remove({true}), std::vector<uint32_t>{kNone});
  EXPECT_EQ(trace.processes.size(), 1u);
  EXPECT_TRUE(trace.threads.empty());
  threads.need_process();
  EXPECT_EQ(trace.processes.size(), 1u);
}

TEST_F(KinetoThreadRows, AreNotNeededForAProcess) {
  threads.need_process();
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_EQ(trace.processes[0].source, "t");
}

}  // namespace
}  // namespace prof::analyzer
