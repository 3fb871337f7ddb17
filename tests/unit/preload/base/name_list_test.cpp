// Lists of names, as PROF_PROCESSES and PROF_COUNTERS_SKIP take them.
#include "preload/base/name_list.h"

#include <gtest/gtest.h>

namespace prof::preload {
namespace {

TEST(NameList, NamesMayHaveStars) {
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
