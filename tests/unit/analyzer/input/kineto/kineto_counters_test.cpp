// Values of hardware counters in traces: to which launch, range or kernel do they belong, and when to none?
#include "tests/unit/analyzer/input/kineto/kineto_text.h"
#include "tests/unit/analyzer/shared_traces.h"

#include "analyzer/analysis/cost/kernel_costs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace prof::analyzer {
namespace {

using tests::import_text;

// Events of a trace, joined by commas.
class Events {
 public:
  Events& add(const std::string& event) {
    text_.append(text_.empty() ? "" : ",\n").append(event);
    return *this;
  }
  Events& launch(int at, int correlation, std::string_view api = "cudaLaunchKernel", int thread = 50, int dur = 5) {
    return add(fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":50,"tid":{},"ts":{},"dur":{},)"
                           R"("args":{{"correlation":{}}}}})",
                           api, thread, at, dur, correlation));
  }
  Events& kernel(int at, int correlation, std::string_view name, std::string_view more = "", int device = 0) {
    return add(fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":{},"tid":7,"ts":{},"dur":5,"args":)"
                           R"({{"device":{},"context":1,"stream":7,"correlation":{}{}}}}})",
                           name, device, at, device, correlation, more));
  }
  Events& range(int at, std::string_view name, std::string_view args, int device = 0) {
    return add(fmt::format(R"({{"ph":"X","cat":"cuda_profiler_range","name":"{}","pid":{},"tid":0,"ts":{},"dur":1,)"
                           R"("args":{{{}}}}})",
                           name, device, at, args));
  }
  std::unique_ptr<Trace> import(size_t stretch_bytes = kKinetoStretch) const {
    return import_text("{\"traceEvents\":[\n" + text_ + "\n]}", stretch_bytes);
  }

 private:
  std::string text_;
};

std::string reads(int value) { return fmt::format(R"("dram__bytes_read.sum":{},"dram__bytes_write.sum":1)", value); }

// "begin of the launch: first value" for each launch with values, then "name (why): first value" for values without a
// launch.
std::string placed(const Trace& trace) {
  std::string text;
  for (const CounterRow& row : trace.counters.launches)
    text += fmt::format("{}: {}; ", trace.host[row.of].begin_ns, trace.counters.values_of(row)[0]);
  for (const CounterRow& row : trace.counters.of_unplaced) {
    const UnplacedWork& work = trace.counters.unplaced[row.of];
    text += fmt::format("{} ({}): {}; ", trace.text(work.name), trace.text(work.why), trace.counters.values_of(row)[0]);
  }
  return text;
}

TEST(KinetoCounters, GoToTheLaunchesInOrderWhereTheyAreAsMany) {
  Events events;  // neither is ordered in the file
  events.range(2, "b", reads(20)).range(1, "a", reads(10));
  events.launch(130, 2).launch(100, 1).add(
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":50,"tid":50,"ts":110,"dur":1})");
  for (const size_t stretch : {kKinetoStretch, size_t{64}}) {
    const auto trace = events.import(stretch);
    EXPECT_EQ(placed(*trace), "0: 10; 30000: 20; ");
    EXPECT_EQ(trace->text(trace->kernels[trace->host[0].subject].name), "a");
    EXPECT_EQ(trace->processes[0].coverage.counters_of_launches, 2u);
    EXPECT_EQ(trace->processes[0].fact("hardware counters"),
              "device 0: 2 ranges of kernels joined with as many launches, in order");
  }
}

TEST(KinetoCounters, StayWithoutALaunchWhereOneIsMissing) {
  Events events;
  events.range(1, "a", reads(10)).range(2, "b", reads(20)).launch(100, 1);
  const auto trace = events.import();
  EXPECT_EQ(placed(*trace), "a (2 ranges, 1 launches): 10; b (2 ranges, 1 launches): 20; ");
  EXPECT_TRUE(trace->operations.empty());
  EXPECT_EQ(trace->processes[0].coverage.counters_unplaced, 2u);
}

