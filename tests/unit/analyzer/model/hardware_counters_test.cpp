// To which kernels the values of hardware counters belong, and which FLOPs and bytes follow from them.
#include "analyzer/analysis/cost/counter_numbers.h"
#include "analyzer/analysis/cost/kernel_costs.h"
#include "analyzer/input/log/build/builder.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace prof::analyzer {
namespace {

using tests::LogBuilder;

std::string bytes_of(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// One device, two kernels (configs 1 and 2), sets of hardware counters with the ids 1, 2 …
class CountedLog {
 public:
  CountedLog() {
    log_.define(format::DeviceDef{0, "NVIDIA H200", ""});
    log_.define(format::ContextDef{format::ContextId{1}, 0xc0, 0, 1});
    format::StreamDef stream;
    stream.id = format::StreamId{1}, stream.context = format::ContextId{1}, stream.gpu_stream = 8;
    log_.define(stream);
    for (const uint32_t id : {1u, 2u}) {
      string(id, id == 1 ? "first" : "second");
      format::FunctionDef function;
      function.id = format::FunctionId{id}, function.name = format::StringId{id};
      log_.define(function);
      format::ConfigDef config;
      config.id = format::ConfigId{id}, config.function = format::FunctionId{id};
      log_.define(config);
    }
  }
  void set(uint32_t id, std::string_view metrics) {
    string(100 + id, metrics);
    format::CounterSetDef def;
    def.id = format::CounterSetId{id}, def.context = format::ContextId{1}, def.metrics = format::StringId{100 + id};
    def.passes = 1, def.chip = "GH100";
    log_.define(def);
  }
  void thread(uint32_t ordinal, uint32_t tid) {
    format::ThreadDef def;
    def.tid = tid;
    log_.add(ordinal, def);
  }
  void launch(uint32_t thread, uint64_t end, uint64_t duration, uint32_t config = 1,
              uint32_t flags = format::kLaunchNoGpuTimes) {
    format::KernelLaunch launch;
    launch.end = end, launch.duration = duration, launch.config = format::ConfigId{config};
    launch.stream = format::StreamId{1}, launch.flags = flags;
    log_.add(thread, launch);
  }
  void values(uint64_t moment, uint32_t tid, const std::vector<double>& values, uint32_t set = 1,
              format::CounterScope scope = format::CounterScope::Launch) {
    const std::string bytes = bytes_of(values);
    log_.add(3, format::CounterValues{moment, tid, format::CounterSetId{set}, bytes, scope});
  }
  std::unique_ptr<Trace> build() {
    log_.seal_all();
    std::vector<std::unique_ptr<LogFile>> logs;
    logs.push_back(log_.open_log());
    return build_trace(std::move(logs));
  }
  LogBuilder& log() { return log_; }

 private:
  void string(uint32_t id, std::string_view text) {
    format::StringPart part;
    part.id = format::StringId{id}, part.total_bytes = static_cast<uint32_t>(text.size()), part.text = text;
    log_.define(part);
  }
  LogBuilder log_;
};

constexpr std::string_view kMemory = "gpu__time_duration.sum\ndram__bytes_read.sum\ndram__bytes_write.sum";
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Counters, BelongToTheLaunchOfTheirThreadAndMomentInWhateverOrderTheyCome) {
  CountedLog log;
  log.set(1, kMemory);
  log.thread(1, 71), log.thread(2, 72);
  log.launch(1, 10'000, 1'000, 1);
  log.launch(2, 10'000, 1'000, 2);  // at the same time, by another thread
  log.launch(1, 20'000, 1'000, 2);
  log.values(20'000, 71, {300, 30, 3});
  log.values(10'000, 72, {200, 20, 2});
  log.values(10'000, 71, {100, 10, 1});
  const auto trace = log.build();
  ASSERT_EQ(trace->operations.size(), 3u);
  for (const GpuOperation& operation : trace->operations) {
    const HostEvent& launch = trace->host[operation.launch];
    const bool later = launch.begin_ns > trace->host[trace->threads[0].host.first].begin_ns;
    const int64_t expected = trace->thread(launch.thread).tid == 72 ? 200 : later ? 300 : 100;
    EXPECT_EQ(operation.duration_ns(), expected);
    EXPECT_EQ(operation.end_ns, launch.end_ns);
    EXPECT_EQ(operation.detail, launch.subject);
    EXPECT_EQ(trace->stream(operation.stream()).number, 7u);
    EXPECT_EQ(operation.correlation, launch.correlation);
    EXPECT_NE(operation.correlation, 0u);
  }
  const Coverage& coverage = trace->processes[0].coverage;
  EXPECT_EQ(coverage.launches_with_gpu_time, 3u);
  EXPECT_EQ(coverage.operations_linked, 3u);
  EXPECT_EQ(coverage.counters_timed, 3u);
}

TEST(Counters, AKernelLongerThanItsLaunchCallStartsWithIt) {
  CountedLog log;
  log.set(1, kMemory);
  log.thread(1, 71);
  log.launch(1, 10'000, 1'000);
  log.values(10'000, 71, {50'000.4, 0, 0});
  const auto trace = log.build();
  ASSERT_EQ(trace->operations.size(), 1u);
  EXPECT_EQ(trace->operations[0].start_ns, trace->host[trace->operations[0].launch].begin_ns);
  EXPECT_EQ(trace->operations[0].duration_ns(), 50'000);
  EXPECT_EQ(trace->processes[0].coverage.operations_before_launch, 0u);
  EXPECT_GE(trace->last_ns, trace->operations[0].end_ns);
}

TEST(Counters, ValuesThatFitNothingAreCountedAndMakeNoTimes) {
  CountedLog log;
  log.set(1, kMemory);
  log.set(2, "dram__bytes_read.sum");
  log.thread(1, 71);
  log.launch(1, 10'000, 1'000), log.launch(1, 20'000, 1'000), log.launch(1, 30'000, 1'000);
  log.values(10'000, 71, {kNan, -1, 1});
  log.values(10'000, 71, {5, 5, 5});     // a second time
  log.values(20'000, 71, {7}, 2);        // no time in the set
  log.values(20'001, 71, {5, 5, 5});     // no launch at this time
  log.values(30'000, 99, {5, 5, 5});     // no such thread
  log.values(30'000, 71, {5, 5});        // too short
  log.values(30'000, 71, {5, 5, 5}, 8);  // no such set
  log.values(30'000, 71, {1e300, 1, 1});
  log.values(30'000, 71, {5, 5, 5}, 1, format::CounterScope::Range);
  const auto trace = log.build();
  EXPECT_EQ(trace->operations.size(), 0u);
  const Coverage& coverage = trace->processes[0].coverage;
  EXPECT_EQ(coverage.counters_of_launches, 3u);
  EXPECT_EQ(coverage.counters_without_time, 3u);
  EXPECT_EQ(coverage.counters_unmatched, 3u);
  EXPECT_EQ(coverage.counters_again, 1u);
  EXPECT_EQ(coverage.counters_unreadable, 2u);
  EXPECT_NE(coverage_line(*trace).find("values whose launch or range is missing 3"), std::string::npos);
}

TEST(Counters, ALaunchWithGpuTimesOfItsOwnKeepsThem) {
  CountedLog log;
  log.set(1, kMemory);
  log.thread(1, 71);
  log.launch(1, 10'000, 1'000, 1, 0);
  log.values(10'000, 71, {500, 1, 1});
  const auto trace = log.build();
  EXPECT_EQ(trace->operations.size(), 0u);
  EXPECT_EQ(trace->processes[0].coverage.counters_of_launches, 1u);
}

TEST(Counters, FollowTheirLaunchIntoTheCallOfTheRunTimeAroundIt) {
  CountedLog log;
  log.set(1, kMemory);
  format::ApiDef api;
  api.id = format::ApiId{1}, api.name = "cudaLaunchKernel", api.level = 1;
  log.log().define(api);
  log.thread(1, 71);
  for (const uint64_t end : {10'000u, 20'000u}) {
    log.launch(1, end, 1'000, end == 10'000 ? 1 : 2);
    format::ApiCall call;
    call.end = end + 500, call.duration = 2'000, call.api = format::ApiId{1};
    log.log().add(1, call);
  }
  log.values(20'000, 71, {200, 2, 0}), log.values(10'000, 71, {100, 1, 0});
  const auto trace = log.build();
  ASSERT_EQ(trace->host.size(), 2u);
  ASSERT_EQ(trace->operations.size(), 2u);
  for (uint32_t row = 0; row < 2; ++row) {
    const CounterRow* const counted = trace->counters.of_operation(*trace, row);
    ASSERT_NE(counted, nullptr);
    EXPECT_EQ(trace->counters.values_of(*counted)[1], row + 1.0);
    EXPECT_EQ(trace->api_name(trace->host[counted->of]), "cudaLaunchKernel");
  }
}

TEST(Counters, BelongToTheThreadThatHadTheNumberThen) {
  CountedLog log;
  log.set(1, kMemory);
  log.thread(1, 71), log.thread(2, 71);  // one after the other
  log.launch(1, 10'000, 1'000), log.launch(2, 20'000, 1'000);
  log.values(20'000, 71, {200, 2, 0}), log.values(10'000, 71, {100, 1, 0});
  const auto trace = log.build();
  ASSERT_EQ(trace->operations.size(), 2u);
  EXPECT_EQ(trace->operations[0].duration_ns(), 100);
  EXPECT_EQ(trace->operations[1].duration_ns(), 200);
  EXPECT_NE(index(trace->host[trace->operations[0].launch].thread),
            index(trace->host[trace->operations[1].launch].thread));
}

TEST(Counters, StreamsWhoseNumberIsNotKnownStayApart) {
  CountedLog log;
  log.set(1, kMemory);
  log.thread(1, 71);
  for (const uint32_t id : {2u, 3u}) {
    format::StreamDef stream;
    stream.id = format::StreamId{id}, stream.context = format::ContextId{1}, stream.handle = id;
    log.log().define(stream);
    format::KernelLaunch launch;
    launch.end = id * 10'000, launch.duration = 1'000, launch.config = format::ConfigId{1};
    launch.stream = format::StreamId{id}, launch.flags = format::kLaunchNoGpuTimes;
    log.log().add(1, launch);
    log.values(id * 10'000, 71, {100, 1, 0});
  }
  log.launch(1, 40'000, 1'000);
  log.values(40'000, 71, {100, 1, 0});
  const auto trace = log.build();
  ASSERT_EQ(trace->operations.size(), 3u);
  EXPECT_NE(trace->operations[0].stream_index, trace->operations[1].stream_index);
  EXPECT_NE(trace->operations[1].stream_index, trace->operations[2].stream_index);
  EXPECT_NE(trace->operations[0].stream_index, trace->operations[2].stream_index);
}

// Values of one set, as a trace would contain them.
CounterNumbers numbers_of(const std::vector<std::pair<std::string, double>>& metrics) {
  Trace trace;
  CounterSet set;
  std::vector<double> values;
  for (const auto& [name, value] : metrics) set.metrics.push_back(trace.strings.intern(name)), values.push_back(value);
  return CounterMeaning(trace, set).of(values);
}
std::string sass(std::string_view op) { return "sm__sass_thread_inst_executed_op_" + std::string(op) + "_pred_on.sum"; }

TEST(Counters, FlopsAreThoseOfTensorCoresAndOfVectorUnitsWithAMultiplyAddAsTwo) {
  const CounterNumbers numbers = numbers_of({{"gpu__time_duration.sum", 1000},
                                             {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 2e6},
                                             {"sm__ops_path_tensor_src_fp8.sum", 1e6},
                                             // part of the one above
                                             {"sm__ops_path_tensor_src_fp8_sparsity_on.sum", 4e6},
                                             {sass("fadd"), 10},
                                             {sass("fmul"), 100},
                                             {sass("ffma"), 1000},
                                             {sass("hadd"), 5},  // alone: no sum of fp16
                                             {"dram__bytes_read.sum", 64},
                                             {"dram__bytes_write.sum", 32}});
  EXPECT_EQ(numbers.flops, 2e6 + 1e6 + 10 + 100 + 2 * 1000);
  EXPECT_EQ(numbers.bytes, 96);
  EXPECT_EQ(numbers.time_ns, 1000);
  EXPECT_EQ(numbers.type, DataType::Bf16);
  EXPECT_EQ(numbers.peak, PeakType::Bf16);
  EXPECT_FALSE(numbers.tensor_only || numbers.vector_only);
}

TEST(Counters, ANumberIsAbsentWhereAMetricIsMissingOrNoNumber) {
  const CounterNumbers none = numbers_of({{"dram__bytes_read.sum", 64}, {"lts__t_bytes.sum", 1}});
  EXPECT_FALSE(none.flops || none.bytes || none.time_ns);
  const CounterNumbers broken = numbers_of({{"gpu__time_duration.sum", kNan},
                                            {"sm__ops_path_tensor_src_fp16.sum", -1},
                                            {"dram__bytes.sum", std::numeric_limits<double>::infinity()}});
  EXPECT_FALSE(broken.flops || broken.bytes || broken.time_ns || broken.peak);
  EXPECT_TRUE(numbers_of({{"sm__ops_path_tensor_src_fp16.sum", 4}}).tensor_only);
  EXPECT_TRUE(numbers_of({{sass("dadd"), 1}, {sass("dmul"), 1}, {sass("dfma"), 1}}).vector_only);
}

TEST(Counters, FlopsOfVectorUnitsAreAllWhereNoTensorCoreRanAndNoneWhereItsInstructionsDoNotSayWhatTheyDid) {
  const auto with = [](double instructions, uint64_t compute_major) {
    Trace trace;
    trace.devices.emplace_back().properties.emplace_back("computeMajor", compute_major);
    CounterSet set;
    set.device = 0;
    for (const std::string& name :
         {sass("fadd"), sass("fmul"), sass("ffma"), std::string("sm__inst_executed_pipe_tensor.sum")})
      set.metrics.push_back(trace.strings.intern(name));
    return CounterMeaning(trace, set).of(std::vector<double>{1, 2, 3, instructions});
  };
  EXPECT_EQ(with(0, 9).flops, 9);
  EXPECT_FALSE(with(0, 9).vector_only || with(0, 9).tensor_unknown);
  EXPECT_TRUE(with(0, 10).vector_only);  // its tensor cores also have another pipe
  EXPECT_FALSE(with(1, 9).flops || with(kNan, 9).flops);
  EXPECT_TRUE(with(1, 9).tensor_unknown);
}

KernelCost cost_of(std::string_view metrics, const std::vector<double>& values) {
  CountedLog log;
  log.set(1, metrics);
  log.thread(1, 71);
  log.launch(1, 10'000, 1'000);
  log.values(10'000, 71, values);
  const auto trace = log.build();
  const Views views(*trace);
  return KernelCosts(*trace, views).of(0);
}

TEST(Counters, AreWhereTheCostOfAKernelComesFromFirst) {
  const KernelCost bytes = cost_of(kMemory, {500, 1000, 24});
  EXPECT_EQ(bytes.bytes, 1024u);
  EXPECT_EQ(bytes.bytes_source, CostSource::Counters);
  EXPECT_FALSE(bytes.flops);
  const std::string roofline = std::string(kMemory) + "\nsm__ops_path_tensor_src_fp16.sum\n" + sass("fadd") + "\n" +
                               sass("fmul") + "\n" + sass("ffma");
  const KernelCost vector = cost_of(roofline, {500, 1, 1, 0, 1, 2, 3});
  EXPECT_EQ(vector.flops, 1u + 2 + 6);
  EXPECT_EQ(vector.type, DataType::Fp32);
  EXPECT_EQ(vector.peak, PeakType::Fp32);
  EXPECT_EQ(cost_of(roofline, {500, 1, 1, 0, 0, 0, 0}).flops, 0u);  // the counters report a copy
}

TEST(Counters, FlopsOfASetThatCountsAPartAreNotThoseOfTheKernel) {
  const std::string tensor = "gpu__time_duration.sum\nsm__ops_path_tensor_src_fp16.sum";
  EXPECT_EQ(cost_of(tensor, {500, 4096}).flops, 4096u);
  EXPECT_FALSE(cost_of(tensor, {500, 0}).flops);
  const std::string vector = "gpu__time_duration.sum\n" + sass("fadd") + "\n" + sass("fmul") + "\n" + sass("ffma");
  EXPECT_FALSE(cost_of(vector, {500, 1, 1, 1}).flops);
}

}  // namespace
}  // namespace prof::analyzer
