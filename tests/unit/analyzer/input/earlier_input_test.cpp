// An input that begins before a log moves all times of the log, also those of tables that only logs have.
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(EarlierInput, MovesEveryTableOfALog) {
  tests::HandTrace log;
  log.launch(0, 10, 1);
  log.kernel(20, 30, 1);
  HostSampling& host = log.trace.host_sampling;
  host.samples.time_ns.push_back(5);
  host.samples.thread.push_back(ThreadId{0});
  host.states.thread.push_back(ThreadId{0});
  host.states.begin_ns.push_back(1), host.states.end_ns.push_back(9);
  host.rates.emplace_back().from_ns = 2;
  log.trace.samples.rows.push_back({3, 4});
  SampledSet& set = log.trace.samples.sets.emplace_back();
  set.device = DeviceId{0};
  set.first = 0, set.last = 1;
  log.trace.pc_samples.batches.emplace_back().time_ns = 8;
  log.trace.pc_samples.time_ns.push_back(8);
  log.trace.pc_samples.samples.push_back(1);
  log.trace.pc_samples.device.push_back(DeviceId{0});
  log.trace.program_counters.emplace_back();
  log.trace.counter_samples.emplace_back().time_ns = 6;
  log.trace.graph_nodes.emplace_back().time_ns = 7;
  log.finish();

  const ImportMark mark(log.trace);
  log.process(200);
  const uint32_t thread = log.thread(1, 600);
  log.call("cudaMalloc", 0, 10, 2, thread);
  finish_import(log.trace, mark, static_cast<int64_t>(log.trace.start_realtime_ns) - 1000);

  EXPECT_EQ(log.trace.host[log.trace.threads[0].host.first].begin_ns, 1000);
  EXPECT_EQ(host.samples.time_ns[0], 1005);
  EXPECT_EQ(host.states.begin_ns[0], 1001);
  EXPECT_EQ(host.states.end_ns[0], 1009);
  EXPECT_EQ(host.rates[0].from_ns, 1002);
  EXPECT_EQ(log.trace.samples.rows[0].begin_ns, 1003);
  EXPECT_EQ(log.trace.pc_samples.batches[0].time_ns, 1008);
  EXPECT_EQ(log.trace.pc_samples.time_ns[0], 1008);
  EXPECT_EQ(log.trace.counter_samples[0].time_ns, 1006);
  EXPECT_EQ(log.trace.graph_nodes[0].time_ns, 1007);
}

}  // namespace
}  // namespace prof::analyzer
