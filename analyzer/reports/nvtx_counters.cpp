// nvtx-counters: one row per counter that the program sampled through NVTX's counter extension; groups have a row for each of their
// numbers. Definitions: docs/reports/nvtx-counters.md.
#include "analyzer/analysis/analysis.h"

#include <algorithm>

namespace prof::analyzer {

Table report_nvtx_counters(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  struct Sums {
    uint64_t samples = 0;
    double sum = 0, least = 0, most = 0, last = 0;
    int64_t first_ns = 0, last_ns = 0;
  };
  std::vector<Sums> sums(trace.program_counters.size());
  for (const CounterSample& sample : trace.counter_samples) {  // by counter, then by time
    if (!input.selection.in_window(sample.time_ns, sample.time_ns)) continue;
    Sums& to = sums[sample.counter];
    if (to.samples++ == 0) {
      to.least = to.most = sample.value;
      to.first_ns = sample.time_ns;
    }
    to.sum += sample.value;
    to.least = std::min(to.least, sample.value);
    to.most = std::max(to.most, sample.value);
    to.last = sample.value;
    to.last_ns = sample.time_ns;
  }
  Table table("nvtx-counters", "Counters that the program sampled");
  table.add_column("Counter", "counter", CellType::Text);
  table.add_column("Unit", "unit", CellType::Text);
  table.add_column("Domain", "domain", CellType::Text);
  table.add_column("PID", "pid", CellType::Count);
  table.add_column("Samples", "samples", CellType::Count);
  table.add_column("No value", "without_value", CellType::Count);
  table.add_column("Min", "min", CellType::Real, 3);
  table.add_column("Mean", "mean", CellType::Real, 3);
  table.add_column("Max", "max", CellType::Real, 3);
  table.add_column("Last", "last", CellType::Real, 3);
  table.add_column("First at", "first_at", CellType::Nanoseconds);
  table.add_column("Last at", "last_at", CellType::Nanoseconds);
  for (size_t i = 0; i < sums.size(); ++i) {
    const ProgramCounter& counter = trace.program_counters[i];
    if (!input.selection.has_process(counter.process)) continue;
    Table::Row row = table.row();
    row.add(trace.text(counter.name)).add(trace.text(counter.unit)).add(trace.text(counter.domain));
    row.add(trace.processes[index(counter.process)].pid).add(sums[i].samples).add(counter.without_value);
    if (sums[i].samples == 0) continue;
    row.add(sums[i].least).add(sums[i].sum / static_cast<double>(sums[i].samples)).add(sums[i].most).add(sums[i].last);
    row.add(sums[i].first_ns).add(sums[i].last_ns);
  }
  table.notes.push_back("mean: of the samples, however far apart they are");
  return table;
}

}  // namespace prof::analyzer
