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
}

}  // namespace prof::analyzer
