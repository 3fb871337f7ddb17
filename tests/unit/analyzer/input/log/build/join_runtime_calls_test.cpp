// One launch through the CUDA runtime is one row, whichever driver calls it makes inside.
#include "analyzer/input/log/build/builder.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::LogBuilder;

constexpr uint64_t kJoinBase = 1'000'000;
enum Api : uint32_t {
  kLaunch = 1,
  kLoad,
  kAlloc,
  kDriverWait,
  kRuntimeLaunch,
  kRuntimeMalloc,
  kRuntimeWait,
  kRuntimeDevice
};

LogBuilder new_log() {
  LogBuilder log;
  log.header.pid = 100;
  log.header.start_tick = log.header.start_monotonic_ns = kJoinBase;
  log.define(format::GpuClock{0, 0, 1, 0});
  const char* const names[] = {"cuLaunchKernel",   "cuLibraryLoadData", "cuMemAlloc_v2",         "cuCtxSynchronize",
                               "cudaLaunchKernel", "cudaMalloc",        "cudaDeviceSynchronize", "cudaSetDevice"};
  for (uint32_t i = 0; i < 8; ++i) log.define(format::ApiDef{format::ApiId{i + 1}, names[i], i < 4 ? 0u : 1u});
  log.define(format::GpuStreamDef{format::GpuStreamId{1}, 0, 1, 7});
  format::ConfigDef config;
  config.id = format::ConfigId{1}, config.api = format::ApiId{kLaunch};
  log.define(config);
  log.add(1, format::ThreadDef{format::ThreadOrdinal{1}, 500, kJoinBase, "t"});
  return log;
}

void launch(LogBuilder& log, uint64_t begin, uint64_t end, uint64_t depth = 0) {
  format::KernelLaunch event;
  event.end = kJoinBase + end, event.duration = end - begin, event.config = format::ConfigId{1}, event.depth = depth;
  log.add(1, event);
}
void call(LogBuilder& log, Api api, uint64_t begin, uint64_t end, uint32_t result = 0) {
  format::ApiCall event;
  event.end = kJoinBase + end, event.duration = end - begin, event.api = format::ApiId{api}, event.result = result;
  log.add(1, event);
}
void alloc(LogBuilder& log, uint64_t begin, uint64_t end, uint64_t bytes) {
  format::AllocCall event;
  event.end = kJoinBase + end, event.duration = end - begin, event.api = format::ApiId{kAlloc}, event.bytes = bytes;
  log.add(1, event);
}
void run(LogBuilder& log, uint64_t start, uint64_t end, uint32_t correlation) {
  format::KernelRun event;
  event.start = kJoinBase + start, event.duration = end - start, event.correlation = correlation;
  event.stream = format::GpuStreamId{1};
  log.add(9, event);
}
void calls(LogBuilder& log, std::vector<format::CallPair> pairs) {
  for (format::CallPair& pair : pairs) pair.time += kJoinBase;
  log.add(9, format::DriverCalls{500, {pairs.data(), static_cast<uint32_t>(pairs.size())}});
}

std::unique_ptr<Trace> build(LogBuilder& log) {
  log.seal_all();
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(log.open_log());
  return build_trace(std::move(logs));
}

// "cudaLaunchKernel(cuLaunchKernel) 0-100" for each row of the thread
std::vector<std::string> rows(const Trace& trace) {
  std::vector<std::string> found;
  const Rows of = trace.threads[0].host;
  for (uint32_t row = of.first; row < of.last; ++row) {
    const HostEvent& event = trace.host[row];
    const std::string_view inner = trace.inner_api_name(row);
    std::string text(trace.api_name(event));
    if (!inner.empty()) text += "(" + std::string(inner) + ")";
    text += " " + std::to_string(event.begin_ns) + "-" + std::to_string(event.end_ns);
    if (event.result() != 0) text += " = " + std::to_string(event.result());
    found.push_back(text);
  }
  return found;
}
using Texts = std::vector<std::string>;

TEST(RuntimeCalls, ALaunchIsOneRowWithTheOuterNameAndTimesAndTheInnerFacts) {
  LogBuilder log = new_log();
  launch(log, 20, 90, 5);
  call(log, kRuntimeLaunch, 0, 100);
  launch(log, 220, 290, 6);
  call(log, kRuntimeLaunch, 200, 300);
  calls(log, {{30, 10}, {230, 11}});
  run(log, 400, 500, 10);
  run(log, 500, 600, 11);
  const auto trace = build(log);
  EXPECT_EQ(rows(*trace),
            (Texts{"cudaLaunchKernel(cuLaunchKernel) 0-100", "cudaLaunchKernel(cuLaunchKernel) 200-300"}));
  EXPECT_EQ(trace->host.size(), 2u);
  EXPECT_EQ(trace->host[1].kind(), HostKind::KernelLaunch);
  EXPECT_EQ(trace->host[1].live_depth, 6u);
  EXPECT_EQ(trace->operations[0].launch, 0u);
  EXPECT_EQ(trace->operations[1].launch, 1u);
  EXPECT_TRUE(trace->host[0].has(kHostHasGpu));
  EXPECT_EQ(trace->processes[0].coverage.launches, 2u);
  EXPECT_EQ(trace->processes[0].coverage.launches_with_gpu_time, 2u);
}

