// PROF_OUTPUT: a folder, a pattern or a file name.
#include "preload/log/log_name.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace prof::preload {
namespace {

std::string name_below(const char* folder, const char* output, unsigned attempt = 1) {
  char path[256];
  return make_log_name(path, sizeof path, folder, output, attempt) ? path : "too long";
}
std::string name(const char* output, unsigned attempt = 1) { return name_below("", output, attempt); }
const std::string kPid = std::to_string(getpid());

TEST(LogName, AFolderGetsTheDefaultName) { EXPECT_EQ(name("/a/b"), "/a/b/prof." + kPid + ".plog"); }

TEST(LogName, ASecondTryIsNumberedBeforeTheSuffix) {
  EXPECT_EQ(name("/a", 2), "/a/prof." + kPid + "-2.plog");
  EXPECT_EQ(name("x.plog", 3), "x-3.plog");
}

TEST(LogName, APatternIsFilledIn) {
  setenv("RANK", "5", 1);
  EXPECT_EQ(name("run-%r-%p%%.plog"), "run-5-" + kPid + "%.plog");
  unsetenv("RANK");
}

TEST(LogName, TheRankIsTheFirstThatALauncherGave) {
  unsetenv("RANK"), unsetenv("WORLD_SIZE");
  EXPECT_EQ(launcher_rank(), "");
  setenv("SLURM_PROCID", "7", 1), setenv("SLURM_NTASKS", "16", 1);
  EXPECT_EQ(launcher_rank(), "7");
  EXPECT_EQ(launcher_size(), "16");
  setenv("RANK", "2", 1);
  EXPECT_EQ(launcher_rank(), "2");
  unsetenv("RANK"), unsetenv("SLURM_PROCID"), unsetenv("SLURM_NTASKS");
}

TEST(LogName, ARelativeOutputIsBelowTheFolderWhoseNameIsNoPattern) {
  EXPECT_EQ(name_below("/100%p", "."), "/100%p/prof." + kPid + ".plog");
  EXPECT_EQ(name_below("/w", "./logs", 2), "/w/logs/prof." + kPid + "-2.plog");
  EXPECT_EQ(name_below("/w", "run-%p.plog"), "/w/run-" + kPid + ".plog");
  EXPECT_EQ(name_below("/w.plog", ""), "/w.plog/prof." + kPid + ".plog");
  EXPECT_EQ(name_below("/", "a"), "/a/prof." + kPid + ".plog");
}

TEST(LogName, ATextThatDoesNotFitIsRefused) { EXPECT_EQ(name(std::string(300, 'x').c_str()), "too long"); }

}  // namespace
}  // namespace prof::preload
