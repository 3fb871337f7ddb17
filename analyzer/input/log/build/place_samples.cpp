// A step of the builder: orders hardware samples by GPU and time.
#include "analyzer/base/saturated.h"
#include "analyzer/input/log/build/stages.h"

#include <algorithm>

namespace prof::analyzer {

void place_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  SampleTable& to = trace.samples;
  struct Place {
    uint32_t task, index;
    size_t value;
  };
  std::vector<std::vector<Place>> places(to.sets.size());
  for (uint32_t t = 0; t < tasks.size(); ++t) {
    const LogTask& task = tasks[t];
    trace.processes[index(inputs[task.log].process)].coverage.samples_unreadable += task.samples_unreadable;
    size_t value = 0;
    for (uint32_t i = 0; i < task.sampled.size(); ++i) {
      const StagedSampled& row = task.sampled[i];
      places[row.set].push_back({t, i, value});
      value += to.sets[row.set].metrics.size();
    }
  }
  for (uint32_t s = 0; s < to.sets.size(); ++s) {
    SampledSet& set = to.sets[s];
    Coverage& coverage = trace.processes[index(trace.device(set.device).process)].coverage;
    std::stable_sort(places[s].begin(), places[s].end(), [&](const Place& a, const Place& b) {
      return tasks[a.task].sampled[a.index].begin_ns < tasks[b.task].sampled[b.index].begin_ns;
    });
    set.first = to.rows.size();
    to.values_of_set.push_back(to.values.size());
    int64_t last_ns = INT64_MIN;
    for (const Place& place : places[s]) {
      const StagedSampled& row = tasks[place.task].sampled[place.index];
      if (last_ns == INT64_MIN) last_ns = row.begin_ns;
      if (row.begin_ns < last_ns - 1) {  // times of two clocks may differ by one ns
        ++coverage.samples_unreadable;
        continue;
      }
      grow(coverage.samples_missing_ns, std::max<int64_t>(row.begin_ns - last_ns, 0));
      const int64_t begin_ns = std::max(row.begin_ns, last_ns);
      last_ns = std::max(row.end_ns, last_ns);
      if (row.begin_ns == row.end_ns) continue;  // no sample: sampling ended here
      ++coverage.samples;
      to.rows.push_back({begin_ns, row.end_ns});
      for (size_t m = 0; m < set.metrics.size(); ++m)
        to.values.push_back(tasks[place.task].sampled_values[place.value + m]);
    }
    set.last = to.rows.size();
  }
  for (LogTask& task : tasks) {
    task.sampled.free();
    task.sampled_values.free();
  }
}

}  // namespace prof::analyzer
