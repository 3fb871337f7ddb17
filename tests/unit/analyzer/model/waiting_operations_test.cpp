// The exact queue depth: compared with its definition on random runs, and unknown after a launch without GPU times.
#include "analyzer/model/waiting_operations.h"
#include "tests/unit/analyzer/launch_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::add_calls;
using tests::add_launch;
using tests::add_run;
using tests::add_thread;
using tests::LogBuilder;
using tests::model_of;
using tests::new_launch_log;

// Launches at 100, 110, …; the one at 110 was made between two bursts. After it the depth is unknown until an
// operation starts whose launch was entered after the launch at 110 had returned, because a stream runs operations in
// order.
TEST(WaitingOperations, IsNotKnownBehindALaunchWithoutGpuTimesUntilWhatFollowedItStarted) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 500);
  const uint64_t starts[] = {105, 0, 160, 170, 180, 190, 200, 210};
  std::vector<format::CallPair> calls;
  for (uint32_t i = 0; i < 8; ++i) {
    const uint64_t entered = 100 + 10 * i;
    add_launch(log, 1, entered, entered + 2, 1, 0, i == 1 ? format::kLaunchNoGpuTimes : 0);
    if (i == 1) continue;
    calls.push_back({entered + 1, i + 1});
    add_run(log, starts[i], starts[i] + 10, i + 1, 1);
  }
  add_calls(log, 500, calls);
  const auto trace = model_of(log);
  const WaitingOperations depth(*trace);
  const auto waiting = [&](uint32_t row) { return depth.at_launch()[row].waiting; };
  EXPECT_EQ(waiting(0), 0u);
  EXPECT_EQ(waiting(1), 0u);  // everything before it is known
  for (const uint32_t row : {2u, 3u, 4u, 5u}) {
    EXPECT_EQ(waiting(row), kNone) << row;
    EXPECT_EQ(depth.at_launch()[row].outstanding, kNone) << row;
  }
  EXPECT_EQ(waiting(6), 3u);  // at 160 the one of 120 starts; those of 130, 140 and 150 wait
  EXPECT_EQ(depth.at_launch()[6].outstanding, 4u);
  EXPECT_EQ(waiting(7), 3u);
}

// The literal definition, for every launch and every stream.
TEST(WaitingOperations, EqualsTheDefinitionOnRandomRuns) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 30; ++round) {
    LogBuilder log = new_launch_log();
    add_thread(log, 1, 500);
    std::vector<format::CallPair> calls;
    uint64_t now = 0;
    const uint32_t launches = 1 + static_cast<uint32_t>(random() % 100);
    for (uint32_t i = 1; i <= launches; ++i) {
      now += 10 + random() % 40;
      const uint32_t stream = 1 + static_cast<uint32_t>(random() % 2);
      add_launch(log, 1, now, now + 8, stream);
      calls.push_back({now + 4, i});
      const uint64_t start = now + random() % 300;  // may equal now: an empty wait
      add_run(log, start, start + random() % 100, i, stream);
    }
    add_calls(log, 500, calls);
    const auto trace = model_of(log);
    const WaitingOperations depth(*trace);
    for (uint32_t row = 0; row < trace->host.size(); ++row) {
      const HostEvent& launch = trace->host[row];
      const uint32_t stream = trace->host_streams[index(launch.stream)].stream;
      uint32_t waiting = 0, outstanding = 0;
      for (const GpuOperation& operation : trace->operations) {
        const int64_t entered = trace->host[operation.launch].begin_ns;
        if (operation.stream_index != stream || entered >= launch.begin_ns) continue;
        waiting += operation.start_ns > launch.begin_ns ? 1 : 0;
        outstanding += operation.end_ns > launch.begin_ns ? 1 : 0;
      }
      ASSERT_EQ(depth.at_launch()[row].waiting, waiting);
      ASSERT_EQ(depth.at_launch()[row].outstanding, outstanding);
    }
    const std::vector<StreamId> both{StreamId{0}, StreamId{1}};
    depth.for_each_step(both, [&](const DepthStep& step) {
      uint32_t waiting = 0, outstanding = 0;
      for (const GpuOperation& operation : trace->operations) {
        const int64_t entered = trace->host[operation.launch].begin_ns;
        waiting += entered <= step.time_ns && operation.start_ns > step.time_ns ? 1 : 0;
        outstanding += entered <= step.time_ns && operation.end_ns > step.time_ns ? 1 : 0;
      }
      ASSERT_EQ(step.waiting, waiting);
      ASSERT_EQ(step.outstanding, outstanding);
    });
  }
}

}  // namespace
}  // namespace prof::analyzer
