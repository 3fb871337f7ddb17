// The model of any log: times are exact to the nanosecond, rows stay small, and a damaged log gives a model or an
// error.
#include "analyzer/model/names.h"
#include "analyzer/model/waiting_operations.h"
#include "tests/unit/analyzer/launch_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::add_thread;
using tests::kLogStart;
using tests::LogBuilder;
using tests::model_of;
using tests::new_launch_log;

// A TSC whose rate differs from the GPU clock's estimate by 300 ppm, as between two anchors of a short log.
LogBuilder new_tsc_log() {
  LogBuilder log(format::ClockSource::Tsc);
  log.header.pid = 100;
  log.header.start_tick = log.header.start_monotonic_ns = kLogStart;
  log.header.start_realtime_ns = 1'700'000'000'000'000'000;
  log.header.ticks_per_second = 2'899'886'000;
  log.define(format::GpuClock{kLogStart, 5'000'000, static_cast<uint64_t>(4294967296.0 * 1.0003e9 / 2.899886e9), 32});
  log.define(format::ApiDef{format::ApiId{1}, "cuLaunchKernel"});
  log.define(format::GpuStreamDef{format::GpuStreamId{1}, 0, 1, 7});
  return log;
}

TEST(Model, GpuDurationsAreTheRecordedOnesToTheNanosecond) {
  LogBuilder log = new_tsc_log();
  std::mt19937_64 random(1);
  std::vector<int64_t> durations;
  uint64_t start = 6'000'000;
  for (uint32_t i = 0; i < 2000; ++i) {
    format::KernelRun run;
    run.start = start, run.duration = random() % 5'000'000, run.correlation = i + 1,
    run.stream = format::GpuStreamId{1};
    log.add(9, run);
    durations.push_back(static_cast<int64_t>(run.duration));
    start += run.duration + 10;
  }
  const auto trace = model_of(log);
  ASSERT_EQ(trace->operations.size(), durations.size());
  for (size_t i = 0; i < durations.size(); ++i) ASSERT_EQ(trace->operations[i].duration_ns(), durations[i]) << i;
  EXPECT_GE(trace->last_ns, trace->operations.back().end_ns);
  EXPECT_EQ(trace->processes[0].last_ns, trace->last_ns);
}

TEST(Model, CallsKeepTheOrderOfTheirTicks) {
  // Each call begins at the tick at which the previous one ended. One tick has one time, whether it begins or ends a
  // call.
  LogBuilder log = new_tsc_log();
  add_thread(log, 1, 500);
  std::mt19937_64 random(2);
  uint64_t end = kLogStart;
  for (int i = 0; i < 2000; ++i) {
    format::ApiCall call;
    call.duration = random() % 5000, call.end = end += call.duration, call.api = format::ApiId{1};
    log.add(1, call);
  }
  const auto trace = model_of(log);
  ASSERT_EQ(trace->host.size(), 2000u);
  for (size_t i = 1; i < 2000; ++i) ASSERT_EQ(trace->host[i].begin_ns, trace->host[i - 1].end_ns) << i;
  EXPECT_EQ(trace->host.back().end_ns, static_cast<int64_t>(static_cast<double>(end - kLogStart) / 2.899886));
}

TEST(Model, RowsStayWithin48Bytes) {
  EXPECT_LE(sizeof(HostEvent), 48u);
  EXPECT_LE(sizeof(GpuOperation), 48u);
  EXPECT_LE(sizeof(Range), 48u);
}

// Any damage gives a model or an error, never a crash.
TEST(Model, SurvivesRandomRecordsAndFlippedBytes) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    LogBuilder log = new_launch_log();
    add_thread(log, 1, 500);
    for (int i = 0; i < 200; ++i) {
      format::AllKinds::for_each([&]<class T>() {
        if (random() % 8 == 0) tests::add_random<T>(log, 1 + static_cast<uint32_t>(random() % 3), random);
      });
    }
    std::vector<uint8_t> bytes = log.bytes();
    for (int i = 0; i < 20; ++i)
      bytes[format::kBlocksOffset + random() % (bytes.size() - format::kBlocksOffset)] ^=
          static_cast<uint8_t>(1 + random() % 255);
    LogOpenResult opened = LogFile::from_memory(bytes, "damaged.plog");
    if (!opened) continue;
    std::vector<std::unique_ptr<LogFile>> logs;
    logs.push_back(std::move(opened.log));
    const auto trace = build_trace(std::move(logs));
    const WaitingOperations depth(*trace);
    const KernelNames names(*trace);
    Coverage& coverage = trace->processes[0].coverage;
    uint64_t sum = coverage.operations_linked;
    for (const uint64_t each : coverage.operations_without) sum += each;
    EXPECT_EQ(sum, coverage.operations);
    EXPECT_EQ(coverage.operations, trace->operations.size());
  }
}

}  // namespace
}  // namespace prof::analyzer
