// Lists of ranks and of program names, as PROF_RANKS and PROF_PROCESSES take them.
#include "preload/control/wanted.h"

#include "preload/format/number_list.h"

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

TEST(Wanted, EveryRankIsInAll) { EXPECT_TRUE(rank_in_list("all", "3")); }

TEST(Wanted, OnlyNumbersAndRisingRangesAreAList) {
  for (const char* const list : {"all", "0", "0,2-3", "7-7,1", "999999999"})
    EXPECT_TRUE(format::is_number_list(list)) << list;
  for (const char* const list :
       {"", "first", "1-x", "x-1", "3-2", "1,", ",1", "1,,2", "1-", "-1", "1-2-3", "1 ", "1000000000"})
    EXPECT_FALSE(format::is_number_list(list)) << list;
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
