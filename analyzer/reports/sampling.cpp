// sampling: what were the hardware samples while each kernel, or the GPU operations of each NVTX range, ran? A sample
// belongs to an instance if it lies wholly inside. Values are means weighted by the lengths of the samples.
// Definitions: docs/reports/sampling.md.
#include "analyzer/analysis/range_projection.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace prof::analyzer {

namespace {

struct Stretch {
  int64_t begin_ns = 0, end_ns = 0;
};

// Sums over the hardware samples of one set.
struct SampleSums {
  uint64_t samples = 0, shared = 0;
  int64_t ns = 0;
  std::vector<double> weighted;    // by metric: displayed value times ns
  std::vector<int64_t> number_ns;  // by metric: time of samples with a finite value
};

struct SampledWork {
  const char* what = "";
  std::string name;
  uint64_t count = 0, with_samples = 0;  // instances
  int64_t time_ns = 0, longest_ns = 0;
  SampleSums sums;
};

// The hardware samples of one GPU, and how many of its operations run at each moment.
class SampledDevice {
 public:
  SampledDevice(const AnalysisInput& input, uint32_t set)
      : input_(input), trace_(input.trace), table_(input.trace.samples), set_(set), of_(table_.sets[set]) {
    for (const StringId metric : of_.metrics) units_.push_back(sampled_unit(trace_.text(metric)));
    for (const Stream& stream : trace_.streams) {
      if (stream.device != of_.device) continue;
      for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
        starts_.push_back(trace_.operations[row].start_ns);
        ends_.push_back(trace_.operations[row].end_ns);
      }
    }
    std::sort(starts_.begin(), starts_.end());
    std::sort(ends_.begin(), ends_.end());
  }

  const std::vector<SampledUnit>& units() const { return units_; }

  // The hardware samples of the window.
  SampledWork all() const {
    SampledWork work;
    work.what = "device";
    for (size_t row = of_.first; row < of_.last; ++row) {
      if (input_.selection.in_window(table_.rows[row].begin_ns, table_.rows[row].end_ns)) add(work.sums, row, false);
    }
    work.time_ns = work.sums.ns;
    return work;
  }

  // Adds one instance to `work`. `alone`: samples that overlap another operation of the GPU are counted as shared.
  void add_instance(SampledWork& work, Stretch at, bool alone) const {
    ++work.count;
    grow(work.time_ns, at.end_ns - at.begin_ns);
    work.longest_ns = std::max(work.longest_ns, at.end_ns - at.begin_ns);
    const SampleRow* const rows = table_.rows.data();
    const SampleRow* row = std::lower_bound(rows + of_.first, rows + of_.last, at.begin_ns,
                                            [](const SampleRow& each, int64_t t) { return each.begin_ns < t; });
    const uint64_t before = work.sums.samples;
    for (; row != rows + of_.last && row->end_ns <= at.end_ns; ++row)
      add(work.sums, static_cast<size_t>(row - rows), alone && operations_at(*row) > 1);
    work.with_samples += work.sums.samples != before ? 1 : 0;
  }

 private:
  void add(SampleSums& to, size_t row, bool shared) const {
    const int64_t ns = table_.rows[row].end_ns - table_.rows[row].begin_ns;
    if (ns <= 0) return;
    to.weighted.resize(units_.size());
    to.number_ns.resize(units_.size());
    ++to.samples;
    to.shared += shared ? 1 : 0;
    grow(to.ns, ns);
    const auto values = table_.values_of(set_, row);
    for (size_t m = 0; m < values.size(); ++m) {
      if (!std::isfinite(values[m])) continue;
      to.weighted[m] += units_[m].of(values[m], ns) * static_cast<double>(ns);
      grow(to.number_ns[m], ns);
    }
  }

  // Number of operations that overlap the hardware sample.
  int64_t operations_at(const SampleRow& row) const {
    const auto begun = std::lower_bound(starts_.begin(), starts_.end(), row.end_ns) - starts_.begin();
    const auto ended = std::upper_bound(ends_.begin(), ends_.end(), row.begin_ns) - ends_.begin();
    return begun - ended;
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  const SampleTable& table_;
  uint32_t set_;
  const SampledSet& of_;
  std::vector<SampledUnit> units_;
  std::vector<int64_t> starts_, ends_;  // of the GPU's operations, each vector sorted
};

std::vector<SampledWork> kernels_of(const AnalysisInput& input, const SampledDevice& sampled, DeviceId device) {
  const Trace& trace = input.trace;
  std::map<std::string, SampledWork, std::less<>> found;
  for (const Stream& stream : trace.streams) {
    if (stream.device != device || !input.selection.has_stream(trace, stream)) continue;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      if (!input.selection.in_window(operation.start_ns, operation.end_ns) || !input.selection.nvtx.has_operation(row))
        continue;
      if (operation.linked() && !input.selection.has_thread(trace.thread(trace.host[operation.launch].thread)))
        continue;
      const std::string_view name = operation_name(input.views.names(), operation, input.options.names);
      SampledWork& work = found.try_emplace(std::string(name)).first->second;
      work.what = operation.kind() == GpuKind::Kernel  ? "kernel"
                  : operation.kind() == GpuKind::Graph ? "graph"
                  : operation.kind() == GpuKind::Copy  ? "copy"
                                                       : "fill";
      sampled.add_instance(work, {operation.start_ns, operation.end_ns}, true);
    }
  }
  std::vector<SampledWork> rows;
  for (auto& [name, work] : found) {
    rows.push_back(std::move(work));
    rows.back().name = name;
  }
  return rows;
}

