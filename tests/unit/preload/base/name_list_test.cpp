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

TEST(NameList, WhatComesAfterTheLastAtIsADomain) {
  std::string_view name, domain;
  split_range_name("step", name, domain);
  EXPECT_EQ(name, "step");
  EXPECT_EQ(domain, "*");
  split_range_name("a@b@solver", name, domain);
  EXPECT_EQ(name, "a@b");
  EXPECT_EQ(domain, "solver");
  split_range_name("step@", name, domain);
  EXPECT_EQ(name, "step");
  EXPECT_EQ(domain, "");
}

}  // namespace
}  // namespace prof::preload
