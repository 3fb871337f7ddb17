// counters: what did the GPU's hardware counters say of each kernel, graph or NVTX range, and what follows: FLOPs, bytes, how close to the
// device's peaks, and how much of what was computed the operator had to compute?
#include "analyzer/analysis/counter_numbers.h"
#include "analyzer/analysis/peak_rates.h"
#include "analyzer/analysis/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr double kMostCounted = 18446744073709551616.0;  // a counter has 64 bits

enum class RowOf { Name, NameAndOp, Launch };

RowOf row_of(const std::vector<std::string>& words) {
  RowOf of = RowOf::Name;
  for (const std::string& word : words) {
    if (word == "launch") {
      of = RowOf::Launch;
    } else if (word == "op") {
      of = of == RowOf::Launch ? of : RowOf::NameAndOp;
    } else if (word != "name") {
      throw std::runtime_error(fmt::format("--group-by '{}': counters are grouped by name, op or launch", word));
    }
  }
  return of;
}

struct Measured {
  const char* what = "";
  uint32_t process = 0, device = kNone;  // DeviceId; kNone: not known
  uint32_t set = 0;
  std::string name;
  std::vector<StringId> path;  // names of the ranges around it, the outermost first
  uint32_t paths = 1;          // different ones
  uint64_t count = 0, timed = 0;
  double time_ns = 0;
  std::vector<double> sums;       // by metric of the set
  std::vector<uint64_t> numbers;  // how many of these were numbers
  PeakSums peaks;
  double counted_flops = 0, nominal_flops = 0;  // of launches with both
  bool vector_only = false, tensor_only = false;
};

class Collector {
 public:
  Collector(const AnalysisInput& input, const PeaksOfDevices& peaks)
      : input_(input),
        trace_(input.trace),
        peaks_(peaks),
        row_of_(row_of(input.options.group_by)),
        meanings_(counter_meanings(input.trace)),
        costs_(input.trace, input.views, data_type(input.options.dtype)) {}

  std::vector<Measured> run() {
    launches();
    ranges();
    std::stable_sort(rows_.begin(), rows_.end(), [](const Measured& a, const Measured& b) {
      return std::tuple(a.what == kRange, -a.time_ns) < std::tuple(b.what == kRange, -b.time_ns);
    });
    return std::move(rows_);
  }
  const CounterMeaning& meaning(uint32_t set) const { return meanings_[set]; }

 private:
  static constexpr const char *kKernel = "kernel", *kGraph = "graph", *kRange = "range";

