// Which launch or range do values of hardware counters belong to? A step of the builder. Matched by (thread, moment),
// never by order: values have the tick of their launch's end or of their push. Both ticks went through the same clock,
// so the times are equal, not approximately equal.
#include "analyzer/input/log/build/ended_calls.h"
#include "analyzer/input/log/build/stages.h"
#include "analyzer/model/hardware_counters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace prof::analyzer {

namespace {

uint32_t launch_that_ended(const Trace& trace, const Thread& thread, int64_t end_ns) {
  return call_that_ended(trace, thread, end_ns, [](const HostEvent& event) {
    return event.kind() == HostKind::KernelLaunch || event.kind() == HostKind::GraphLaunch;
  });
}

uint32_t range_that_began(const Trace& trace, const Thread& thread, int64_t begin_ns) {
  const Range* const first = trace.ranges.data() + thread.ranges.first;
  const Range* const last = trace.ranges.data() + thread.ranges.last;
  const Range* at =
      std::lower_bound(first, last, begin_ns, [](const Range& range, int64_t t) { return range.begin_ns < t; });
  for (; at != last && at->begin_ns == begin_ns; ++at) {
    if (at->kind == RangeKind::Nvtx && at->style == RangeStyle::PushPop && !at->deferred)
      return static_cast<uint32_t>(at - trace.ranges.data());
  }
  return kNone;
}

using ThreadsOfTid = std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>>;  // (process, tid)

void place_values(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  ThreadsOfTid threads;
  for (uint32_t t = 0; t < trace.threads.size(); ++t)
    threads[{index(trace.threads[t].process), trace.threads[t].tid}].push_back(t);
  CounterTable& to = trace.counters;
  size_t values = 0;
  for (const LogTask& task : tasks) values += task.counter_values.size();
  to.values.reserve(values);
  for (LogTask& task : tasks) {
    const LogInput& input = inputs[task.log];
    ClockReader clock{*input.clock};
    Coverage& coverage = trace.processes[index(input.process)].coverage;
    coverage.counters_unreadable += task.counters_unreadable;
    size_t next = 0;
    for (const StagedCounters& staged : task.counters) {
      const size_t first = next;
      next += to.sets[staged.set].metrics.size();
      const int64_t moment_ns = clock.tick(staged.tick) - input.origin_ns;
      uint32_t of = kNone;
      if (const auto found = threads.find({index(input.process), staged.tid}); found != threads.end()) {
        for (size_t i = 0; i < found->second.size() && of == kNone; ++i) {
          const Thread& thread = trace.threads[found->second[i]];
          of = staged.of_range != 0 ? range_that_began(trace, thread, moment_ns)
                                    : launch_that_ended(trace, thread, moment_ns);
        }
      }
      if (of == kNone) {
        ++coverage.counters_unmatched;
        continue;
      }
      (staged.of_range != 0 ? to.ranges : to.launches).push_back({of, staged.set, to.values.size()});
      for (size_t i = first; i < next; ++i) to.values.push_back(task.counter_values[i]);
    }
    task.counters.free();
    task.counter_values.free();
  }
}

// GPU operations of launches whose only times are those of their hardware counters.
class TimedByCounters {
 public:
  TimedByCounters(const std::vector<LogInput>& inputs, const std::vector<ProcessCalls>& calls, Trace& trace)
      : inputs_(inputs), trace_(trace), input_of_(trace.processes.size()), correlation_(trace.processes.size()) {
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const uint32_t process = index(inputs[i].process);
      input_of_[process] = i;
      for (const DriverCall& call : calls[i].rows)
        correlation_[process] = std::max(correlation_[process], call.correlation);
    }
    for (const GpuOperation& operation : trace.operations) {
      uint32_t& last = correlation_[index(trace.process_of(operation.stream()))];
      last = std::max(last, operation.correlation);
    }
  }

  void run() {
    std::vector<uint32_t> time_of_set;
    for (const CounterSet& set : trace_.counters.sets) time_of_set.push_back(metric_index(trace_, set, kCounterTime));
    Column<Timed> timed;
    for (uint32_t i = 0; i < trace_.counters.launches.size(); ++i) {
      const CounterRow& row = trace_.counters.launches[i];
      HostEvent& launch = trace_.host[row.of];
      if (!launch.has(kHostNoGpuTimes) || launch.has(kHostCaptured) || launch.result() != 0) continue;
      Process& process = trace_.processes[index(trace_.thread(launch.thread).process)];
      const uint32_t time = time_of_set[row.set];
      const double ns = time == UINT32_MAX ? -1 : trace_.counters.values_of(row)[time];
      if (!(ns >= 0 && ns <= kLongestKernelNs)) {  // also rejects NaN
        ++process.coverage.counters_without_time;
        continue;
      }
      timed.push_back({row.of, stream_of(launch), std::llround(ns)});
      ++process.coverage.counters_timed;
    }
    if (!timed.empty()) add(timed);
  }