TEST(KinetoCounters, StayWithoutALaunchWhereTheirOrderIsNotKnown) {
  Events threads;
  threads.range(1, "a", reads(1)).range(2, "b", reads(2));
  threads.launch(100, 1, "cudaLaunchKernel", 50, 20).launch(110, 2, "cudaLaunchKernel", 51, 20);
  threads.launch(103, 1, "cuLaunchKernel", 50, 3).launch(112, 2, "cuLaunchKernel", 51, 3);
  const auto overlapping = threads.import();
  EXPECT_EQ(overlapping->counters.launches.size(), 0u);
  EXPECT_EQ(overlapping->text(overlapping->counters.unplaced.at(0).why),
            "2 ranges and launches, but launches overlap: their order is not known");
  Events graphs;
  graphs.range(1, "a", reads(1)).launch(100, 1).launch(110, 2, "cudaGraphLaunch");
  EXPECT_EQ(placed(*graphs.import()), "a (graphs were launched too): 1; ");
  Events devices;
  devices.range(1, "a", reads(1), 0).range(1, "b", reads(2), 1).launch(100, 1).launch(110, 2);
  EXPECT_EQ(placed(*devices.import()),
            "a (the launches do not say on which of 2 devices they are): 1; "
            "b (the launches do not say on which of 2 devices they are): 2; ");
  EXPECT_EQ(devices.import()->devices.size(), 2u);
  Events processes;
  processes.range(1, "a", reads(1)).launch(100, 1);
  processes.add(R"({"ph":"X","cat":"cpu_op","name":"x","pid":60,"tid":60,"ts":100,"dur":1})");
  EXPECT_EQ(placed(*processes.import()), "a (the file has several processes): 1; ");
}

TEST(KinetoCounters, OfADriverCallInsideOneOfTheRunTimeCountOnce) {
  Events events;
  events.range(1, "a", reads(10)).launch(100, 1, "cudaLaunchKernel", 50, 9).launch(102, 1, "cuLaunchKernel", 50, 3);
  EXPECT_EQ(placed(*events.import()), "0: 10; ");
}

// Kineto records names only at cudaLaunchKernel: the second event has the name of the third launch.
TEST(KinetoCounters, HaveTheNamesOfTheLaunchesThatKinetoSaw) {
  Events events;
  events.range(1, "a", reads(1)).range(2, "c", reads(2)).range(3, "2", reads(3));
  events.launch(100, 1).launch(110, 2, "cuLaunchKernel").launch(120, 3);
  const auto trace = events.import();
  EXPECT_EQ(placed(*trace), "0: 1; 10000: 2; 20000: 3; ");
  const auto name = [&](size_t row) { return trace->text(trace->kernels[trace->host[row].subject].name); };
  EXPECT_EQ(name(0), "a");
  EXPECT_EQ(name(1), "");
  EXPECT_EQ(name(2), "c");
}

TEST(KinetoCounters, GoToTheKernelsOfTheirDeviceWhereTheTraceHasThem) {
  Events events;
  events.launch(100, 1).launch(110, 2).launch(120, 3);
  events.kernel(200, 1, "a").kernel(210, 2, "b", "", 1).kernel(220, 3, "c", "", 1);
  events.range(1, "a", reads(1)).range(1, "b", reads(2), 1).range(2, "__missing__", reads(3), 1);
  EXPECT_EQ(placed(*events.import()), "0: 1; 10000: 2; 20000: 3; ");
  events.range(3, "d", reads(4));  // of device 0 only
  EXPECT_EQ(placed(*events.import()), "10000: 2; 20000: 3; a (2 ranges, 1 kernels): 1; d (2 ranges, 1 kernels): 4; ");
}

TEST(KinetoCounters, GoToNoKernelOfAnotherName) {
  Events events;
  events.launch(100, 1).launch(110, 2).kernel(200, 1, "a").kernel(210, 2, "b");
  events.range(1, "b", reads(1)).range(2, "a", reads(2));
  const auto trace = events.import();
  EXPECT_EQ(trace->counters.launches.size(), 0u);
  EXPECT_EQ(trace->text(trace->counters.unplaced.at(0).why), "2 ranges and kernels, but the names of number 1 differ");
}

TEST(KinetoCounters, OfAllThatRanAreNoKernels) {
  Events events;
  events.range(1, "__profile__", reads(7)).launch(100, 1);
  const auto trace = events.import();
  EXPECT_EQ(placed(*trace), "__profile__ (): 7; ");
  EXPECT_FALSE(trace->counters.unplaced.at(0).kernel);
}