TEST(RuntimeCalls, TheFirstLaunchKeepsTheLoadingInsideItAsARowOfItsOwn) {
  LogBuilder log = new_log();
  call(log, kLoad, 10, 60);
  launch(log, 70, 90);
  call(log, kRuntimeLaunch, 0, 100);
  const auto trace = build(log);
  EXPECT_EQ(rows(*trace), (Texts{"cudaLaunchKernel(cuLaunchKernel) 0-100", "cuLibraryLoadData 10-60"}));
}

TEST(RuntimeCalls, AllocationsAndWaitsAreOneRowAndAskingTheRunTimeOnlyStaysOne) {
  LogBuilder log = new_log();
  call(log, kRuntimeDevice, 0, 5);
  alloc(log, 20, 90, 4096);
  call(log, kRuntimeMalloc, 10, 100);
  call(log, kDriverWait, 120, 190);
  call(log, kRuntimeWait, 110, 200);
  const auto trace = build(log);
  EXPECT_EQ(rows(*trace), (Texts{"cudaSetDevice 0-5", "cudaMalloc(cuMemAlloc_v2) 10-100",
                                 "cudaDeviceSynchronize(cuCtxSynchronize) 110-200"}));
  EXPECT_EQ(trace->host[1].kind(), HostKind::Allocation);
  EXPECT_EQ(trace->host[1].subject, 4096u);
}

TEST(RuntimeCalls, DriverCallsOutsideKeepTheirName) {
  LogBuilder log = new_log();
  launch(log, 0, 50);
  launch(log, 120, 150);
  call(log, kRuntimeLaunch, 100, 200);
  launch(log, 199, 250);  // starts inside and ends after it: not part of it
  const auto trace = build(log);
  EXPECT_EQ(rows(*trace),
            (Texts{"cuLaunchKernel 0-50", "cudaLaunchKernel(cuLaunchKernel) 100-200", "cuLaunchKernel 199-250"}));
}

TEST(RuntimeCalls, EqualTimesDoNotMatterAndNorDoesAWrapperAround) {
  LogBuilder log = new_log();
  launch(log, 10, 20);
  call(log, kRuntimeLaunch, 10, 20);  // recorded after the call inside it, with the same times
  launch(log, 30, 40);
  call(log, kRuntimeLaunch, 30, 40);
  call(log, kRuntimeLaunch, 25, 45);  // a wrapper library's function around the real one
  const auto trace = build(log);
  EXPECT_EQ(rows(*trace), (Texts{"cudaLaunchKernel(cuLaunchKernel) 0-10", "cudaLaunchKernel(cuLaunchKernel) 15-35"}));
}

TEST(RuntimeCalls, OneCallWithSeveralLaunchesIsSeveralLaunchesOfItsName) {
  LogBuilder log = new_log();
  launch(log, 10, 20);
  launch(log, 30, 40);
  call(log, kRuntimeLaunch, 0, 100);
  calls(log, {{15, 10}, {35, 11}});
  run(log, 400, 500, 11);
  const auto trace = build(log);
  EXPECT_EQ(rows(*trace), (Texts{"cudaLaunchKernel(cuLaunchKernel) 10-20", "cudaLaunchKernel(cuLaunchKernel) 30-40"}));
  EXPECT_EQ(trace->operations[0].launch, 1u);
}

TEST(RuntimeCalls, WhatACallMadeInAGraphFollowsItsRow) {
  LogBuilder log = new_log();
  call(log, kLoad, 10, 60);
  launch(log, 70, 90);
  format::GraphNode node;
  node.time = kJoinBase + 90, node.node = uint64_t{7} << 32;
  log.add(1, node);
  call(log, kRuntimeLaunch, 0, 100);
  launch(log, 120, 150);
  node.time = kJoinBase + 150, node.node = uint64_t{7} << 32 | 1;
  log.add(1, node);
  const auto trace = build(log);
  EXPECT_EQ(rows(*trace),
            (Texts{"cudaLaunchKernel(cuLaunchKernel) 0-100", "cuLibraryLoadData 10-60", "cuLaunchKernel 120-150"}));
  ASSERT_EQ(trace->graph_nodes.size(), 2u);
  EXPECT_EQ(trace->graph_nodes[0].call, 0u);
  EXPECT_EQ(trace->graph_nodes[1].call, 2u);
}

TEST(RuntimeCalls, AFailureOfEitherLevelIsTheRows) {
  LogBuilder log = new_log();
  call(log, kDriverWait, 20, 90, 700);
  call(log, kRuntimeWait, 0, 100, 700);
  call(log, kRuntimeMalloc, 200, 300, 2);
  const auto trace = build(log);
  EXPECT_EQ(rows(*trace), (Texts{"cudaDeviceSynchronize(cuCtxSynchronize) 0-100 = 700", "cudaMalloc 200-300 = 2"}));
}

}  // namespace
}  // namespace prof::analyzer
