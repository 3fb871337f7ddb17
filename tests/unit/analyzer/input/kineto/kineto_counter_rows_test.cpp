// Which values of hardware counters does an event have, and what do they belong to?
#include "analyzer/input/kineto/kineto_counter_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

namespace prof::analyzer {
namespace {

class KinetoCounterRows : public ::testing::Test {
 protected:
  KinetoRows rows;
  KinetoNumbering numbering{rows};
  KinetoCounterRowMaker maker{rows, numbering};
  KinetoEvent event;

  std::string_view text(StretchText number) const { return rows.texts.texts()[index(number)]; }
};

TEST_F(KinetoCounterRows, BelongToTheLatestOperationOrRange) {
  event.pid = "1";
  maker.add_to_operation(event);
  maker.add_to_range(event);
  EXPECT_TRUE(rows.counted.empty());
  event.metrics = {{"a__b.sum", "5"}, {"a__c.sum", "6"}};
  rows.operations.resize(3);
  rows.ranges.resize(2);
  maker.add_to_operation(event);
  maker.add_to_range(event);
  ASSERT_EQ(rows.counted.size(), 2u);
  EXPECT_EQ(rows.counted[0].of, KinetoCounterValues::Operation);
  EXPECT_EQ(rows.counted[0].row, 2u);
  EXPECT_EQ(rows.counted[0].device, 1u);  // of a GPU event the pid is the device
  EXPECT_EQ(rows.counted[1].of, KinetoCounterValues::Range);
  EXPECT_EQ(rows.counted[1].row, 1u);
  EXPECT_EQ(rows.counted[1].device, kNone);
  EXPECT_EQ(rows.counted[1].first, 2u);
  EXPECT_EQ(text(rows.counted[1].metrics), "a__b.sum\na__c.sum");
  EXPECT_EQ(rows.counter_values, (std::vector<double>{5, 6, 5, 6}));
}

TEST_F(KinetoCounterRows, OfEventsOfTheirOwnHaveNameAndOrder) {
  event.name = "kernel";
  event.pid = "50";
  maker.add_event(event, 7);
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::NoMetrics), 1u);
  event.metrics = {{"a__b.sum", "1e3"}};
  maker.add_event(event, 7);
  ASSERT_EQ(rows.counted.size(), 1u);
  EXPECT_EQ(rows.counted[0].of, KinetoCounterValues::Own);
  EXPECT_EQ(text(rows.counted[0].name), "kernel");
  EXPECT_EQ(rows.counted[0].begin_ns, 7);
  EXPECT_EQ(rows.counter_values[0], 1000);
}

TEST_F(KinetoCounterRows, AreNoNumberWhereTheTextIsNone) {
  event.metrics = {{"a__b.sum", ""}, {"a__c.sum", "many"}, {"a__d.sum", "4"}};
  maker.add_event(event, 0);
  EXPECT_TRUE(std::isnan(rows.counter_values[0]));
  EXPECT_TRUE(std::isnan(rows.counter_values[1]));
  EXPECT_EQ(rows.counter_values[2], 4);
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::BadNumber), 2u);
}

TEST_F(KinetoCounterRows, KnowTheirMetricsAgainInTheNextStretch) {
  event.metrics = {{"a__b.sum", "1"}};
  maker.add_event(event, 0);
  rows.clear();
  numbering.start_stretch();
  maker.start_stretch();
  numbering.text("another text first");
  maker.add_event(event, 0);
  EXPECT_EQ(text(rows.counted[0].metrics), "a__b.sum");
}

}  // namespace
}  // namespace prof::analyzer
