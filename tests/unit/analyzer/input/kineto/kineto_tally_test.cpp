// Is every event of a stretch counted once, whatever becomes of it?
#include "analyzer/input/kineto/kineto_tally.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

TEST(KinetoTally, CountsEventsByCategory) {
  KinetoTally tally;
  const size_t kernels = tally.category("kernel"), calls = tally.category("cuda_runtime");
  tally.count(kernels);
  tally.count(calls);
  tally.count(kernels);
  EXPECT_EQ(tally.category("kernel"), kernels);
  ASSERT_EQ(tally.counts().size(), 2u);
  EXPECT_EQ(tally.counts()[kernels].events, 2u);
  EXPECT_EQ(tally.counts()[calls].events, 1u);
}

TEST(KinetoTally, GivesCategoriesAfterTheLimitOneEntry) {
  KinetoTally tally;
  for (size_t i = 0; i < KinetoTally::kMostCategories + 10; ++i) tally.count(tally.category("c" + std::to_string(i)));
  ASSERT_EQ(tally.counts().size(), KinetoTally::kMostCategories);
  EXPECT_EQ(tally.counts().front().events, 1u);
  EXPECT_EQ(tally.counts().back().category, "others");
  EXPECT_EQ(tally.counts().back().events, 11u);
}

TEST(KinetoTally, CountsAllDamagedEventsAndListsTheFirst) {
  KinetoTally tally;
  for (size_t i = 0; i < KinetoTally::kMostDamage + 5; ++i) tally.damaged(i, "no JSON");
  EXPECT_EQ(tally.damaged_events(), KinetoTally::kMostDamage + 5);
  ASSERT_EQ(tally.damage().size(), KinetoTally::kMostDamage);
  EXPECT_EQ(tally.damage().back().offset, KinetoTally::kMostDamage - 1);
}

TEST(KinetoTally, IsEmptyAfterClear) {
  KinetoTally tally;
  tally.count(tally.category("kernel"));
  tally.aside(KinetoAside::Flow, 3);
  tally.damaged(1, "no JSON");
  EXPECT_EQ(tally.set_aside(KinetoAside::Flow), 3u);
  tally.clear();
  EXPECT_TRUE(tally.counts().empty());
  EXPECT_EQ(tally.set_aside(KinetoAside::Flow), 0u);
  EXPECT_EQ(tally.damaged_events(), 0u);
  EXPECT_TRUE(tally.damage().empty());
}

}  // namespace
}  // namespace prof::analyzer