std::vector<SampledWork> ranges_of(const AnalysisInput& input, const SampledDevice& sampled, ProcessId process) {
  const Trace& trace = input.trace;
  std::vector<uint32_t> ranges;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    if (range.kind != RangeKind::Nvtx || range.style != RangeStyle::PushPop) continue;
    const Thread& thread = trace.thread(range.thread);
    if (thread.process == process && input.selection.nvtx.has_range(row) && input.selection.has_thread(thread) &&
        input.selection.in_window(range.begin_ns, range.end_ns))
      ranges.push_back(row);
  }
  const std::vector<Projection> projections = project_ranges(input, ranges);
  std::map<std::string, SampledWork, std::less<>> found;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (projections[i].operations == 0) continue;
    SampledWork& work = found.try_emplace(std::string(trace.range_name(trace.ranges[ranges[i]]))).first->second;
    work.what = "range";
    sampled.add_instance(work, {projections[i].first_ns, projections[i].last_ns}, false);
  }
  std::vector<SampledWork> rows;
  for (auto& [name, work] : found) {
    rows.push_back(std::move(work));
    rows.back().name = name;
  }
  return rows;
}

// The columns: each metric of any set once, in the order of the sets.
std::vector<StringId> sampled_metrics(const Trace& trace) {
  std::vector<StringId> metrics;
  for (const SampledSet& set : trace.samples.sets) {
    for (const StringId metric : set.metrics) {
      if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
    }
  }
  return metrics;
}

void add_sampled_row(const Trace& trace, const SampledSet& set, const SampledWork& work,
                     const std::vector<StringId>& metrics, Table& table) {
  const Device& device = trace.device(set.device);
  Table::Row row = table.row();
  row.add_owner(device.process).add(device.ordinal).add(std::string_view(work.what));
  const bool counted = work.count != 0;
  row.add_if(counted, work.count);
  row.add_if(counted, work.with_samples);
  row.add(work.sums.samples);
  row.add_if(counted, work.sums.shared);
  row.add(work.time_ns);
  row.add_percent(work.sums.ns, work.time_ns);
  for (const StringId metric : metrics) {
    const auto at = std::find(set.metrics.begin(), set.metrics.end(), metric);
    const auto m = static_cast<size_t>(at - set.metrics.begin());
    const bool there = at != set.metrics.end() && m < work.sums.number_ns.size() && work.sums.number_ns[m] != 0;
    if (there) {
      row.add(work.sums.weighted[m] / static_cast<double>(work.sums.number_ns[m]));
    } else {
      row.empty();
    }
  }
  const bool shorter = set.interval_ns != 0 && work.longest_ns < 2 * set.interval_ns;
  if (work.sums.samples != 0) {
    row.empty();
  } else if (counted && shorter) {
    row.add(fmt::format("too short: the longest is {:.3f} us, a sample {:.3f} us",
                        static_cast<double>(work.longest_ns) / 1e3, static_cast<double>(set.interval_ns) / 1e3));
  } else {
    row.add(std::string_view("no sample lies inside"));
  }
  row.add_text(work.name);
}

}  // namespace

Table report_sampling(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("sampling", "Sampled hardware counters of GPUs, kernels and NVTX ranges");
  const std::vector<StringId> metrics = sampled_metrics(trace);
  table.add_columns({ColumnId::pid, ColumnId::device, ColumnId::what, ColumnId::count, ColumnId::with_samples,
                     ColumnId::samples, ColumnId::shared_samples, ColumnId::time, ColumnId::sampled_percent});
  for (const StringId metric : metrics) {
    const SampledUnit unit = sampled_unit(trace.text(metric));
    const std::string title = unit.unit.empty() ? unit.name : fmt::format("{} ({})", unit.name, unit.unit);
    table.add_named_column(ColumnId::metric, title, std::string(trace.text(metric)), CellType::Real,
                           unit.unit == "/s" ? 0 : 2);
  }
  table.add_columns({ColumnId::note, ColumnId::name});
  bool any = false;
  for (uint32_t s = 0; s < trace.samples.sets.size(); ++s) {
    const SampledSet& set = trace.samples.sets[s];
    const Device& device = trace.device(set.device);
    const Selection& selection = input.selection;
    const bool wanted = selection.devices.empty() || std::find(selection.devices.begin(), selection.devices.end(),
                                                               device.ordinal) != selection.devices.end();
    if (set.first == set.last || !wanted || !selection.has_process(device.process)) continue;
    any = true;
    const SampledDevice sampled(input, s);
    add_sampled_row(trace, set, sampled.all(), metrics, table);
    std::vector<SampledWork> rows = kernels_of(input, sampled, set.device);
    const std::vector<SampledWork> ranges = ranges_of(input, sampled, device.process);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const SampledWork& a, const SampledWork& b) { return a.time_ns > b.time_ns; });
    rows.insert(rows.end(), ranges.begin(), ranges.end());
    for (const SampledWork& work : rows) add_sampled_row(trace, set, work, metrics, table);
    table.notes.push_back(
        set.interval_ns == 0
            ? fmt::format("GPU {}, {}: samples by the GPU's clock", device.ordinal, trace.text(set.chip))
            : fmt::format("GPU {}, {}: a sample every {:.3f} us", device.ordinal, trace.text(set.chip),
                          static_cast<double>(set.interval_ns) / 1e3));
  }
  table.notes.push_back(
      any ? "numbers: means of the samples that lie wholly inside, weighted by their length; of everything "
            "that the GPU did meanwhile (shared: samples beside other operations)"
      : trace.samples.empty() ? "no samples of hardware counters: prof record --sampling overview -- PROGRAM"
                              : "no samples of hardware counters in the selection");
  return table;
}

}  // namespace prof::analyzer
