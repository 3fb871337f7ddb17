#include "analyzer/analysis/select/tensorboard_steps.h"

#include <algorithm>
#include <limits>

namespace prof::analyzer {

namespace {

constexpr int64_t kNeverBegun = std::numeric_limits<int64_t>::max();
constexpr size_t kOutsideSteps = std::numeric_limits<size_t>::max();

// The step whose host part contains the whole call.
size_t step_of(const std::vector<Interval>& steps, const Interval& call) {
  const auto ends_later = std::partition_point(steps.begin(), steps.end(),
                                               [&](const Interval& step) { return step.end_ns <= call.begin_ns; });
  if (ends_later == steps.end() || call.begin_ns < ends_later->begin_ns || call.end_ns > ends_later->end_ns)
    return kOutsideSteps;
  return static_cast<size_t>(ends_later - steps.begin());
}

}  // namespace

Interval tensorboard_window(const std::vector<Interval>& steps, const std::vector<StepOperation>& operations) {
  struct OnDevice {
    int64_t first_ns = kNeverBegun, last_ns = std::numeric_limits<int64_t>::min();
    uint64_t operations = 0;
  };
  std::vector<OnDevice> on_device(steps.size());
  std::vector<const StepOperation*> outside;
  for (const StepOperation& operation : operations) {
    const size_t step = operation.has_call ? step_of(steps, operation.call) : kOutsideSteps;
    if (step == kOutsideSteps) {
      outside.push_back(&operation);
      continue;
    }
    OnDevice& own = on_device[step];
    own.first_ns = std::min(own.first_ns, operation.start_ns);
    own.last_ns = std::max(own.last_ns, operation.end_ns);
    ++own.operations;
  }
  if (outside.size() == operations.size()) return {steps.front().begin_ns, steps.back().end_ns};

  // What was launched before the first step delays its begin.
  int64_t previous_end_ns = steps.front().begin_ns;
  if (on_device.front().operations != 0) {
    for (const StepOperation* each : outside) {
      if (each->end_ns < on_device.front().first_ns) previous_end_ns = std::max(previous_end_ns, each->end_ns);
    }
  }
  std::vector<Interval> whole;
  for (size_t i = 0; i < steps.size(); ++i) {
    const int64_t begin_ns = std::max(previous_end_ns, steps[i].begin_ns);
    int64_t end_ns = steps[i].end_ns;
    if (on_device[i].operations != 0) end_ns = std::max(end_ns, on_device[i].last_ns);
    previous_end_ns = std::max(begin_ns, end_ns);
    whole.push_back({begin_ns, previous_end_ns});
  }
  size_t last = steps.size() - 1;
  if (steps.size() > 1) {
    while (on_device[last].operations == 0) --last;
    const bool cut_off = last > 0 && static_cast<double>(on_device[last - 1].operations) * 0.8 >
                                         static_cast<double>(on_device[last].operations);
    if (cut_off) --last;
  }
  return {whole.front().begin_ns, whole[last].end_ns};
}

}  // namespace prof::analyzer
