// Are the recorder's clocks those of the kernel, and is a step of a clock noticed?
#include "preload/base/clock.h"

#include "preload/base/image.h"

#include <gtest/gtest.h>

#include <ctime>

namespace prof::preload {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

class Clocks : public testing::Test {
 protected:
  void SetUp() override { saved_ = g_clock; }
  void TearDown() override { g_clock = saved_; }
  static void use(format::ClockSource source, uint64_t ticks_per_second) {
    g_clock.source = source;
    g_clock.ticks_per_second = ticks_per_second;
  }
  static bool log_steps(const ClockReading& earlier, const ClockReading& later) {
    return clock_steps(earlier, later).log;
  }

 private:
  Clock saved_;
};

TEST_F(Clocks, AreThoseOfTheKernel) {
  for (const clockid_t id : {CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_MONOTONIC_RAW}) {
    timespec before{}, after{};
    ASSERT_EQ(clock_gettime(id, &before), 0);
    const uint64_t ns = kernel_clock_ns(id);
    ASSERT_EQ(clock_gettime(id, &after), 0);
    EXPECT_GE(ns, static_cast<uint64_t>(before.tv_sec) * kSecondNs + static_cast<uint64_t>(before.tv_nsec)) << id;
    EXPECT_LE(ns, static_cast<uint64_t>(after.tv_sec) * kSecondNs + static_cast<uint64_t>(after.tv_nsec)) << id;
  }
}

TEST_F(Clocks, TheVdsoHasTheFunctionThatIsReadAndNoOther) {
  EXPECT_EQ(vdso_function("no_such_function"), nullptr);
#if defined(__x86_64__)
  if (vdso_function("__vdso_getcpu") == nullptr) GTEST_SKIP() << "no vDSO";
  EXPECT_NE(vdso_function("__vdso_clock_gettime"), nullptr);
#endif
}

TEST_F(Clocks, SleepsAtLeastAsLongAsRequested) {
  const uint64_t begin = kernel_clock_ns(CLOCK_MONOTONIC);
  sleep_ns(3'000'000);
  EXPECT_GE(kernel_clock_ns(CLOCK_MONOTONIC) - begin, 3'000'000u);
}

// 10 ms before: from 5 ms on the rate is exact. 2 %: qemu and loaded machines.
TEST_F(Clocks, TheLogsClockAdvancesWithThatOfTheKernel) {
  note_clocks_at_load();
  sleep_ns(10'000'000);
  ASSERT_TRUE(start_clock({}));
  settle_clock();
  const ClockReading from = read_clocks();
  sleep_ns(20'000'000);
  const ClockReading to = read_clocks();
  const uint64_t passed = to.monotonic_ns - from.monotonic_ns;
  EXPECT_NEAR(static_cast<double>(ns_of(to.tick - from.tick)), static_cast<double>(passed),
              static_cast<double>(passed) / 50);
  EXPECT_EQ(exact_ticks_per_second(), g_clock.ticks_per_second);
#if defined(__aarch64__)
  uint64_t firmware = 0;
  __asm__("mrs %0, cntfrq_el0" : "=r"(firmware));
  EXPECT_EQ(g_clock.source, format::ClockSource::Tsc);
  EXPECT_EQ(g_clock.ticks_per_second, firmware);
#endif
}

TEST_F(Clocks, AStepBackOfTheLogsClockIsAStep) {
  use(format::ClockSource::Named, kSecondNs);
  EXPECT_TRUE(log_steps({5000, 7000, 9000}, {4999, 8000, 10000}));
  EXPECT_TRUE(log_steps({5000, 7000, 9000}, {5001, 6999, 10000}));
  EXPECT_FALSE(log_steps({5000, 7000, 9000}, {5000, 7000, 9000}));
  // A program's own clock may stand still or run at any speed.
  EXPECT_FALSE(log_steps({5000, kSecondNs, kSecondNs}, {5000, 9 * kSecondNs, 9 * kSecondNs}));
  EXPECT_FALSE(log_steps({5000, kSecondNs, kSecondNs}, {99 * kSecondNs, 2 * kSecondNs, 2 * kSecondNs}));
}

TEST_F(Clocks, ATscThatDidNotCountAllTimeIsAStep) {
  use(format::ClockSource::Tsc, 2 * kSecondNs);
  const ClockReading from{1000, 1000, 1000};
  EXPECT_FALSE(log_steps(from, {1000 + 2 * kSecondNs, 1000 + kSecondNs, 1000 + kSecondNs}));
  EXPECT_FALSE(log_steps(from, {1000 + 2 * kSecondNs - 18'000'000, 1000 + kSecondNs, 1000 + kSecondNs}));  // 9 ms
  EXPECT_TRUE(log_steps(from, {1000 + 2 * kSecondNs - 24'000'000, 1000 + kSecondNs, 1000 + kSecondNs}));   // 12 ms
}

TEST_F(Clocks, RealtimeThatWasSetIsAStepAndSlewingIsNot) {
  use(format::ClockSource::Monotonic, kSecondNs);
  const ClockReading from{0, 0, 50 * kSecondNs};
  EXPECT_FALSE(clock_steps(from, {kSecondNs, kSecondNs, 51 * kSecondNs + 500'000}).realtime);
  EXPECT_TRUE(clock_steps(from, {kSecondNs, kSecondNs, 51 * kSecondNs - 100'000'000}).realtime);
  EXPECT_TRUE(clock_steps(from, {kSecondNs, kSecondNs, 51 * kSecondNs + 100'000'000}).realtime);
  EXPECT_FALSE(clock_steps(from, {kSecondNs, kSecondNs, 20 * kSecondNs}).log);
}

}  // namespace
}  // namespace prof::preload