  void launches() {
    const Column<CounterRow>& counted = trace_.counters.launches;
    std::vector<uint32_t> operation_of(counted.size(), kNone);
    for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
      if (const CounterRow* const of = trace_.counters.of_operation(trace_, row))
        operation_of[static_cast<size_t>(of - counted.data())] = row;
    }
    for (size_t i = 0; i < counted.size(); ++i) launch(counted[i], operation_of[i]);
  }

  void launch(const CounterRow& row, uint32_t operation) {
    const HostEvent& event = trace_.host[row.of];
    const Thread& thread = trace_.thread(event.thread);
    const Selection& selection = input_.selection;
    uint32_t stream = trace_.host_streams[index(event.stream)].stream;
    if (operation != kNone) stream = trace_.operations[operation].stream_index;
    const bool here = stream != kNone ? selection.has_stream(trace_, trace_.streams[stream])
                                      : selection.devices.empty() && selection.streams.empty();
    const bool of_ranges =
        operation != kNone ? selection.nvtx.has_operation(operation) : selection.nvtx.has_call(row.of);
    if (!here || !of_ranges || !selection.has_thread(thread) || !selection.in_window(event.begin_ns, event.end_ns))
      return;
    const bool graph = event.kind() == HostKind::GraphLaunch;
    const std::string_view name =
        operation != kNone ? operation_name(input_.views.names(), trace_.operations[operation], input_.options.names)
        : graph            ? std::string_view("[CUDA graph]")
                : input_.views.names().name(KernelId{static_cast<uint32_t>(event.subject)}, input_.options.names);
    const std::vector<StringId> path = names_of(input_.views.path_of_call()[row.of]);
    Measured& to = measured(graph ? kGraph : kKernel, row, index(thread.process), name, path);
    add(row, to, operation);
  }

  void ranges() {
    for (const CounterRow& row : trace_.counters.ranges) {
      const Range& range = trace_.ranges[row.of];
      const Thread& thread = trace_.thread(range.thread);
      if (!input_.selection.nvtx.has_range(row.of) || !input_.selection.has_thread(thread) ||
          !input_.selection.in_window(range.begin_ns, range.end_ns))
        continue;
      std::vector<StringId> path = names_of(range.path);
      if (!path.empty()) path.pop_back();
      add(row, measured(kRange, row, index(thread.process), trace_.range_name(range), path), kNone);
    }
  }

  std::vector<StringId> names_of(PathId id) const {
    std::vector<StringId> names;
    for (; index(id) != 0; id = trace_.paths[index(id)].parent)
      names.push_back(input_.views.event_names().of(trace_.paths[index(id)].label));
    std::reverse(names.begin(), names.end());
    return names;
  }

  Measured& measured(const char* what, const CounterRow& row, uint32_t process, std::string_view name,
                     const std::vector<StringId>& path) {
    const bool with_path = row_of_ == RowOf::NameAndOp;
    const uint32_t one = row_of_ == RowOf::Launch ? static_cast<uint32_t>(rows_.size()) : 0;
    const auto [found, added] = known_.try_emplace(
        std::tuple(std::string_view(what), std::string(name), row.set, with_path ? path : std::vector<StringId>(), one),
        rows_.size());
    if (!added) {
      Measured& known = rows_[found->second];
      if (known.path != path) ++known.paths;
      return known;
    }
    Measured& fresh = rows_.emplace_back();
    fresh.what = what, fresh.process = process, fresh.set = row.set, fresh.name = name, fresh.path = path;
    const CounterSet& set = trace_.counters.sets[row.set];
    fresh.sums.resize(set.metrics.size()), fresh.numbers.resize(set.metrics.size());
    for (uint32_t d = 0; d < trace_.devices.size(); ++d) {
      const Device& device = trace_.devices[d];
      if (index(device.process) == set.process && device.ordinal == set.device) fresh.device = d;
    }
    return fresh;
  }

  void add(const CounterRow& row, Measured& to, uint32_t operation) {
    const std::span<const double> values = trace_.counters.values_of(row);
    ++to.count;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!(std::abs(values[i]) <= kMostCounted)) continue;  // nor a NaN
      to.sums[i] += values[i];
      ++to.numbers[i];
    }
    const CounterNumbers numbers = meanings_[row.set].of(values);
    if (numbers.time_ns) to.time_ns += *numbers.time_ns, ++to.timed;
    KernelCost cost;
    if (operation != kNone) cost = costs_.of(operation);
    constexpr double kMost = 9e18;
    if (!cost.flops && numbers.flops && *numbers.flops < kMost) {  // a part of what the kernel did
      cost.flops = static_cast<uint64_t>(std::llround(*numbers.flops));
      cost.type = numbers.type, cost.peak = numbers.peak, cost.flops_source = CostSource::Counters;
    }
    const bool counted = cost.flops_source == CostSource::Counters;
    to.vector_only = to.vector_only || (counted && numbers.vector_only);
    to.tensor_only = to.tensor_only || (counted && numbers.tensor_only);
    if (!cost.bytes && numbers.bytes && *numbers.bytes < kMost)
      cost.bytes = static_cast<uint64_t>(std::llround(*numbers.bytes)), cost.bytes_source = CostSource::Counters;
    static const DevicePeaks kNoPeaks;
    const bool known = to.device != kNone;
    const double ns = numbers.time_ns.value_or(0);
    to.peaks.add(cost, std::llround(ns), known ? peaks_.of_device[to.device] : kNoPeaks);
    if (!counted || !cost.nominal_flops || *cost.nominal_flops == 0) return;
    to.counted_flops += static_cast<double>(*cost.flops);
    to.nominal_flops += static_cast<double>(*cost.nominal_flops);
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  const PeaksOfDevices& peaks_;
  const RowOf row_of_;
  const std::vector<CounterMeaning> meanings_;
  const KernelCosts costs_;
  std::vector<Measured> rows_;
  std::map<std::tuple<std::string_view, std::string, uint32_t, std::vector<StringId>, uint32_t>, size_t> known_;
};

