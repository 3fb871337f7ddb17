// A step of the builder: orders PC samples by process and time.
#include "analyzer/input/log/build/stages.h"

#include <algorithm>
#include <tuple>

namespace prof::analyzer {

void place_pc_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  PcSampleTable& to = trace.pc_samples;
  struct Place {
    uint32_t process, task, row;
    int64_t time_ns;
  };
  std::vector<Place> places;
  for (uint32_t t = 0; t < tasks.size(); ++t) {
    LogTask& task = tasks[t];
    const LogInput& input = inputs[task.log];
    Coverage& coverage = trace.processes[index(input.process)].coverage;
    ClockReader ns{*input.clock};
    for (StagedPcBatch& batch : task.pc_batches) {
      batch.row.process = input.process;
      batch.row.time_ns = ns.tick(batch.tick) - input.origin_ns;
      to.batches.push_back(batch.row);
      coverage.pc_samples += batch.row.total;
      coverage.pc_samples_dropped += batch.row.dropped;
      coverage.pc_samples_non_user += batch.row.non_user;
    }
    for (uint32_t i = 0; i < task.pc_samples.size(); ++i) {
      const StagedPcSample& row = task.pc_samples[i];
      places.push_back({index(input.process), t, i, ns.tick(row.tick) - input.origin_ns});
      coverage.pc_samples_placed += row.samples;
      if (row.cubin == 0 || !to.cubins[row.cubin].kept) coverage.pc_samples_without_cubin += row.samples;
    }
    coverage.pc_samples_unreadable += task.pc_samples_unreadable;
  }
  std::stable_sort(to.batches.begin(), to.batches.end(), [](const PcBatchRow& a, const PcBatchRow& b) {
    return std::tuple(index(a.process), a.time_ns) < std::tuple(index(b.process), b.time_ns);
  });
  const auto before = [](const Place& a, const Place& b) {
    return std::tie(a.process, a.time_ns) < std::tie(b.process, b.time_ns);
  };
  // One thread writes the samples of a process, so those of one log are in order. Sorting 10 M takes a second.
  if (!std::is_sorted(places.begin(), places.end(), before)) std::stable_sort(places.begin(), places.end(), before);
  for (const Place& place : places) {
    const StagedPcSample& row = tasks[place.task].pc_samples[place.row];
    to.time_ns.push_back(place.time_ns);
    to.offset.push_back(row.offset);
    to.samples.push_back(row.samples);
    to.not_issued.push_back(row.not_issued);
    to.function.push_back(StringId{row.function});
    to.reason.push_back(StringId{row.reason});
    to.cubin.push_back(row.cubin);
    to.device.push_back(row.device);
    to.period.push_back(row.period);
    to.ambiguous.push_back(row.ambiguous);
  }
  for (LogTask& task : tasks) task.pc_samples.free();
}

}  // namespace prof::analyzer
