// Lists of ranks, as PROF_RANKS takes them.
#include "preload/control/wanted.h"

#include "preload/format/number_list.h"

#include <gtest/gtest.h>

namespace prof::preload {
namespace {

bool in_list(const char* list, const char* rank) {
  option::Numbers numbers;
  EXPECT_TRUE(option::Numbers::read(list, {}, numbers));
  return rank_in_list(numbers, rank);
}

TEST(Wanted, RanksAreNumbersAndRanges) {
  for (const char* const rank : {"0", "2", "3", "17"}) EXPECT_TRUE(in_list("0,2-3,17", rank)) << rank;
  for (const char* const rank : {"1", "4", "16", "170"}) EXPECT_FALSE(in_list("0,2-3,17", rank)) << rank;
}

TEST(Wanted, AProcessWithoutARankIsInEveryList) {
  EXPECT_TRUE(in_list("5", ""));
  EXPECT_TRUE(in_list("5", "none"));
}

TEST(Wanted, EveryRankIsInAll) { EXPECT_TRUE(in_list("all", "3")); }

TEST(Wanted, OnlyNumbersAndRisingRangesAreAList) {
  for (const char* const list : {"all", "0", "0,2-3", "7-7,1", "999999999"})
    EXPECT_TRUE(format::is_number_list(list)) << list;
  for (const char* const list :
       {"", "first", "1-x", "x-1", "3-2", "1,", ",1", "1,,2", "1-", "-1", "1-2-3", "1 ", "1000000000"})
    EXPECT_FALSE(format::is_number_list(list)) << list;
}

}  // namespace
}  // namespace prof::preload
