// Rates, shares of peaks and bounds of several launches: sums divided by sums, computed by hand.
#include "analyzer/analysis/cost/peak_rates.h"

#include "analyzer/reports/roofline.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace prof::analyzer {
namespace {

TEST(PeakRates, RatesAreSumsOverSums) {
  DevicePeaks device;
  device.tera[static_cast<size_t>(PeakType::Bf16)] = 1;  // 1000 FLOPs per ns
  device.bandwidth_gbs = 10;
  KernelCost cost;
  cost.flops = cost.useful_flops = 100'000, cost.bytes = 1000, cost.peak = PeakType::Bf16, cost.type = DataType::Bf16;
  PeakSums sums;
  sums.add(cost, 200, device);
  cost.flops = cost.useful_flops = 300'000;
  sums.add(cost, 600, device);
  sums.add(KernelCost{}, 1'000'000, device);  // without numbers: not counted in any rate
  EXPECT_DOUBLE_EQ(*sums.tera_flops(), 0.5);  // 400,000 FLOPs in 800 ns
  EXPECT_DOUBLE_EQ(*sums.flops_percent(), 50);
  EXPECT_DOUBLE_EQ(*sums.giga_bytes(), 2.5);
  EXPECT_DOUBLE_EQ(*sums.bytes_percent(), 25);
  EXPECT_DOUBLE_EQ(*sums.intensity(), 200);
  EXPECT_DOUBLE_EQ(sums.ideal_ns, 100 + 300);
  EXPECT_EQ(sums.note(), "no FLOPs of 1 of 3 launches, no bytes of 1 of 3 launches");
  EXPECT_FALSE(sums.above_peak);
  cost.flops = 1'000'000;
  sums.add(cost, 900, device);
  EXPECT_TRUE(sums.above_peak);
}

// 1000 bytes per ns: the `ideal_ns` of the memory, and the measured time.
PeakSums memory_launches(std::initializer_list<std::pair<int64_t, int64_t>> launches) {
  DevicePeaks device;
  device.bandwidth_gbs = 1000;
  PeakSums sums;
  for (const auto& [ideal_ns, taken_ns] : launches) {
    KernelCost cost;
    cost.bytes = static_cast<uint64_t>(ideal_ns * 1000);
    sums.add(cost, taken_ns, device);
  }
  return sums;
}

TEST(PeakRates, ALaunchIsBoundByItselfOnlyIfThatIsHalfOfItsTime) {
  EXPECT_EQ(roof_bound(memory_launches({{1300, 4000}})), RoofBound::Launch);
  EXPECT_EQ(roof_bound(memory_launches({{1999, 2500}})), RoofBound::Launch);
  // Its bytes take less time than any kernel does, but the time was not spent there.
  EXPECT_EQ(roof_bound(memory_launches({{1300, 4001}})), RoofBound::Memory);
  EXPECT_EQ(roof_bound(memory_launches({{1300, 500'000}})), RoofBound::Memory);
  EXPECT_EQ(roof_bound(memory_launches({{2000, 2500}})), RoofBound::Memory);
  EXPECT_EQ(roof_bound(PeakSums{}), RoofBound::Unknown);
}

TEST(PeakRates, ARowIsBoundByWhatMostOfItsTimeIs) {
  // 300 µs of short launches together with 1 ms, and with 200 µs, of a long one.
  PeakSums shorts = memory_launches({});
  for (int i = 0; i < 100; ++i) shorts.add_all(memory_launches({{100, 3000}}));
  PeakSums more_long = shorts, less_long = shorts;
  more_long.add_all(memory_launches({{900'000, 1'000'000}}));
  less_long.add_all(memory_launches({{150'000, 200'000}}));
  EXPECT_EQ(roof_bound(more_long), RoofBound::Memory);
  EXPECT_EQ(roof_bound(less_long), RoofBound::Launch);
}

TEST(PeakRates, ALaunchThatTookNoTimeMakesNoRate) {
  PeakSums sums;
  KernelCost cost;
  cost.flops = 10, cost.bytes = 10, cost.peak = PeakType::Bf16;
  sums.add(cost, 0, DevicePeaks{});
  EXPECT_FALSE(sums.tera_flops());
  EXPECT_FALSE(sums.giga_bytes());
  EXPECT_FALSE(sums.flops_percent());
  EXPECT_FALSE(sums.bytes_percent());
}

TEST(PeakRates, FlopsWithoutAPeakOfTheirTypeSaySo) {
  DevicePeaks device;
  device.origin = PeakOrigin::Table, device.bandwidth_gbs = 10;
  device.tera[static_cast<size_t>(PeakType::Bf16)] = 1;
  KernelCost cost;
  cost.flops = cost.useful_flops = 1000, cost.bytes = 10, cost.peak = PeakType::Fp4;
  PeakSums sums;
  sums.add(cost, 200, device);
  EXPECT_FALSE(sums.flops_percent());
  EXPECT_EQ(sums.note(), "no peak of its type");
  // Its bytes would take 1 ns, but the time for its FLOPs is unknown.
  EXPECT_EQ(sums.with_ideal_ns, 0);
  EXPECT_EQ(roof_bound(sums), RoofBound::Unknown);
  cost.peak = PeakType::Bf16;
  sums.add(cost, 200, device);
  EXPECT_EQ(sums.note(), "no peak of 1 of 2 launches");
  EXPECT_EQ(sums.with_ideal_ns, 200);
  EXPECT_DOUBLE_EQ(sums.flops_with_peak, 1000);
}

}  // namespace
}  // namespace prof::analyzer