 private:
  struct Timed {
    uint32_t launch, stream;
    int64_t duration_ns;
  };

  GpuOperation operation_of(const Timed& timed) {
    HostEvent& launch = trace_.host[timed.launch];
    launch.remove_flag(kHostNoGpuTimes);
    const uint32_t process = index(trace_.thread(launch.thread).process);
    const LogInput& input = inputs_[input_of_[process]];
    GpuOperation operation;
    operation.start_ns = std::max(launch.begin_ns, launch.end_ns - timed.duration_ns);
    operation.end_ns = operation.start_ns + timed.duration_ns;
    operation.launch = timed.launch;
    if (launch.correlation == 0 && correlation_[process] != UINT32_MAX) launch.correlation = ++correlation_[process];
    operation.correlation = launch.correlation;
    const bool graph = launch.kind() == HostKind::GraphLaunch;
    if (graph) {
      const uint32_t number = trace_.graphs[launch.subject].number;
      operation.graph_node = graph_node_id(number, 0);
      operation.detail = input.ids.graph_runs.find_or(number, 0);
    } else {
      operation.detail = static_cast<uint32_t>(launch.subject);
    }
    operation.set_kind(graph ? GpuKind::Graph : GpuKind::Kernel);
    operation.set_stream(timed.stream);
    int64_t& last_ns = trace_.processes[process].last_ns;
    last_ns = std::max(last_ns, operation.end_ns);
    trace_.last_ns = std::max(trace_.last_ns, last_ns);
    return operation;
  }

  uint32_t stream_of(const HostEvent& launch) {
    const LogInput& input = inputs_[input_of_[index(trace_.thread(launch.thread).process)]];
    const uint32_t known = trace_.host_streams[index(launch.stream)].stream;
    if (known != kNone) return known;
    Stream& unknown = trace_.streams[input.ids.unknown_stream];
    if (index(unknown.device) >= trace_.devices.size() || trace_.device(unknown.device).process != input.process) {
      unknown.device = DeviceId{static_cast<uint32_t>(trace_.devices.size())};
      trace_.devices.emplace_back();
      trace_.devices.back().process = input.process;
      trace_.devices.back().physical = index(unknown.device);
    }
    return input.ids.unknown_stream;
  }

  // Inserts the operations so that rows of a stream stay adjacent.
  void add(const Column<Timed>& made) {
    std::vector<uint32_t> next(trace_.streams.size() + 1);
    for (const GpuOperation& operation : trace_.operations) ++next[operation.stream_index + 1];
    for (const Timed& timed : made) ++next[timed.stream + 1];
    for (size_t s = 0; s < trace_.streams.size(); ++s) {
      next[s + 1] += next[s];
      trace_.streams[s].operations = {next[s], next[s + 1]};
    }
    Column<GpuOperation> all;
    all.resize(trace_.operations.size() + made.size());
    for (const GpuOperation& operation : trace_.operations) all[next[operation.stream_index]++] = operation;
    for (const Timed& timed : made) all[next[timed.stream]++] = operation_of(timed);
    trace_.operations = std::move(all);
    const auto before = [](const GpuOperation& a, const GpuOperation& b) {
      return std::tuple(a.start_ns, a.end_ns, a.correlation) < std::tuple(b.start_ns, b.end_ns, b.correlation);
    };
    for (const Stream& stream : trace_.streams) {
      GpuOperation* const first = trace_.operations.data() + stream.operations.first;
      GpuOperation* const last = trace_.operations.data() + stream.operations.last;
      if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
    }
  }

  const std::vector<LogInput>& inputs_;
  Trace& trace_;
  std::vector<uint32_t> input_of_;     // by ProcessId
  std::vector<uint32_t> correlation_;  // by ProcessId: the greatest correlation id in use
};

}  // namespace

void place_counters(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks,
                    const std::vector<ProcessCalls>& calls, Trace& trace) {
  place_values(inputs, tasks, trace);
  if (trace.counters.empty()) return;
  order_counters(trace, {});
  TimedByCounters(inputs, calls, trace).run();
}

}  // namespace prof::analyzer
