// A step of the builder: orders PC samples by process and time.
#include "analyzer/input/log/build/stages.h"

#include <algorithm>
#include <tuple>

namespace prof::analyzer {

void place_pc_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  PcSampleTable& to = trace.pc_samples;
  struct Place {
    uint32_t process, task, record;
    int64_t time_ns;
  };
  std::vector<Place> places;
  size_t rows = 0;
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
    for (uint32_t i = 0; i < task.pc_records.size(); ++i) {
      const StagedPcRecord& record = task.pc_records[i];
      places.push_back({index(input.process), t, i, ns.tick(record.tick) - input.origin_ns});
      uint64_t samples = 0;
      for (size_t e = record.first; e < record.end; ++e) samples += task.pc_entries[e].samples;
      coverage.pc_samples_placed += samples;
      if (record.cubin == 0 || !to.cubins[record.cubin].kept) coverage.pc_samples_without_cubin += samples;
    }
    rows += task.pc_entries.size();
    coverage.pc_samples_unreadable += task.pc_samples_unreadable;
  }
  std::stable_sort(to.batches.begin(), to.batches.end(), [](const PcBatchRow& a, const PcBatchRow& b) {
    return std::tuple(index(a.process), a.time_ns) < std::tuple(index(b.process), b.time_ns);
  });
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.process, a.time_ns) < std::tie(b.process, b.time_ns);
  });
  const auto reserve = [&](auto&... columns) { (columns.reserve(rows), ...); };
  reserve(to.time_ns, to.offset, to.samples, to.not_issued, to.function, to.reason, to.cubin, to.device, to.period,
          to.ambiguous);
  for (const Place& place : places) {
    const StagedPcRecord& record = tasks[place.task].pc_records[place.record];
    for (size_t e = record.first; e < record.end; ++e) {
      const StagedPcEntry& entry = tasks[place.task].pc_entries[e];
      to.time_ns.push_back(place.time_ns);
      to.offset.push_back(entry.offset);
      to.samples.push_back(entry.samples);
      to.not_issued.push_back(entry.not_issued);
      to.function.push_back(StringId{record.function});
      to.reason.push_back(StringId{entry.reason});
      to.cubin.push_back(record.cubin);
      to.device.push_back(record.device);
      to.period.push_back(record.period);
      to.ambiguous.push_back(record.ambiguous);
    }
  }
  for (LogTask& task : tasks) {
    task.pc_records = {};
    task.pc_entries.free();
  }
}

}  // namespace prof::analyzer
