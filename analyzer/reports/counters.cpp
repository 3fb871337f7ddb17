// counters: what were the values of the GPU's hardware counters for each kernel, graph or NVTX range? The report
// derives FLOPs, bytes, shares of the device's peaks, and how much of the computation the operator required.
#include "analyzer/analysis/cost/counter_numbers.h"
#include "analyzer/analysis/cost/counter_rows.h"
#include "analyzer/analysis/cost/peak_rates.h"
#include "analyzer/analysis/range_row_names.h"
#include "analyzer/reports/reports.h"
#include "analyzer/reports/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace prof::analyzer {

namespace {

// Why cells are empty, or why a value is too low.
std::string note_of(const Trace& trace, const Measured& row, const CounterMeaning& meaning) {
  std::string note;
  const auto add = [&](std::string_view text) { note.append(note.empty() ? "" : "; ").append(text); };
  if (row.why != StringId{}) add(fmt::format("no launch: {}", trace.text(row.why)));
  if (row.timed == 0) add("no time in the set");
  if (row.peaks.with_flops == 0)
    add(row.tensor_unknown    ? "FLOPs: tensor cores ran, whose instructions say no number of operations"
        : meaning.has_flops() ? "FLOPs: values are no numbers"
                              : "FLOPs: no metrics of operations in the set");
  if (row.tensor_only) add("FLOPs of tensor cores only");
  if (row.vector_only) add("FLOPs of vector units only");
  if (row.peaks.with_bytes == 0)
    add(meaning.has_bytes() ? "bytes: values are no numbers"
                            : "bytes: dram__bytes_read and dram__bytes_write are not in the set");
  const uint64_t fewest = row.numbers.empty() ? row.count : *std::min_element(row.numbers.begin(), row.numbers.end());
  if (fewest != row.count) add(fmt::format("no number in {} of {}", row.count - fewest, row.count));
  if (row.peaks.above_peak && row.timed == row.count) add("above the peak");
  return note;
}

// The metrics of the rows, each once, in the order of their sets.
std::vector<StringId> metrics_of(const Trace& trace, const std::vector<Measured>& rows) {
  std::vector<bool> used(trace.counters.sets.size());
  for (const Measured& row : rows) used[row.set] = true;
  std::vector<bool> seen(trace.strings.size());
  std::vector<StringId> metrics;
  for (size_t set = 0; set < used.size(); ++set) {
    if (!used[set]) continue;
    for (const StringId metric : trace.counters.sets[set].metrics) {
      if (!seen[static_cast<uint32_t>(metric)]) metrics.push_back(metric);
      seen[static_cast<uint32_t>(metric)] = true;
    }
  }
  return metrics;
}

void add_counter_columns(Table& table, const Trace& trace, const std::vector<StringId>& metrics) {
  table.add_columns({ColumnId::pid, ColumnId::device, ColumnId::what, ColumnId::count, ColumnId::counted_time,
                     ColumnId::mean, ColumnId::gflop, ColumnId::tflops, ColumnId::flops_percent, ColumnId::gb,
                     ColumnId::gb_per_s, ColumnId::bandwidth_percent, ColumnId::intensity, ColumnId::bound,
                     ColumnId::data_type, ColumnId::from, ColumnId::counted_of_nominal_percent});
  for (const StringId metric : metrics)
    table.add_named_column(ColumnId::metric, fmt::format("{} (mean)", trace.text(metric)),
                           std::string(trace.text(metric)), CellType::Real, 1);
  table.add_columns({ColumnId::top_op, ColumnId::bottom_op, ColumnId::op_stack, ColumnId::note, ColumnId::name});
}

void add_row(const AnalysisInput& input, const Measured& each, const std::vector<StringId>& metrics,
             const std::string& note, Table& table) {
  const Trace& trace = input.trace;
  const PeakSums& sums = each.peaks;
  const CounterSet& set = trace.counters.sets[each.set];
  Table::Row row = table.row();
  const auto real = [&](std::optional<double> value) { row.add(value); };
  const auto text = [&](std::string_view value) { row.add_text(value); };
  if (each.process == kNone) {
    row.empty();
  } else {
    row.add_owner(each.process);
  }
  row.add_if(set.device != kNone, set.device);
  row.add(std::string_view(each.what)).add(each.count);
  real(each.timed == 0 ? std::nullopt : std::optional(each.time_ns));
  real(each.timed == 0 ? std::nullopt : std::optional(each.time_ns / static_cast<double>(each.timed)));
  real(sums.with_flops == 0 ? std::nullopt : std::optional(sums.flops / 1e9));
  real(sums.tera_flops());
  real(sums.flops_percent());
  real(sums.with_bytes == 0 ? std::nullopt : std::optional(sums.bytes / 1e9));
  real(sums.giga_bytes());
  real(sums.bytes_percent());
  real(sums.intensity());
  text(roof_bound_name(roof_bound(sums)));
  text(sums.type_text());
  text(sums.source_text());
  real(each.nominal_flops <= 0 ? std::nullopt : std::optional(100 * each.counted_flops / each.nominal_flops));
  for (const StringId metric : metrics) {
    const auto at = std::find(set.metrics.begin(), set.metrics.end(), metric) - set.metrics.begin();
    const auto i = static_cast<size_t>(at);
    const bool there = i < set.metrics.size() && each.numbers[i] != 0;
    real(there ? std::optional(each.sums[i] / static_cast<double>(each.numbers[i])) : std::nullopt);
  }
  const EventNames& names = range_row_names(input);
  if (each.path.empty() || each.paths > 1) {
    row.empty().empty();
    text(each.paths > 1 ? "several: --group-by op" : "");
  } else {
    std::string stack;
    for (const StringId name : each.path) stack.append(stack.empty() ? "" : "/").append(names.text(name));
    text(names.text(each.path.front()));
    text(names.text(each.path.back()));
    text(stack);
  }
  text(note);
  text(each.name);
}

}  // namespace

