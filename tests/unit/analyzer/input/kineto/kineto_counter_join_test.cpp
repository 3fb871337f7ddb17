// Which launch or kernel do values that are events of their own belong to? By rows made by hand;
// kineto_counters_test.cpp asks the same of whole traces.
#include "analyzer/input/kineto/kineto_counter_join.h"

#include "analyzer/input/kineto/kineto_numbering.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {
namespace {

class KinetoCounterJoin : public ::testing::Test {
 protected:
  Trace trace;
  const ImportMark mark{trace};
  const std::string path = "t";
  KinetoThreads threads{trace, mark, path};
  KinetoStreams streams{trace, mark};
  KinetoKernels kernels{trace};
  KinetoTranslation to{trace, threads, streams, kernels};
  KinetoCounters counters{trace, mark};
  KinetoRows rows;
  KinetoNumbering numbering{rows};

  void values(std::string_view name, int64_t at_ns, double value, std::string_view metrics = "a__b.sum") {
    KinetoCounterValues row;
    row.of = KinetoCounterValues::Own;
    row.metrics = numbering.made_text(metrics);
    row.device = 0;
    row.first = rows.counter_values.size();
    row.name = numbering.text(name);
    row.pid = numbering.pid("0");
    row.begin_ns = at_ns;
    rows.counted.push_back(row);
    rows.counter_values.push_back(value);
  }
  void launch(int64_t begin_ns, uint32_t correlation) {
    HostEvent row;
    row.begin_ns = begin_ns;
    row.end_ns = begin_ns + 10;
    row.correlation = correlation;
    row.thread = threads.thread(trace.strings.intern("10"), trace.strings.intern("11"));
    row.word = HostEvent::pack(to.apis().intern("cudaLaunchKernel"), HostKind::KernelLaunch, 0, 0);
    trace.host.push_back(row);
  }
  std::vector<std::string> join() {
    to.start(rows);
    counters.add(rows, to, 0, 0);
    return join_counters(trace, mark, streams, kernels, counters);
  }
};

TEST_F(KinetoCounterJoin, IsByTheOrderOfTheEventsNotOfTheFile) {
  values("b", 2, 20);
  values("a", 1, 10);
  launch(100, 1);
  launch(200, 2);
  EXPECT_EQ(join(), std::vector<std::string>{"device 0: 2 ranges of kernels joined with as many launches, in order"});
  EXPECT_EQ(counters.counted()[1].of, KinetoCounted::Launch);
  EXPECT_EQ(counters.counted()[1].row, 0u);
  EXPECT_EQ(counters.counted()[0].row, 1u);
  EXPECT_EQ(counters.value(counters.counted()[1], "a__b.sum"), 10);
  EXPECT_EQ(counters.value(counters.counted()[1], "a__c.sum"), std::nullopt);
  EXPECT_EQ(trace.text(trace.kernels[trace.host[0].subject].name), "a");
}

TEST_F(KinetoCounterJoin, IsRefusedWithTheReason) {
  values("a", 1, 10);
  launch(100, 1);
  launch(200, 2);
  EXPECT_EQ(join(),
            std::vector<std::string>{"device 0: 1 ranges of kernels without their launch: 1 ranges, 2 launches"});
  EXPECT_EQ(counters.counted()[0].of, KinetoCounted::Unplaced);
  EXPECT_EQ(trace.text(counters.counted()[0].why), "1 ranges, 2 launches");
}

TEST_F(KinetoCounterJoin, MakesAnOperationWhereTheValuesHaveATime) {
  values("a", 1, 4, "gpu__time_duration.sum");
  launch(100, 1);
  join();
  ASSERT_EQ(trace.operations.size(), 1u);
  EXPECT_EQ(trace.operations[0].start_ns, 106);  // ends with the launch call
  EXPECT_EQ(trace.operations[0].end_ns, 110);
  EXPECT_EQ(trace.operations[0].correlation, 1u);
  EXPECT_EQ(trace.processes[0].coverage.counters_timed, 1u);
}

TEST_F(KinetoCounterJoin, LeavesValuesOfAllThatRanAlone) {
  values("__profile__", 1, 10);
  launch(100, 1);
  EXPECT_TRUE(join().empty());
  EXPECT_FALSE(counters.counted()[0].of_kernel);
  EXPECT_EQ(trace.devices.size(), 1u);
}

}  // namespace
}  // namespace prof::analyzer
