// The model's promises: what belongs together is joined by containment and correlation id, what does not is counted.
#include "analyzer/analysis/selection.h"
#include "analyzer/model/builder.h"
#include "analyzer/model/names.h"
#include "analyzer/model/queue_depth.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>

#include <random>

namespace prof::analyzer {
namespace {

using tests::LogBuilder;

constexpr uint64_t kBase = 1'000'000;  // tick of the log's start; ticks, GPU ns and monotonic ns are the same

LogBuilder new_log() {
  LogBuilder log;
  log.header.pid = 100;
  log.header.start_tick = log.header.start_monotonic_ns = kBase;
  log.header.start_realtime_ns = 1'700'000'000'000'000'000;
  log.define(format::GpuClock{0, 0, 1, 0});
  log.define(format::ApiDef{format::ApiId{1}, "cuLaunchKernel"});
  log.define(format::ApiDef{format::ApiId{2}, "cuModuleLoadData"});
  log.define(format::GpuStreamDef{format::GpuStreamId{1}, 0, 1, 7});
  log.define(format::GpuStreamDef{format::GpuStreamId{2}, 0, 1, 8});
  for (uint32_t s = 1; s <= 2; ++s) {
    format::StreamDef stream;
    stream.id = format::StreamId{s}, stream.context = format::ContextId{1}, stream.gpu_stream = 7 + s;
    log.define(stream);
  }
  log.define(format::ContextDef{format::ContextId{1}, 1, 0, 1});
  format::ConfigDef config;
  config.id = format::ConfigId{1}, config.api = format::ApiId{1};
  log.define(config);
  return log;
}

void add_thread(LogBuilder& log, uint32_t thread, uint32_t tid) {
  log.add(thread, format::ThreadDef{format::ThreadOrdinal{thread}, tid, kBase, "t"});
}

void add_launch(LogBuilder& log, uint32_t thread, uint64_t begin, uint64_t end, uint32_t stream = 1,
                uint32_t result = 0, uint32_t flags = 0) {
  format::KernelLaunch launch;
  launch.end = kBase + end, launch.duration = end - begin, launch.config = format::ConfigId{1};
  launch.stream = format::StreamId{stream}, launch.result = result, launch.flags = flags;
  log.add(thread, launch);
}

void add_run(LogBuilder& log, uint64_t start, uint64_t end, uint32_t correlation, uint32_t stream = 1) {
  format::KernelRun run;
  run.start = kBase + start, run.duration = end - start, run.correlation = correlation;
  run.stream = format::GpuStreamId{stream};
  log.add(9, run);
}

void add_calls(LogBuilder& log, uint32_t tid, std::vector<format::CallPair> calls) {
  for (format::CallPair& call : calls) call.time += kBase;
  log.add(9, format::DriverCalls{tid, {calls.data(), static_cast<uint32_t>(calls.size())}});
}

std::unique_ptr<Trace> build(LogBuilder& log) {
  log.seal_all();
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(log.open_log());
  return build_trace(std::move(logs));
}

// Begin of the launch of the operation with that correlation id; -1: none.
int64_t launch_of(const Trace& trace, uint32_t correlation) {
  for (const GpuOperation& operation : trace.operations) {
    if (operation.correlation == correlation) return operation.linked() ? trace.host[operation.launch].begin_ns : -1;
  }
  return -2;
}

uint64_t without(const Trace& trace, OperationReason reason) {
  return trace.processes[0].coverage.operations_without[static_cast<size_t>(reason)];
}
uint64_t without(const Trace& trace, LaunchReason reason) {
  return trace.processes[0].coverage.launches_without[static_cast<size_t>(reason)];
}

TEST(Correlation, JoinsByContainmentNotByOrder) {
  LogBuilder log = new_log();
  add_thread(log, 1, 500);
  add_thread(log, 2, 501);
  add_launch(log, 1, 0, 100);
  add_launch(log, 1, 200, 300);
  add_launch(log, 1, 400, 500);
  add_launch(log, 2, 200, 300);
  // The first launch's call is missing, and the ids are not in the order of the launches.
  add_calls(log, 500, {{250, 12}, {450, 11}});
  add_calls(log, 501, {{250, 10}});
  add_run(log, 600, 700, 10);
  add_run(log, 700, 800, 11);
  add_run(log, 800, 900, 12);
  const auto trace = build(log);
  EXPECT_EQ(launch_of(*trace, 10), 200);
  EXPECT_EQ(launch_of(*trace, 11), 400);
  EXPECT_EQ(launch_of(*trace, 12), 200);
  EXPECT_NE(trace->operations[0].launch, trace->operations[2].launch);
  EXPECT_EQ(trace->processes[0].coverage.launches_with_gpu_time, 3u);
}

TEST(Correlation, ToleratesTwoNanosecondsOfRoundingAndNoMore) {
  LogBuilder log = new_log();
  add_thread(log, 1, 500);
  add_launch(log, 1, 0, 10);
  add_launch(log, 1, 100, 200);
  add_launch(log, 1, 300, 400);
  add_calls(log, 500, {{98, 1}, {202, 2}, {297, 3}, {403, 4}});
  for (uint32_t c = 1; c <= 4; ++c) add_run(log, 1000 * c, 1000 * c + 10, c);
  const auto trace = build(log);
  EXPECT_EQ(launch_of(*trace, 1), 100);
  EXPECT_EQ(launch_of(*trace, 2), 100);
  EXPECT_EQ(launch_of(*trace, 3), -1);
  EXPECT_EQ(launch_of(*trace, 4), -1);
}

TEST(Correlation, FindsTheRightThreadAmongThoseThatHadTheTid) {
  LogBuilder log = new_log();
  add_thread(log, 1, 500);
  add_thread(log, 2, 500);
  add_launch(log, 1, 0, 100);
  add_launch(log, 2, 1000, 1100);
  add_calls(log, 500, {{50, 1}, {1050, 2}});
  add_run(log, 2000, 2010, 1);
  add_run(log, 2020, 2030, 2);
  const auto trace = build(log);
  EXPECT_EQ(launch_of(*trace, 1), 0);
  EXPECT_EQ(launch_of(*trace, 2), 1000);
}

TEST(Correlation, CountsWhyAnOperationHasNoLaunch) {
  LogBuilder log = new_log();
  add_thread(log, 1, 500);
  add_launch(log, 1, 1000, 1100);
  format::ApiCall load;
  load.end = kBase + 1400, load.duration = 200, load.api = format::ApiId{2};
  log.add(1, load);
  add_calls(log, 500, {{900, 3}, {1050, 1}, {1300, 2}, {1600, 4}});
  add_run(log, 2000, 2010, 1);
  add_run(log, 2020, 2030, 2);   // inside a call that is no launch
  add_run(log, 2040, 2050, 3);   // its call was before the first record
  add_run(log, 2060, 2070, 4);   // inside nothing recorded
  add_run(log, 2080, 2090, 99);  // in no known call
  const auto trace = build(log);
  EXPECT_EQ(trace->processes[0].coverage.operations_linked, 1u);
  EXPECT_EQ(without(*trace, OperationReason::Internal), 2u);
  EXPECT_EQ(without(*trace, OperationReason::BeforeRecording), 1u);
  EXPECT_EQ(without(*trace, OperationReason::Unlinked), 1u);
}

// Two driver calls inside one launch may share an id; it then says whose the operation is.
TEST(Correlation, GivesNoLaunchToOperationsWhoseCorrelationIdCallsOfSeveralLaunchesHave) {
  LogBuilder log = new_log();
  add_thread(log, 1, 500);
  for (uint64_t i = 0; i < 5; ++i) add_launch(log, 1, 1000 * i, 1000 * i + 100);
  add_calls(log, 500, {{50, 1}, {1050, 2}, {2050, 2}, {3050, 2}, {4020, 3}, {4050, 3}});
  add_run(log, 5000, 5010, 1);
  for (uint64_t i = 0; i < 3; ++i) add_run(log, 5100 + 100 * i, 5150 + 100 * i, 2);
  add_run(log, 5600, 5610, 3);
  const auto trace = build(log);
  EXPECT_EQ(launch_of(*trace, 1), 0);
  EXPECT_EQ(launch_of(*trace, 2), -1);
  EXPECT_EQ(launch_of(*trace, 3), 4000);
  EXPECT_EQ(without(*trace, OperationReason::RepeatedId), 3u);
  EXPECT_EQ(without(*trace, LaunchReason::RepeatedId), 3u);
  EXPECT_EQ(trace->processes[0].coverage.launches_with_gpu_time, 2u);
}

TEST(Correlation, UsesExternalIdsByTheLaunchsBegin) {
  LogBuilder log = new_log();
  add_thread(log, 1, 500);
  add_launch(log, 1, 0, 100);
  add_launch(log, 1, 200, 300);
  std::vector<format::CallPair> pairs{{kBase + 200, 7}, {kBase, 8}};
  log.add(9, format::ExternalCalls{{pairs.data(), 2}});
  add_run(log, 400, 500, 7);
  add_run(log, 500, 600, 8);
  const auto trace = build(log);
  EXPECT_EQ(launch_of(*trace, 7), 200);
  EXPECT_EQ(launch_of(*trace, 8), 0);
}

TEST(Correlation, UsesRuntimeCallsAroundExactlyOneLaunchWhereNoDriverCallIsNamed) {
  LogBuilder log = new_log();
  add_thread(log, 1, 101);
  add_launch(log, 1, 1000, 1100), add_launch(log, 1, 2000, 2100);  // each in a runtime call of its own
  add_launch(log, 1, 3000, 3100), add_launch(log, 1, 3200, 3300);  // two in one: which is it?
  add_launch(log, 1, 4000, 4100);                                  // named by its driver call as well
  add_run(log, 5000, 5010, 1), add_run(log, 5020, 5030, 2), add_run(log, 5040, 5050, 3), add_run(log, 5060, 5070, 4);
  add_calls(log, 101, {{4050, 4}});
  std::vector<format::CallPair> calls = {{990, 1},  {1110, 1}, {1990, 2}, {2110, 2},
                                         {2990, 3}, {3310, 3}, {3990, 4}, {4110, 4}};
  for (format::CallPair& call : calls) call.time += kBase;
  log.add(9, format::RuntimeCalls{101, {calls.data(), static_cast<uint32_t>(calls.size())}});
  const auto trace = build(log);
  EXPECT_EQ(launch_of(*trace, 1), 0) << "zero is the first event";
  EXPECT_EQ(launch_of(*trace, 2), 1000);
  EXPECT_EQ(launch_of(*trace, 3), -1);
  EXPECT_EQ(launch_of(*trace, 4), 3000);
}

TEST(Coverage, CountsEachLaunchWithoutGpuTimeOnce) {
  LogBuilder log = new_log();
  log.page.finished = 0;
  log.page.gpu_pending = 1;
  add_thread(log, 1, 500);
  add_launch(log, 1, 0, 10);           // its record is missing although a later one came: unknown
  add_launch(log, 1, 20, 30);          // with GPU time
  add_launch(log, 1, 40, 50, 1, 700);  // failed
  add_launch(log, 1, 60, 70);          // pending
  add_calls(log, 500, {{25, 1}});
  add_run(log, 100, 110, 1);
  const auto trace = build(log);
  EXPECT_EQ(without(*trace, LaunchReason::Unknown), 1u);
  EXPECT_EQ(without(*trace, LaunchReason::Failed), 1u);
  EXPECT_EQ(without(*trace, LaunchReason::Pending), 1u);
  EXPECT_EQ(coverage_line(*trace),
            "coverage: launches 4, with GPU time 1 (failed 1, pending 1, unknown 1); GPU operations 1, with launch 1; "
            "lost records 0");
}

TEST(Nvtx, NestsPerDomainAndKeepsThePathInOrderOfOpening) {
  LogBuilder log = new_log();
  add_thread(log, 1, 500);
  log.define(format::StringPart{format::StringId{1}, 1, 0, "D"});
  log.define(format::StringPart{format::StringId{2}, 1, 0, "a"});
  log.define(format::StringPart{format::StringId{3}, 1, 0, "b"});
  log.define(format::NvtxDomainDef{format::DomainId{1}, format::StringId{1}});
  log.define(format::NvtxLabelDef{format::LabelId{1}, {}, format::StringId{2}, 0, 0, 0});
  log.define(format::NvtxLabelDef{format::LabelId{2}, format::DomainId{1}, format::StringId{3}, 0, 0, 0});
  log.add(1, format::NvtxPush{kBase + 0, format::LabelId{1}, 0, 0, {}});
  log.add(1, format::NvtxPush{kBase + 10, format::LabelId{2}, 0, 0, {}});
  log.add(1, format::NvtxPush{kBase + 20, format::LabelId{1}, 0, 0, "inline"});
  log.add(1, format::NvtxPop{kBase + 30, format::DomainId{1}});  // below the innermost one
  add_launch(log, 1, 40, 50);
  log.add(1, format::NvtxPop{kBase + 60, {}});
  log.add(1, format::NvtxPop{kBase + 70, format::DomainId{1}});  // nothing open there
  const auto trace = build(log);
  ASSERT_EQ(trace->ranges.size(), 3u);
  EXPECT_EQ(path_text(*trace, trace->ranges[2].path), "a/D:b/inline");
  EXPECT_EQ(trace->ranges[2].parent, 0u);
  EXPECT_EQ(trace->ranges[1].parent, kNone);
  EXPECT_EQ(trace->ranges[1].end_ns, 30);
  PathCursor cursor(*trace, ThreadId{0});
  EXPECT_EQ(path_text(*trace, cursor.at(45)), "a/inline");
  EXPECT_EQ(path_text(*trace, cursor.at(15)), "a/D:b");  // back in time
  EXPECT_TRUE(trace->ranges[0].unfinished);
  EXPECT_EQ(trace->ranges[0].end_ns, trace->processes[0].last_ns);
  EXPECT_EQ(trace->processes[0].nvtx_pops_without_push, 1u);
}

// Launches at 100, 110, …; the one at 110 was made between two bursts. Behind it the depth is not known until the operation of a launch that
// was entered after it had returned has started: a stream works in order.
TEST(QueueDepth, IsNotKnownBehindALaunchWithoutGpuTimesUntilWhatFollowedItStarted) {
  LogBuilder log = new_log();
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
  const auto trace = build(log);
  const QueueDepth depth(*trace);
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

// The definition, word for word, for every launch and every stream.
TEST(QueueDepth, EqualsTheDefinitionOnRandomRuns) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 30; ++round) {
    LogBuilder log = new_log();
    add_thread(log, 1, 500);
    std::vector<format::CallPair> calls;
    uint64_t now = 0;
    const uint32_t launches = 1 + static_cast<uint32_t>(random() % 100);
    for (uint32_t i = 1; i <= launches; ++i) {
      now += 10 + random() % 40;
      const uint32_t stream = 1 + static_cast<uint32_t>(random() % 2);
      add_launch(log, 1, now, now + 8, stream);
      calls.push_back({now + 4, i});
      const uint64_t start = now + random() % 300;  // may be now itself: an empty wait
      add_run(log, start, start + random() % 100, i, stream);
    }
    add_calls(log, 500, calls);
    const auto trace = build(log);
    const QueueDepth depth(*trace);
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

// A TSC whose rate the GPU clock's estimate misses by 300 ppm, as between two anchors of a young log.
LogBuilder new_tsc_log() {
  LogBuilder log(format::ClockSource::Tsc);
  log.header.pid = 100;
  log.header.start_tick = log.header.start_monotonic_ns = kBase;
  log.header.start_realtime_ns = 1'700'000'000'000'000'000;
  log.header.ticks_per_second = 2'899'886'000;
  log.define(format::GpuClock{kBase, 5'000'000, static_cast<uint64_t>(4294967296.0 * 1.0003e9 / 2.899886e9), 32});
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
  const auto trace = build(log);
  ASSERT_EQ(trace->operations.size(), durations.size());
  for (size_t i = 0; i < durations.size(); ++i) ASSERT_EQ(trace->operations[i].duration_ns(), durations[i]) << i;
  EXPECT_GE(trace->last_ns, trace->operations.back().end_ns);
  EXPECT_EQ(trace->processes[0].last_ns, trace->last_ns);
}

TEST(Model, CallsKeepTheOrderOfTheirTicks) {
  // Each call begins at the tick at which the one before it ended: one moment, one time, whichever end of a call it is.
  LogBuilder log = new_tsc_log();
  add_thread(log, 1, 500);
  std::mt19937_64 random(2);
  uint64_t end = kBase;
  for (int i = 0; i < 2000; ++i) {
    format::ApiCall call;
    call.duration = random() % 5000, call.end = end += call.duration, call.api = format::ApiId{1};
    log.add(1, call);
  }
  const auto trace = build(log);
  ASSERT_EQ(trace->host.size(), 2000u);
  for (size_t i = 1; i < 2000; ++i) ASSERT_EQ(trace->host[i].begin_ns, trace->host[i - 1].end_ns) << i;
  EXPECT_EQ(trace->host.back().end_ns, static_cast<int64_t>(static_cast<double>(end - kBase) / 2.899886));
}

TEST(Names, ShortFormDropsSignatureAndTemplateArguments) {
  EXPECT_EQ(short_function_name("void at::native::kernel<4, at::F<float> >(int, float*)"), "at::native::kernel");
  EXPECT_EQ(short_function_name("std::enable_if<!(false), void>::type gemv::kernel<int, 1>(P<int>)"), "gemv::kernel");
  EXPECT_EQ(short_function_name("void (anonymous namespace)::f<int>(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(short_function_name("X::operator()(int) const"), "X::operator()");
  EXPECT_EQ(short_function_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(demangled_name("_Zbroken"), "_Zbroken");
  EXPECT_EQ(plain_api_name("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(plain_api_name("cuMemcpy2D_v2"), "cuMemcpy2D");
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
    LogBuilder log = new_log();
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
    const QueueDepth depth(*trace);
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