Table report_counters(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const PeaksOfDevices peaks = peaks_of_devices(input);
  const std::vector<Measured> rows = measured_rows(input, peaks);
  const std::vector<CounterMeaning> meanings = counter_meanings(trace);
  const std::vector<StringId> metrics = metrics_of(trace, rows);
  Table table("counters", "Hardware counters of kernels, graphs and NVTX ranges");
  add_counter_columns(table, trace, metrics);
  uint64_t differ = 0;
  std::vector<bool> used(trace.counters.sets.size());
  for (const Measured& each : rows) {
    add_row(input, each, metrics, note_of(trace, each, meanings[each.set]), table);
    used[each.set] = true;
    if (each.nominal_flops > 0 && std::abs(each.counted_flops / each.nominal_flops - 1) > 0.02) ++differ;
  }
  for (size_t s = 0; s < used.size(); ++s) {
    const CounterSet& set = trace.counters.sets[s];
    if (!used[s]) continue;
    std::string note =
        set.passes == 0
            ? fmt::format("of a trace: {} metrics, which does not say in how many passes", set.metrics.size())
            : fmt::format("{}: {} metrics, {} pass{}{}", trace.text(set.chip), set.metrics.size(), set.passes,
                          set.passes == 1 ? "" : "es", set.replayed ? ": kernels were run again for each of them" : "");
    if (std::find(table.notes.begin(), table.notes.end(), note) == table.notes.end())
      table.notes.push_back(std::move(note));
  }
  if (rows.empty()) {
    table.notes.push_back(trace.counters.empty()
                              ? "no values of hardware counters: prof record --counters roofline -- PROGRAM"
                              : "no values of hardware counters in the selection");
    return table;
  }
  table.notes.insert(table.notes.end(), peaks.notes.begin(), peaks.notes.end());
  note_folded_ranges(input, table.notes);
  table.notes.push_back("columns of metrics: mean of a launch or range; rates: sums over sums of time");
  if (differ != 0)
    table.notes.push_back(fmt::format(
        "rows whose counted FLOPs differ from those of the operators' shapes by more than 2 %: {}", differ));
  return table;
}

}  // namespace prof::analyzer
