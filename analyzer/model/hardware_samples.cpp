// A step of the builder, and words: samples of hardware counters in the order of time, by GPU.
#include "analyzer/model/hardware_samples.h"

#include "analyzer/base/saturated.h"
#include "analyzer/input/log/build/stages.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

struct Name {
  std::string_view base, text;
};
// Of metrics that sets have (preload/hardware_counters/sampling_sets.def), and their like.
constexpr Name kNames[] = {
    {"sm__cycles_active", "SM active"},
    {"sm__warps_active_realtime", "warps active"},
    {"sm__inst_executed_realtime", "instructions"},
    {"sm__pipe_tensor_cycles_active_realtime", "tensor active"},
    {"dram__bytes_read", "DRAM read"},
    {"dram__bytes_write", "DRAM write"},
    {"dram__bytes_op_read", "DRAM read"},
    {"dram__bytes_op_write", "DRAM write"},
    {"lts__t_bytes", "L2"},
    {"pcie__read_bytes", "PCIe read"},
    {"pcie__write_bytes", "PCIe write"},
    {"nvlrx__bytes", "NVLink received"},
    {"nvltx__bytes", "NVLink sent"},
    {"gpc__cycles_elapsed", "SM clock"},
    {"gr__cycles_active", "graphics engine active"},
};

}  // namespace

SampledUnit sampled_unit(std::string_view metric) {
  const std::string_view base = metric.substr(0, metric.find('.')), suffix = metric.substr(base.size());
  SampledUnit unit;
  unit.name = metric;
  for (const Name& known : kNames) {
    if (known.base == base) unit.name = known.text;
  }
  if (suffix.find(".pct") != std::string_view::npos) {
    unit.unit = "%";
  } else if (suffix.ends_with(".per_second")) {
    const bool clock = base.ends_with("__cycles_elapsed");
    unit.unit = clock ? "GHz" : base.find("bytes") != std::string_view::npos ? "GB/s" : "/s";
    unit.factor = unit.unit == "/s" ? 1 : 1e-9;
  } else if (suffix == ".sum" && base.find("bytes") != std::string_view::npos) {
    unit.unit = "GB/s", unit.per_ns = true;
  } else if (suffix == ".sum") {
    unit.unit = "/s", unit.per_ns = true, unit.factor = 1e9;
  } else {
    unit.name = metric;
  }
  return unit;
}

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
      if (row.begin_ns < last_ns - 1) {  // two clocks' ns may be one apart
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
  for (LogTask& task : tasks) task.sampled.free(), task.sampled_values.free();
}

}  // namespace prof::analyzer
