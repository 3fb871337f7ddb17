// PROF_* variables: defaults, units, and invalid values.
#include "preload/base/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prof::preload {
namespace {

void read(std::vector<std::string> variables) {
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  read_options(environment.data());
}

TEST(Options, HaveTheDefaultsOfTheTable) {
  read({});
  EXPECT_STREQ(options().output, ".");
  EXPECT_EQ(options().flush, 1'000'000'000u);
  EXPECT_EQ(options().max_size, 8ull << 30);
  EXPECT_FALSE(options().quiet);
}

TEST(Options, TakeUnits) {
  read({"PROF_MAX_SIZE=1.5G", "PROF_FLUSH=0.25", "PROF_SLAB=64K", "PROF_DEPTH=off", "PROF_QUIET=on"});
  EXPECT_EQ(options().max_size, (3ull << 30) / 2);
  EXPECT_EQ(options().flush, 250'000'000u);
  EXPECT_EQ(options().slab, 64u << 10);
  EXPECT_STREQ(options().depth, "off");
  EXPECT_TRUE(options().quiet);
  read({"PROF_SAMPLING_INTERVAL=50us", "PROF_FLUSH=20ms"});
  EXPECT_EQ(options().sampling_interval, 50'000u);
  EXPECT_EQ(options().flush, 20'000'000u);
}

TEST(Options, FallBackToTheDefaultOnNonsense) {
  testing::internal::CaptureStderr();
  read({"PROF_MAX_SIZE=many", "PROF_FLUSH=-1", "PROF_GPU=maybe"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(options().max_size, 8ull << 30);
  EXPECT_EQ(options().flush, 1'000'000'000u);
  EXPECT_STREQ(options().gpu, "on");
  for (const char* const line : {"PROF_MAX_SIZE is not valid", "PROF_FLUSH is not valid", "PROF_GPU is not valid"}) {
    const size_t at = said.find(line);
    EXPECT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find(line, at + 1), std::string::npos) << "said once: " << said;
  }
  EXPECT_NE(said.find("on|off"), std::string::npos);
}

}  // namespace
}  // namespace prof::preload