// Why cells are empty, or less than they seem.
std::string note_of(const Measured& row, const CounterMeaning& meaning) {
  std::string note;
  const auto add = [&](std::string_view text) { note.append(note.empty() ? "" : "; ").append(text); };
  if (row.timed == 0) add("no time in the set");
  if (row.peaks.with_flops == 0)
    add(meaning.has_flops() ? "FLOPs: values are no numbers" : "FLOPs: no metrics of operations in the set");
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

// Metrics of the rows, each once, in the order of their sets.
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

void add_columns(Table& table, const Trace& trace, const std::vector<StringId>& metrics) {
  table.add_column("Pid", "pid", CellType::Count);
  table.add_column("Device", "device", CellType::Count);
  table.add_column("What", "what", CellType::Text);
  table.add_column("Count", "count", CellType::Count);
  table.add_column("Time", "time", CellType::MeanNanoseconds);
  table.add_column("Mean", "mean", CellType::MeanNanoseconds);
  table.add_column("GFLOP", "gflop", CellType::Real, 3);
  table.add_column("TFLOP/s", "tflops", CellType::Real, 2);
  table.add_column("Of FLOPS (%)", "flops_percent", CellType::Real, 2);
  table.add_column("GB", "gb", CellType::Real, 6);
  table.add_column("GB/s", "gb_per_s", CellType::Real, 1);
  table.add_column("Of bandwidth (%)", "bandwidth_percent", CellType::Real, 2);
  table.add_column("FLOP/byte", "intensity", CellType::Real, 2);
  table.add_column("Bound", "bound", CellType::Text);
  table.add_column("Type", "type", CellType::Text);
  table.add_column("From", "from", CellType::Text);
  table.add_column("Counted/nominal (%)", "counted_of_nominal_percent", CellType::Real, 2);
  for (const StringId metric : metrics)
    table.add_column(fmt::format("{} (mean)", trace.text(metric)), std::string(trace.text(metric)), CellType::Real, 1);
  table.add_column("Top op", "top_op", CellType::Text);
  table.add_column("Bottom op", "bottom_op", CellType::Text);
  table.add_column("Op stack", "op_stack", CellType::Text);
  table.add_column("Note", "note", CellType::Text);
  table.add_column("Name", "name", CellType::Text);
}

void add_row(const AnalysisInput& input, const Measured& each, const std::vector<StringId>& metrics,
             const std::string& note, Table& table) {
  const Trace& trace = input.trace;
  const PeakSums& sums = each.peaks;
  const CounterSet& set = trace.counters.sets[each.set];
  Table::Row row = table.row();
  const auto real = [&](std::optional<double> value) { value ? row.add(*value) : row.empty(); };
  const auto text = [&](std::string_view value) { value.empty() ? row.empty() : row.add(value); };
  row.add(trace.processes[each.process].pid);
  set.device == kNone ? row.empty() : row.add(set.device);
  row.add(std::string_view(each.what)).add(each.count);
  real(each.timed == 0 ? std::nullopt : std::optional(each.time_ns));
  real(each.timed == 0 ? std::nullopt : std::optional(each.time_ns / static_cast<double>(each.timed)));
  real(sums.with_flops == 0 ? std::nullopt : std::optional(sums.flops / 1e9));
  real(sums.tera_flops()), real(sums.flops_percent());
  real(sums.with_bytes == 0 ? std::nullopt : std::optional(sums.bytes / 1e9));
  real(sums.giga_bytes()), real(sums.bytes_percent()), real(sums.intensity());
  text(roof_bound_name(roof_bound(sums))), text(sums.type_text()), text(sums.source_text());
  real(each.nominal_flops <= 0 ? std::nullopt : std::optional(100 * each.counted_flops / each.nominal_flops));
  for (const StringId metric : metrics) {
    const auto at = std::find(set.metrics.begin(), set.metrics.end(), metric) - set.metrics.begin();
    const auto i = static_cast<size_t>(at);
    const bool there = i < set.metrics.size() && each.numbers[i] != 0;
    real(there ? std::optional(each.sums[i] / static_cast<double>(each.numbers[i])) : std::nullopt);
  }
  const EventNames& names = input.views.event_names();
  if (each.path.empty() || each.paths > 1) {
    row.empty().empty();
    text(each.paths > 1 ? "several: --group-by op" : "");
  } else {
    std::string stack;
    for (const StringId name : each.path) stack.append(stack.empty() ? "" : "/").append(names.text(name));
    text(names.text(each.path.front())), text(names.text(each.path.back())), text(stack);
  }
  text(note), text(each.name);
}

}  // namespace

Table report_counters(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const PeaksOfDevices peaks = peaks_of_devices(input);
  Collector collector(input, peaks);
  const std::vector<Measured> rows = collector.run();
  const std::vector<StringId> metrics = metrics_of(trace, rows);
  Table table("counters", "Hardware counters of kernels, graphs and NVTX ranges");
  add_columns(table, trace, metrics);
  uint64_t differ = 0;
  std::vector<bool> used(trace.counters.sets.size());
  for (const Measured& each : rows) {
    add_row(input, each, metrics, note_of(each, collector.meaning(each.set)), table);
    used[each.set] = true;
    if (each.nominal_flops > 0 && std::abs(each.counted_flops / each.nominal_flops - 1) > 0.02) ++differ;
  }
  for (size_t s = 0; s < used.size(); ++s) {
    const CounterSet& set = trace.counters.sets[s];
    if (!used[s]) continue;
    std::string note =
        fmt::format("{}: {} metrics, {} pass{}{}", trace.text(set.chip), set.metrics.size(), set.passes,
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
  table.notes.push_back("columns of metrics: mean of a launch or range; rates: sums over sums of time");
  if (differ != 0)
    table.notes.push_back(fmt::format(
        "rows whose counted FLOPs differ from those of the operators' shapes by more than 2 %: {}", differ));
  return table;
}

}  // namespace prof::analyzer
