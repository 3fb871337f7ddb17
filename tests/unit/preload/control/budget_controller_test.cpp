// PROF_BUDGET's controller on a program whose costs are all known: does the run stay within its budget, and are GPU
// times recorded?
#include "preload/control/budget_controller.h"

#include <gtest/gtest.h>

namespace prof::preload {
namespace {

// A program that makes `rate` launches per second and calls the controller when it requests it. Switching and flushing
// costs `fixed_ns` per burst.
struct World {
  BudgetController controller;
  LaunchCosts costs;
  double fixed_ns = 1e6;
  BudgetController::Totals now{};
  double launches = 0, true_ns = 0, timed = 0;

  World(double share, LaunchCosts known, uint64_t seed = 1) : controller(share, seed), costs(known) {}

  void run(double seconds, double rate) {
    const double end = static_cast<double>(now.elapsed_ns) + seconds * 1e9;
    while (static_cast<double>(now.elapsed_ns) < end) {
      const auto step = std::max<uint64_t>(controller.pause_ns(now), 1'000'000);
      const bool burst = controller.state() != BudgetController::State::Resting;
      const double made = rate * static_cast<double>(step) / 1e9;
      launches += made;
      if (controller.state() == BudgetController::State::Burst) timed += made;
      true_ns += made * (costs.hook_ns + (burst ? costs.burst_ns : controller.attached() ? costs.rest_ns : 0));
      now.elapsed_ns += step;
      now.launches = static_cast<uint64_t>(launches);
      if (controller.look(now, costs) == BudgetController::Step::Begin) spend(fixed_ns / 2);
      if (controller.state() == BudgetController::State::Draining) {
        spend(fixed_ns / 2);
        controller.drained(now, costs);
      }
    }
  }
  void spend(double ns) {
    true_ns += ns;
    now.own_ns += static_cast<uint64_t>(ns);
  }
  double share() const { return true_ns / static_cast<double>(now.elapsed_ns); }
};

TEST(BudgetController, StaysUnderItsShareAndUsesMostOfIt) {
  for (const double share : {0.01, 0.02, 0.05}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      World world(share, {45, 200, 700}, seed * 7919);
      world.run(60, 20'000);
      EXPECT_LE(world.share(), share * 1.1) << share << " seed " << seed;
      EXPECT_GE(world.share(), share * 0.5) << share << " seed " << seed;
      EXPECT_GE(world.controller.bursts(), 20u);
      EXPECT_GT(world.timed, 0);
      // the controller's own estimate of its cost
      EXPECT_NEAR(world.controller.spent().all_ns(), world.true_ns, world.true_ns * 0.02);
    }
  }
}

TEST(BudgetController, RecoversWhenTheRateOfLaunchesChanges) {
  World world(0.02, {45, 100, 700});
  world.run(20, 2'000);
  world.run(10, 60'000);
  EXPECT_LE(world.share(), 0.022);
  world.run(60, 2'000);
  EXPECT_LE(world.share(), 0.022);
  const uint64_t before = world.controller.bursts();
  world.run(20, 2'000);
  EXPECT_GT(world.controller.bursts(), before);
}

TEST(BudgetController, NeverAttachesWhatItCouldNotAfford) {
  // 400,000 launches per second: after the first burst, permanently 22 % of the time
  World world(0.02, {45, 550, 700});
  world.run(30, 400'000);
  EXPECT_EQ(world.controller.bursts(), 0u);
  EXPECT_FALSE(world.controller.attached());
  world.run(600, 100);  // most of the run is without bursts now
  EXPECT_GT(world.controller.bursts(), 0u);
}

TEST(BudgetController, LeavesAnIdleProgramAlone) {
  World world(0.05, {45, 100, 700});
  world.run(10, 0);
  EXPECT_EQ(world.controller.bursts(), 0u);
}

TEST(BudgetController, DoesNotKeepStepWithTheProgram) {
  // Bursts start about equally often in each tenth of a period of 100 ms.
  BudgetController controller(0.05, 12345);
  const LaunchCosts costs{45, 0, 700};
  BudgetController::Totals now;
  int in_tenth[10] = {}, bursts = 0;
  while (bursts < 2000) {
    now.elapsed_ns += controller.pause_ns(now);
    now.launches = now.elapsed_ns / 50'000;
    if (controller.look(now, costs) == BudgetController::Step::Begin) {
      ++bursts, ++in_tenth[now.elapsed_ns / 10'000'000 % 10];
      now.own_ns += 500'000;
    }
    if (controller.state() == BudgetController::State::Draining) controller.drained(now, costs);
  }
  for (const int count : in_tenth) EXPECT_NEAR(count, 200, 60);
}

TEST(BudgetController, SaysWhatShareWouldDoWhereCuptiCostsTooMuchBetweenBursts) {
  World world(0.01, {45, 550, 700});
  world.run(5, 100'000);
  EXPECT_EQ(world.controller.bursts(), 0u);
  ASSERT_TRUE(world.controller.refused());
  const double needed = world.controller.share_needed(world.costs);
  EXPECT_NEAR(needed, 0.1 * 595e-3 / 0.75, 0.002);  // 100 launches per ms, 595 ns each
  World enough(needed * 1.05, {45, 550, 700});
  enough.run(60, 100'000);
  EXPECT_GT(enough.controller.bursts(), 0u);
  EXPECT_FALSE(enough.controller.refused());
}

}  // namespace
}  // namespace prof::preload
