// PROF_* variables: defaults, units, choices and their arguments, values that are not valid, and when they are read.
#include "preload/base/options.h"

#include "preload/base/option_messages.h"
#include "tests/unit/preload/recording_child.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace prof::preload {
namespace {

void read_variables(std::vector<std::string> variables) {
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  read_options(environment.data(), test::kDefaultOptions);
}

// Of a row: valid or not.
bool is_valid(const std::string& entry) {
  read_variables({entry});
  SetOption set{};
  for (uint32_t row = 0; row < kOptionCount; ++row) {
    if (set_option(row, set)) return set.valid;
  }
  ADD_FAILURE() << entry << " is no option";
  return false;
}

TEST(Options, HaveTheDefaultsOfTheTable) {
  read_variables({});
  EXPECT_STREQ(options().output, ".");
  EXPECT_EQ(options().flush, 250'000'000u);
  EXPECT_EQ(options().max_size, 8ull << 30);
  EXPECT_FALSE(options().quiet);
  EXPECT_TRUE(options().gpu);
  EXPECT_EQ(options().start, option::Start::Now);
  EXPECT_EQ(options().depth, option::Depth::Marks);
  EXPECT_EQ(options().sampling_interval, 200'000u);
  EXPECT_TRUE(options().processes.every);
  EXPECT_TRUE(options().about.has(option::About::Host));
  EXPECT_FALSE(options().ring.wanted());
}

TEST(Options, PcSamplesHaveAPeriodOfAPowerOfTwo) {
  read_variables({});
  EXPECT_FALSE(options().pc_sampling.wanted());
  read_variables({"PROF_PC_SAMPLING=auto"});
  EXPECT_EQ(options().pc_sampling.exponent, 16u);
  EXPECT_TRUE(options().pc_sampling.automatic);
  read_variables({"PROF_PC_SAMPLING=2^5"});
  EXPECT_EQ(options().pc_sampling.exponent, 5u);
  EXPECT_FALSE(options().pc_sampling.automatic);
  EXPECT_TRUE(is_valid("PROF_PC_SAMPLING=2^31"));
  EXPECT_TRUE(is_valid("PROF_PC_SAMPLING=off"));
  for (const char* const bad : {"on", "16", "2^4", "2^32", "2^", "2^1x", "2^-5", "3^16", "auto2"})
    EXPECT_FALSE(is_valid(std::string("PROF_PC_SAMPLING=") + bad)) << bad;
}

TEST(Options, HostSamplesHaveARate) {
  read_variables({});
  EXPECT_FALSE(options().host_samples.wanted());
  read_variables({"PROF_HOST_SAMPLES=499"});
  EXPECT_EQ(options().host_samples.hz, 499u);
  EXPECT_FALSE(options().host_samples.starved);
  read_variables({"PROF_HOST_SAMPLES=starved"});
  EXPECT_EQ(options().host_samples.hz, 99u);
  EXPECT_TRUE(options().host_samples.starved);
  read_variables({"PROF_HOST_SAMPLES=starved:97"});
  EXPECT_EQ(options().host_samples.hz, 97u);
  EXPECT_TRUE(is_valid("PROF_HOST_SAMPLES=off"));
  for (const char* const bad : {"0", "2001", "starved:", "starved:0", "starvedly", "starved9", "49x", "on"})
    EXPECT_FALSE(is_valid(std::string("PROF_HOST_SAMPLES=") + bad)) << bad;
}

TEST(Options, TakeUnits) {
  read_variables({"PROF_MAX_SIZE=1.5G", "PROF_FLUSH=0.25", "PROF_SLAB=64K", "PROF_DEPTH=off", "PROF_QUIET=on"});
  EXPECT_EQ(options().max_size, (3ull << 30) / 2);
  EXPECT_EQ(options().flush, 250'000'000u);
  EXPECT_EQ(options().slab, 64u << 10);
  EXPECT_EQ(options().depth, option::Depth::Off);
  EXPECT_TRUE(options().quiet);
  read_variables({"PROF_SAMPLING_INTERVAL=50us", "PROF_FLUSH=20ms"});
  EXPECT_EQ(options().sampling_interval, 50'000u);
  EXPECT_EQ(options().flush, 20'000'000u);
}

TEST(Options, ChoicesAreEnumsWithTheirArguments) {
  read_variables({"PROF_START=launches:12", "PROF_SIGNAL=USR2", "PROF_DUMP=slow:1.5", "PROF_CLOCK=my_clock"});
  EXPECT_EQ(options().start, option::Start::Launches);
  EXPECT_EQ(options().start.number, 12u);
  EXPECT_EQ(options().signal, option::Signal::Usr2);
  EXPECT_EQ(options().dump, option::Dump::Slow);
  EXPECT_EQ(options().dump.number, 1'500'000'000u);
  EXPECT_EQ(options().clock, option::Clock::Function);
  EXPECT_EQ(options().clock.text, "my_clock");
  read_variables({"PROF_START=nvtx:a@b@train", "PROF_COUNTERS_OF=nvtx:step@", "PROF_DUMP=nvtx:x@y", "PROF_CLOCK=tsc"});
  EXPECT_EQ(options().start.range.name, "a@b");
  EXPECT_TRUE(options().start.range.in_domain("train"));
  EXPECT_FALSE(options().start.range.in_domain(""));
  EXPECT_TRUE(options().counters_of.range.in_domain(""));
  EXPECT_FALSE(options().counters_of.range.in_domain("train"));
  EXPECT_EQ(options().dump.text, "x@y");
  EXPECT_EQ(options().clock, option::Clock::Tsc);
  read_variables({"PROF_START=nvtx:step@*"});
  EXPECT_TRUE(options().start.range.in_domain("any"));
}

TEST(Options, ListsAreBitsNumbersAndMetrics) {
  read_variables({"PROF_STACKS=sync,,launch", "PROF_ABOUT=none", "PROF_DEVICES=1,3-4", "PROF_COUNTERS=a.sum,tensor"});
  EXPECT_TRUE(options().stacks.has(option::Stacks::Sync) && options().stacks.has(option::Stacks::Launch));
  EXPECT_FALSE(options().stacks.has(option::Stacks::Copy) || options().stacks.has(option::Stacks::Alloc));
  EXPECT_EQ(options().about.bits, 0u);
  EXPECT_TRUE(options().devices.has(4) && !options().devices.has(2));
  ASSERT_EQ(options().counters.count, 2u);
  EXPECT_EQ(options().counters.items[0].metric, "a.sum");
  EXPECT_EQ(options().counters.items[0].set, 0u);
  EXPECT_EQ(options().counters.items[1].set, option::SomeOf<option::CounterSet>::bit(option::CounterSet::Tensor));
  read_variables({"PROF_STACKS=all"});
  EXPECT_EQ(options().stacks.bits, 15u);
}

TEST(Options, ARingAShareAndARepetitionAreReadWhole) {
  read_variables({"PROF_RING=30s", "PROF_BUDGET=2%", "PROF_REPEAT_KERNEL=app::scale:3=100"});
  EXPECT_EQ(options().ring.ns, 30'000'000'000u);
  EXPECT_EQ(options().ring.bytes, 0u);
  EXPECT_DOUBLE_EQ(options().budget.share, 0.02);
  EXPECT_EQ(options().budget.text, "2%");
  EXPECT_EQ(options().repeat_kernel.kernel, "app::scale");
  EXPECT_EQ(options().repeat_kernel.launch, 3u);
  EXPECT_EQ(options().repeat_kernel.times, 100u);
  read_variables({"PROF_RING=256M", "PROF_BUDGET=0.5", "PROF_REPEAT_KERNEL=app::scale=7"});
  EXPECT_EQ(options().ring.bytes, 256u << 20);
  EXPECT_DOUBLE_EQ(options().budget.share, 0.005);
  EXPECT_EQ(options().repeat_kernel.kernel, "app::scale");
  EXPECT_EQ(options().repeat_kernel.launch, 1u);
}

TEST(Options, KnowWhatIsNotValid) {
  for (const char* const entry : {"PROF_RING=junk",
                                  "PROF_RING=s",
                                  "PROF_BUDGET=0%",
                                  "PROF_BUDGET=101",
                                  "PROF_BUDGET=2s",
                                  "PROF_STACKS=launch,x",
                                  "PROF_ABOUT=hots",
                                  "PROF_START=launches:",
                                  "PROF_START=launches:1x",
                                  "PROF_START=launches:99999999999999999999",
                                  "PROF_START=nvtx:",
                                  "PROF_START=nvtx:@domain",
                                  "PROF_START=later",
                                  "PROF_DUMP=slow:0",
                                  "PROF_DUMP=slow:x",
                                  "PROF_REPEAT_KERNEL=scale",
                                  "PROF_REPEAT_KERNEL=scale=0",
                                  "PROF_REPEAT_KERNEL=scale:0=1",
                                  "PROF_REPEAT_KERNEL=scale=1000001",
                                  "PROF_STACK_DEPTH=0",
                                  "PROF_STACK_DEPTH=129",
                                  "PROF_PARTS=0.5",
                                  "PROF_GPU=1",
                                  "PROF_COUNTERS=,",
                                  "PROF_DELAY=soon"})
    EXPECT_FALSE(is_valid(entry)) << entry;
  for (const char* const entry : {"PROF_RING=0", "PROF_RING=1.5s", "PROF_BUDGET=100%", "PROF_STACK_DEPTH=128",
                                  "PROF_PARTS=1.5K", "PROF_COUNTERS=off", "PROF_START=nvtx:x@"})
    EXPECT_TRUE(is_valid(entry)) << entry;
}

TEST(Options, FallBackToTheDefaultOnNonsense) {
  testing::internal::CaptureStderr();
  read_variables({"PROF_MAX_SIZE=many", "PROF_FLUSH=-1", "PROF_GPU=maybe", "PROF_RING=junk",
                  "PROF_OUTPUT=" + std::string(20'000, 'x')});
  report_options();
  report_options();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(options().max_size, 8ull << 30);
  EXPECT_EQ(options().flush, 250'000'000u);
  EXPECT_TRUE(options().gpu);
  EXPECT_FALSE(options().ring.wanted());
  EXPECT_STREQ(options().output, ".");
  for (const char* const line : {"PROF_MAX_SIZE is not valid", "PROF_FLUSH is not valid", "PROF_GPU is not valid",
                                 "PROF_RING is not valid", "PROF_OUTPUT is not valid"}) {
    const size_t at = said.find(line);
    EXPECT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find(line, at + 1), std::string::npos) << "said once: " << said;
  }
  EXPECT_NE(said.find("on|off"), std::string::npos);
  EXPECT_NE(said.find("BYTES|SECONDSs|off"), std::string::npos);
}

TEST(Options, AreTheFirstEntryOfAName) {
  read_variables({"PROF_SLAB=64K", "PROF_SLAB=1M", "PROF_SLABS=2M", "PROF_SLAB", "PROF_FLUSH="});
  EXPECT_EQ(options().slab, 64u << 10);
  EXPECT_EQ(options().flush, 250'000'000u);
}

// In a process that has not read them yet.
TEST(Options, AreCopiedOnceAndTheOutputIsBelowTheFolderOfThatMoment) {
  const test::TempFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    detail::g_reading.store(detail::Reading::NotYet);
    setenv("PROF_SLAB", "64K", 1);
    setenv("PROF_OUTPUT", "logs", 1);
    if (chdir(folder.path().c_str()) != 0 || !read_options_once()) _exit(1);
    setenv("PROF_SLAB", "1M", 1);
    clearenv();
    if (chdir("/") != 0 || !read_options_once()) _exit(2);
    if (options().slab != 64u << 10 || std::string(options().output) != "logs") _exit(3);
    _exit(output_folder() == std::filesystem::canonical(folder.path()).string() ? 0 : 4);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace prof::preload