TEST(KinetoCounters, BesideAKernelOrRangeAreThose) {
  Events events;
  events.launch(100, 1).launch(110, 2).kernel(200, 2, "k", "," + reads(5)).kernel(210, 99, "alone", "," + reads(6));
  events.add(R"({"ph":"X","cat":"user_annotation","name":"step","pid":50,"tid":50,"ts":90,"dur":90,"args":{)" +
             reads(8) + "}}");
  const auto trace = events.import();
  EXPECT_EQ(placed(*trace), "20000: 5; alone (its launch is not in the trace): 6; ");
  ASSERT_EQ(trace->counters.ranges.size(), 1u);
  EXPECT_EQ(trace->range_name(trace->ranges[trace->counters.ranges[0].of]), "step");
  EXPECT_EQ(trace->counters.values_of(trace->counters.ranges[0])[0], 8);
  const Views views(*trace);
  EXPECT_EQ(KernelCosts(*trace, views).of(trace->operations[0].correlation == 2 ? 0 : 1).bytes, 6u);
}

// A trace written by prof contains the values twice: at the kernel, and as torch.profiler writes them, for tools that
// join by order.
TEST(KinetoCounters, OfATraceOfOursAreThoseOfItsKernels) {
  Events events;
  events.launch(100, 1).kernel(200, 1, "k", "," + reads(5)).range(200, "k", "\"kernel correlation\":1," + reads(5));
  const auto trace = events.import();
  EXPECT_EQ(placed(*trace), "0: 5; ");
  EXPECT_EQ(trace->processes[0].fact("hardware counters"), "");
}

TEST(KinetoCounters, OfOneKernelOfAGraphAreNotTheGraphs) {
  Events events;
  events.launch(100, 1, "cudaGraphLaunch");
  events.kernel(200, 1, "a", R"(,"graph id":2,"graph node id":8589934592,)" + reads(5));
  EXPECT_EQ(events.import()->counters.launches.size(), 1u);  // as prof writes a graph that was measured as a whole
  events.kernel(210, 1, "b", R"(,"graph id":2,"graph node id":8589934593,)" + reads(6));
  EXPECT_EQ(placed(*events.import()), "a (it launched more, as graphs do): 5; b (it launched more, as graphs do): 6; ");
}

TEST(KinetoCounters, ThatHaveATimeMakeTheKernel) {
  Events events;
  events.range(1, "a", R"("gpu__time_duration.sum":3000)").range(2, "b", R"("gpu__time_duration.sum":"x")");
  events.launch(100, 1).launch(110, 2);
  const auto trace = events.import();
  ASSERT_EQ(trace->operations.size(), 1u);
  EXPECT_EQ(trace->operations[0].start_ns, 2'000);
  EXPECT_EQ(trace->operations[0].end_ns, 5'000);
  EXPECT_EQ(trace->host[trace->operations[0].launch].begin_ns, 0);
  EXPECT_EQ(trace->processes[0].coverage.counters_timed, 1u);
  EXPECT_EQ(trace->processes[0].coverage.counters_without_time, 1u);
}

TEST(KinetoCounters, ThatAreNoNumbersAreNone) {
  Events events;
  events.range(1, "a", R"("a__b.sum":null,"a__c.sum":"many","a__d.sum":[1,2],"a__e.sum":{},"a__f.sum":1e3)");
  events.range(2, "b", R"("correlation":3)");
  const auto trace = events.import();
  ASSERT_EQ(trace->counters.of_unplaced.size(), 1u);
  const std::span<const double> values = trace->counters.values_of(trace->counters.of_unplaced[0]);
  ASSERT_EQ(values.size(), 5u);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
  EXPECT_EQ(values[4], 1000);
}

// Nine metrics of 77 kernels on an A100, joined with their launches by hand outside this test: the sum, and the first
// of aten::linear.
TEST(KinetoCounters, OfARealTraceGoToItsLaunches) {
  PROF_NEEDS_SHARED_DATA();
  const auto path =
      prof::tests::shared_data() / "hta" / "cupti_profiler__benchmark_result_924719_1679055439_trace.json.gz";
  Trace trace;
  import_kineto(TextSource(path.string()), path.string(), trace, {});
  ASSERT_EQ(trace.counters.launches.size(), 77u);
  EXPECT_TRUE(trace.counters.of_unplaced.empty());
  const Views views(trace);
  double all = 0, linear = 0;
  for (const CounterRow& row : trace.counters.launches) {
    const uint32_t fma =
        metric_index(trace, trace.counters.sets[row.set], "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
    const double value = trace.counters.values_of(row)[fma];
    all += value;
    for (PathId at = views.path_of_call()[row.of]; index(at) != 0; at = trace.paths[index(at)].parent) {
      if (trace.text(trace.labels[index(trace.paths[index(at)].label)].text) == "aten::linear") linear += value;
    }
  }
  EXPECT_EQ(all, 39142369720.0);
  EXPECT_EQ(linear, 15067250688.0);
}

}  // namespace
}  // namespace prof::analyzer
