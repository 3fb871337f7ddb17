// Which hardware samples are kept, and how long they are missing: overlaps, gaps, the end of sampling, two GPUs.
#include "analyzer/input/log/build/stages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

// A GPU has one set; its samples have as many values as the set has metrics.
struct Samples {
  Samples() {
    for (uint32_t gpu = 0; gpu < 2; ++gpu) {
      trace.processes.emplace_back();
      trace.devices.emplace_back().process = ProcessId{gpu};
      SampledSet& set = trace.samples.sets.emplace_back();
      set.device = DeviceId{gpu};
      set.metrics.resize(2 - gpu);
      inputs.emplace_back().process = ProcessId{gpu};
    }
    tasks.resize(2);
  }
  void add(size_t task, uint32_t set, int64_t begin_ns, int64_t end_ns, const std::vector<double>& values) {
    tasks[task].sampled.push_back({begin_ns, end_ns, set});
    for (const double value : values) tasks[task].sampled_values.push_back(value);
  }
  // "begin-end:value,value" of the kept samples.
  std::string kept(uint32_t set) const {
    std::string text;
    for (size_t row = trace.samples.sets[set].first; row < trace.samples.sets[set].last; ++row) {
      text += (text.empty() ? "" : " ") + std::to_string(trace.samples.rows[row].begin_ns) + "-" +
              std::to_string(trace.samples.rows[row].end_ns) + ":";
      for (const double value : trace.samples.values_of(set, row))
        text += std::to_string(static_cast<int>(value)) + ",";
    }
    return text;
  }

  Trace trace;
  std::vector<LogInput> inputs;
  std::vector<LogTask> tasks;
};

TEST(PlaceSamples, KeepsThoseThatFollowEachOtherAndCountsTheRest) {
  Samples of;
  of.add(0, 0, 10, 20, {3, 4});
  of.add(0, 1, 100, 110, {50});
  of.add(0, 0, 19, 30, {5, 6});   // two clocks may differ by one ns
  of.add(0, 0, 28, 40, {7, 8});   // not by two
  of.add(1, 0, 0, 10, {1, 2});    // of another block
  of.add(1, 0, 35, 45, {9, 10});  // 5 ns are missing before it
  of.add(1, 1, 110, 120, {51});
  of.add(1, 0, 50, 50, {0, 0});  // sampling ended here: another 5 ns
  place_samples(of.inputs, of.tasks, of.trace);
  EXPECT_EQ(of.kept(0), "0-10:1,2, 10-20:3,4, 20-30:5,6, 35-45:9,10,");
  EXPECT_EQ(of.kept(1), "100-110:50, 110-120:51,");
  const Coverage& first = of.trace.processes[0].coverage;
  EXPECT_EQ(first.samples, 4u);
  EXPECT_EQ(first.samples_unreadable, 1u);
  EXPECT_EQ(first.samples_missing_ns, 10);
  const Coverage& second = of.trace.processes[1].coverage;
  EXPECT_EQ(second.samples, 2u);
  EXPECT_EQ(second.samples_unreadable, 0u);
  EXPECT_EQ(second.samples_missing_ns, 0);
}

}  // namespace
}  // namespace prof::analyzer
