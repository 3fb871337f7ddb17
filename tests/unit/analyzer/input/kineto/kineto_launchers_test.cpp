// Which process launched an operation, if correlation ids of several processes are equal?
#include "analyzer/input/kineto/kineto_launchers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

class KinetoLaunching : public ::testing::Test {
 protected:
  Trace trace;
  const ImportMark mark{trace};
  const std::string path = "t";
  KinetoThreads threads{trace, mark, path};
  KinetoStreams streams{trace, mark};
  KinetoLaunchers launchers{trace, mark};
  KinetoSummary summary;

  StringId id(std::string_view text) { return trace.strings.intern(text); }
  void call(std::string_view pid, int64_t begin_ns, uint32_t correlation, uint64_t external = 0) {
    HostEvent row;
    row.begin_ns = begin_ns;
    row.correlation = correlation;
    row.thread = threads.thread(id(pid), id("1"));
    trace.host.push_back(row);
    launchers.add_call(external);
  }
  void operation(int64_t start_ns, uint32_t correlation, uint64_t external = 0) {
    GpuOperation row;
    row.start_ns = start_ns;
    row.correlation = correlation;
    row.set_stream(streams.number({id("0"), 0, 1, 7}));
    trace.operations.push_back(row);
    launchers.add_operation(external);
  }
  LaunchingProcesses find() { return launchers.find(streams, threads, summary); }
  // How many events were given to a process by guess.
  std::string ambiguous() const {
    Process process;
    summary.write({}, {}, {}, "t", process);
    return process.fact("changed").substr(0, 1);
  }
};

TEST_F(KinetoLaunching, IsNoQuestionInAFileOfOneProcess) {
  call("10", 0, 1);
  operation(5, 99);
  const LaunchingProcesses found = find();
  EXPECT_EQ(found.only, 0u);
  EXPECT_EQ(found.of_operation(0), 0u);
  EXPECT_EQ(found.of_sync(0), 0u);
}

TEST_F(KinetoLaunching, IsKnownByACorrelationIdOfOneProcess) {
  call("10", 0, 1);
  call("20", 0, 2);
  operation(5, 2);
  operation(6, 3);
  operation(7, 0);
  SyncEvent sync;
  sync.correlation = 1;
  trace.syncs.push_back(sync);
  const LaunchingProcesses found = find();
  EXPECT_EQ(found.of_operation(0), 1u);
  EXPECT_EQ(found.of_operation(1), kNone);
  EXPECT_EQ(found.of_operation(2), kNone);
  EXPECT_EQ(found.of_sync(0), 0u);
  EXPECT_EQ(ambiguous(), "");
}

TEST_F(KinetoLaunching, IsKnownByTheExternalIdWhereCorrelationIdsCollide) {
  call("10", 0, 1, 11);
  call("20", 1, 1, 22);
  operation(5, 1, 11);
  EXPECT_EQ(find().of_operation(0), 0u);
  EXPECT_EQ(ambiguous(), "");
}

TEST_F(KinetoLaunching, IsKnownByTheArrowWhereExternalIdsAreMissing) {
  call("10", 0, 1);
  call("20", 1, 1);
  operation(5, 1);
  launchers.add_arrow_at_call(77, id("10"));
  launchers.add_arrow_at_operation(77, 5, id("0"), 7);
  launchers.add_arrow_at_operation(78, 6, id("0"), 7);
  EXPECT_EQ(find().of_operation(0), 0u);
  EXPECT_EQ(ambiguous(), "");
}

TEST_F(KinetoLaunching, IsTheLatestCallBeforeWhereNothingElseTells) {
  call("10", 0, 1);
  call("20", 10, 1);
  operation(5, 1);
  operation(15, 1);
  launchers.add_arrow_at_call(77, id("10"));  // arrows whose ids collide as well
  launchers.add_arrow_at_call(77, id("20"));
  launchers.add_arrow_at_operation(77, 15, id("0"), 7);
  const LaunchingProcesses found = find();
  EXPECT_EQ(found.of_operation(0), 0u);
  EXPECT_EQ(found.of_operation(1), 1u);
  EXPECT_EQ(ambiguous(), "2");
}

}  // namespace
}  // namespace prof::analyzer
