// A step of the builder: orders samples of host threads and the intervals of their states by thread and time.
#include "analyzer/input/log/build/stages.h"

#include <algorithm>
#include <tuple>

namespace prof::analyzer {

namespace {

struct Sample {
  int64_t time_ns;
  StagedHostSample row;
};
struct State {
  int64_t begin_ns, end_ns;
  uint32_t thread;
  HostState state;
};

void write_samples(std::vector<Sample>& rows, HostSamples& to) {
  std::stable_sort(rows.begin(), rows.end(), [](const Sample& a, const Sample& b) {
    return std::tie(a.row.thread, a.time_ns) < std::tie(b.row.thread, b.time_ns);
  });
  for (const Sample& sample : rows) {
    to.thread.push_back(ThreadId{sample.row.thread});
    to.time_ns.push_back(sample.time_ns);
    to.state.push_back(sample.row.state);
    to.blocked_in.push_back(sample.row.blocked_in);
    to.detail.push_back(StringId{sample.row.detail});
    to.stack.push_back(StackId{sample.row.stack});
  }
}

// What two intervals of a thread have in common belongs to the first one.
void write_states(std::vector<State>& rows, ThreadStates& to) {
  std::stable_sort(rows.begin(), rows.end(), [](const State& a, const State& b) {
    return std::tie(a.thread, a.begin_ns) < std::tie(b.thread, b.begin_ns);
  });
  uint32_t thread = kNone;
  int64_t last_ns = 0;
  for (const State& state : rows) {
    if (state.thread != thread) last_ns = INT64_MIN;
    thread = state.thread;
    const int64_t begin_ns = std::max(state.begin_ns, last_ns);
    if (begin_ns >= state.end_ns) continue;
    last_ns = state.end_ns;
    to.thread.push_back(ThreadId{thread});
    to.begin_ns.push_back(begin_ns);
    to.end_ns.push_back(state.end_ns);
    to.state.push_back(state.state);
  }
}

void write_rates(const std::vector<LogInput>& inputs, HostSampling& to) {
  for (const LogInput& input : inputs) {
    ClockReader ns{*input.clock};
    const size_t first = to.rates.size();
    for (const format::HostSampling& each : input.host_samplings) {
      HostSamplingRate rate;
      rate.process = input.process;
      rate.from_ns = ns.tick(each.from) - input.origin_ns;
      rate.period_ns = static_cast<double>(each.period_ns);
      rate.starved_only = (each.flags & format::kHostStarvedOnly) != 0;
      rate.without_perf = (each.flags & format::kHostWithoutPerf) != 0;
      to.rates.push_back(rate);
    }
    std::stable_sort(to.rates.begin() + static_cast<std::ptrdiff_t>(first), to.rates.end(),
                     [](const HostSamplingRate& a, const HostSamplingRate& b) { return a.from_ns < b.from_ns; });
  }
  const auto rate =
      std::find_if(to.rates.begin(), to.rates.end(), [](const HostSamplingRate& each) { return each.period_ns != 0; });
  if (to.period_ns != 0 || rate == to.rates.end()) return;
  to.period_ns = rate->period_ns;
  to.starved_only = rate->starved_only;
}

// Whether two processes count processes alike, so that a pid means the same in both of their logs.
bool is_same_namespace(const Process& a, const Process& b) {
  const std::string boot = a.fact("boot_id"), space = a.fact("pid_namespace");
  return !boot.empty() && !space.empty() && boot == b.fact("boot_id") && space == b.fact("pid_namespace");
}

// The log of a holder has its pid and contains the time at which it was found. A process may have had the pipe before
// its recording started, and a recording may end shortly before the process does.
void write_holders(const std::vector<LogInput>& inputs, Trace& trace) {
  HostSampling& to = trace.host_sampling;
  constexpr int64_t kBefore = 1'000'000'000, kAfter = 100'000'000;
  const auto first_ns = [&](ProcessId process) {
    const auto rate = std::find_if(to.rates.begin(), to.rates.end(),
                                   [&](const HostSamplingRate& each) { return each.process == process; });
    return rate == to.rates.end() ? INT64_MAX : rate->from_ns;
  };
  for (const LogInput& input : inputs) {
    ClockReader ns{*input.clock};
    const size_t first = to.holders.size();
    for (const format::PipeHolder& each : input.pipe_holders) {
      PipeHolder row{input.process, trace.strings.intern(each.pipe),      each.pid, trace.strings.intern(each.command),
                     std::nullopt,  ns.tick(each.found) - input.origin_ns};
      bool known = false;
      for (const LogInput& other : inputs) {
        const Process& process = trace.processes[index(other.process)];
        const int64_t from_ns = first_ns(other.process);
        if ((each.flags & format::kHolderOfOtherNamespace) != 0 || other.process == input.process ||
            process.pid != each.pid || !is_same_namespace(process, trace.processes[index(input.process)]) ||
            from_ns == INT64_MAX || row.found_ns < from_ns - kBefore || row.found_ns > process.last_ns + kAfter)
          continue;
        row.holder = other.process;
        to.holders.push_back(row);
        known = true;
      }
      if (!known) to.holders.push_back(row);
    }
    std::stable_sort(to.holders.begin() + static_cast<std::ptrdiff_t>(first), to.holders.end(),
                     [](const PipeHolder& a, const PipeHolder& b) { return a.found_ns < b.found_ns; });
  }
}

}  // namespace

void place_host_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  std::vector<Sample> samples;
  std::vector<State> states;
  for (LogTask& task : tasks) {
    const LogInput& input = inputs[task.log];
    Coverage& coverage = trace.processes[index(input.process)].coverage;
    ClockReader ns{*input.clock};
    for (const StagedHostSample& row : task.host_samples) samples.push_back({ns.tick(row.tick) - input.origin_ns, row});
    for (const StagedHostState& row : task.host_states)
      states.push_back(
          {ns.tick(row.begin) - input.origin_ns, ns.tick(row.end) - input.origin_ns, row.thread, row.state});
    coverage.host_samples += task.host_samples.size();
    coverage.host_samples_unplaced += task.host_samples_unplaced;
    task.host_samples.free();
    task.host_states.free();
  }
  write_samples(samples, trace.host_sampling.samples);
  write_states(states, trace.host_sampling.states);
  write_rates(inputs, trace.host_sampling);
  write_holders(inputs, trace);
}

}  // namespace prof::analyzer
