// Lists of ranks and of program names, as PROF_RANKS and PROF_PROCESSES take them.
#include "preload/runtime/wanted.h"

#include <gtest/gtest.h>

namespace prof::preload {
namespace {

TEST(Wanted, RanksAreNumbersAndRanges) {
  for (const char* const rank : {"0", "2", "3", "17"}) EXPECT_TRUE(rank_in_list("0,2-3,17", rank)) << rank;
  for (const char* const rank : {"1", "4", "16", "170"}) EXPECT_FALSE(rank_in_list("0,2-3,17", rank)) << rank;
}

TEST(Wanted, AProcessWithoutARankIsInEveryList) {
  EXPECT_TRUE(rank_in_list("5", ""));
  EXPECT_TRUE(rank_in_list("5", "none"));
}

TEST(Wanted, AListThatIsNoneLeavesNobodyOut) {
  EXPECT_TRUE(rank_in_list("first", "3"));
  EXPECT_TRUE(rank_in_list("1-x", "3"));
}

TEST(Wanted, NamesMayHaveStars) {
  EXPECT_TRUE(name_in_list("python*", "python3.11"));
  EXPECT_TRUE(name_in_list("other,train", "train"));
  EXPECT_TRUE(name_in_list("*rai*", "train"));
  EXPECT_TRUE(name_in_list("*", ""));
  EXPECT_FALSE(name_in_list("python*", "ipython"));
  EXPECT_FALSE(name_in_list("train", "trainer"));
  EXPECT_FALSE(name_in_list("", "train"));
}

}  // namespace
}  // namespace prof::preload
