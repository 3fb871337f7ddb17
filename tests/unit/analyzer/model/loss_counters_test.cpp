// Loss counters of a process: found by their row of loss_counters.def, which says what records are missing.
#include "analyzer/model/trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using format::LossCounter;
using format::Missing;
using format::Severity;

TEST(LossCounters, ARowSaysWhichRecordsAreMissing) {
  Process process;
  EXPECT_FALSE(process.lost(Missing::Calls));
  process.counters.push_back({"of_the_future", 3, Severity::Partial});
  EXPECT_FALSE(process.lost(Missing::Calls) || process.lost(Missing::GpuRecords));
  process.count(LossCounter::cupti_flush_timeouts, 1);
  EXPECT_TRUE(process.lost(Missing::GpuRecords));
  EXPECT_FALSE(process.lost(Missing::Calls));
  process.count(LossCounter::unhooked_launch_api, 1);
  EXPECT_TRUE(process.lost(Missing::Calls));
}

TEST(LossCounters, CountingAddsToACounterOfTheLog) {
  Process process;
  process.count(LossCounter::nvtx_times_unknown, 0);
  EXPECT_TRUE(process.counters.empty()) << "a counter that is 0 has no row";
  process.count(LossCounter::nvtx_times_unknown, 2);
  process.count(LossCounter::nvtx_times_unknown, 3);
  EXPECT_EQ(process.counter(LossCounter::nvtx_times_unknown), 5u);
  ASSERT_EQ(process.counters.size(), 1u);
  EXPECT_EQ(process.counters[0].severity, Severity::Partial);
  EXPECT_NE(coverage_line(process).find("; nvtx_times_unknown 5"), std::string::npos);
}

TEST(LossCounters, OnlyLossesSayThatRecordsOfCallsOrOfTheGpuAreMissing) {
  for (const format::CounterInfo& info : format::kCounters) {
    if (info.missing == Missing::Calls || info.missing == Missing::GpuRecords) {
      EXPECT_EQ(info.severity, Severity::Loss) << info.name;
    }
    if (info.severity == Severity::Info) {
      EXPECT_EQ(info.missing, Missing::Nothing) << info.name;
    }
    EXPECT_EQ(format::find_counter(info.name), &info);
  }
  EXPECT_EQ(format::find_counter("of_the_future"), nullptr);
}

}  // namespace
}  // namespace prof::analyzer
