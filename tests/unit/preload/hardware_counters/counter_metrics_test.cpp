// What PROF_COUNTERS means on a chip, and under which names kernels are known.
#include "preload/hardware_counters/counter_metrics.h"
#include "preload/hardware_counters/plain_name.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace prof::preload {
namespace {

using Chip = std::map<std::string, MetricKind, std::less<>>;
const Chip kChip = {{"gpu__time_duration", MetricKind::Counter},
                    {"dram__bytes_read", MetricKind::Counter},
                    {"dram__bytes_write", MetricKind::Counter},
                    {"lts__t_bytes", MetricKind::Counter},
                    {"sm__ops_path_tensor_src_fp16", MetricKind::Counter},
                    {"sm__sass_thread_inst_executed_op_ffma_pred_on", MetricKind::Counter},
                    {"sm__throughput", MetricKind::Other}};

struct Chosen {
  std::string why;
  std::vector<std::string> names;
};
template <class Set> option::WantedMetrics metrics_of(std::string_view text) {
  option::WantedMetrics wanted;
  EXPECT_TRUE(option::Metrics<Set>::read(text, {}, wanted));
  return wanted;
}
Chosen choose(std::string_view wanted, const Chip& chip = kChip) {
  static CounterMetrics metrics;
  const auto kind = [](const void* known, std::string_view name) {
    const Chip& all = *static_cast<const Chip*>(known);
    const auto found = all.find(name);
    return found == all.end() ? MetricKind::Unknown : found->second;
  };
  const char* const why = choose_metrics(metrics_of<option::CounterSet>(wanted), kLaunchSets, {kind, &chip}, metrics);
  return {why == nullptr ? "" : std::string(metrics.wrong) + ": " + why,
          {metrics.names, metrics.names + metrics.count}};
}
using Names = std::vector<std::string>;

TEST(CounterMetrics, ASetHasWhatTheChipHasOfItAndTimesFirst) {
  EXPECT_EQ(choose("memory").names,
            Names({"gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum"}));
  EXPECT_EQ(choose("tensor").names, Names({"gpu__time_duration.sum", "sm__ops_path_tensor_src_fp16.sum"}));
  EXPECT_EQ(choose("roofline").names, Names({"gpu__time_duration.sum", "sm__ops_path_tensor_src_fp16.sum",
                                             "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                             "dram__bytes_read.sum", "dram__bytes_write.sum"}));
  EXPECT_EQ(choose("memory", {{"gpu__time_duration", MetricKind::Counter}}).names, Names({"gpu__time_duration.sum"}));
}

TEST(CounterMetrics, AListKeepsItsOrderAndEachMetricOnce) {
  EXPECT_EQ(choose("lts__t_bytes,sm__throughput.avg.pct_of_peak_sustained_elapsed,gpu__time_duration,,lts__t_bytes.sum,"
                   "lts__t_bytes.avg")
                .names,
            Names({"gpu__time_duration.sum", "lts__t_bytes.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                   "lts__t_bytes.avg"}));
  EXPECT_EQ(choose("tensor,lts__t_bytes").names,
            Names({"gpu__time_duration.sum", "sm__ops_path_tensor_src_fp16.sum", "lts__t_bytes.sum"}));
}

TEST(CounterMetrics, WhatCannotBeMeasuredIsNamed) {
  EXPECT_EQ(choose("lts__t_bytes,lts__bytes.sum").why, "lts__bytes.sum: not a metric of this chip");
  EXPECT_TRUE(choose("sm__throughput").why.starts_with("sm__throughput: no counter: it needs a suffix"));
  EXPECT_EQ(choose("lts__t_bytes", {}).why, "gpu__time_duration: not a metric of this chip");
  std::string many;
  for (int i = 0; i < 64; ++i) many += "lts__t_bytes.s" + std::to_string(i) + ",";
  EXPECT_EQ(choose(many).why, "lts__t_bytes.s63: more than 64 metrics");
}

std::string plain(std::string_view mangled, size_t size = 100) {
  char buffer[100];
  return std::string(plain_name(mangled, buffer, size));
}

TEST(CounterMetrics, ASampledSetHasItsSuffixesAndWhatTheListItselfNamesIsKnown) {
  const Chip chip = {{"sm__cycles_active", MetricKind::Counter},
                     {"dram__bytes_read", MetricKind::Counter},
                     {"l1tex__t_sector_hit_rate", MetricKind::Other}};
  const auto kind = [](const void* known, std::string_view name) {
    const Chip& all = *static_cast<const Chip*>(known);
    const auto found = all.find(name);
    return found == all.end() ? MetricKind::Unknown : found->second;
  };
  static CounterMetrics metrics;
  ASSERT_EQ(choose_metrics(metrics_of<option::SampledSet>("overview,l1tex__t_sector_hit_rate.pct,dram__bytes_read"),
                           kSampledSets, {kind, &chip}, metrics),
            nullptr);
  ASSERT_EQ(metrics.count, 3u);
  EXPECT_STREQ(metrics.names[0], "sm__cycles_active.avg.pct_of_peak_sustained_elapsed");
  EXPECT_STREQ(metrics.names[1], "dram__bytes_read.sum");
  EXPECT_STREQ(metrics.names[2], "l1tex__t_sector_hit_rate.pct");
  EXPECT_EQ(metrics.by_name, 0b110u);
  char names[sizeof metrics.text];
  EXPECT_EQ(join_names(metrics, names),
            "sm__cycles_active.avg.pct_of_peak_sustained_elapsed\ndram__bytes_read.sum\n"
            "l1tex__t_sector_hit_rate.pct");
  EXPECT_STREQ(choose_metrics(metrics_of<option::SampledSet>("links"), kSampledSets, {kind, &chip}, metrics),
               "the chip has none of these metrics");
}

TEST(PlainName, OfAFunctionIsWhatItWasWrittenWith) {
  EXPECT_EQ(plain("_Z3addPKf"), "add");
  EXPECT_EQ(plain("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"),
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(plain("_ZN2at6native3addILi4EEEvT_"), "at::native::add");
}

TEST(PlainName, OfWhatIsNotMangledOrCutShortIsEmpty) {
  for (const char* name : {"", "add", "_Z", "_Z9add", "_Zpl1AS_", "_ZN", "_Z99999999999999999999999a"})
    EXPECT_EQ(plain(name), "") << name;
  EXPECT_EQ(plain("_ZN2at6native3addEf", 9), "");
}

}  // namespace
}  // namespace prof::preload
