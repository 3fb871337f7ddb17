#include "analyzer/analysis/cost/counter_rows.h"

#include "analyzer/analysis/cost/counter_numbers.h"
#include "analyzer/analysis/cost/kernel_costs.h"
#include "analyzer/analysis/range_row_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

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

class CounterCollector {
 public:
  CounterCollector(const AnalysisInput& input, const PeaksOfDevices& peaks)
      : input_(input),
        trace_(input.trace),
        peaks_(peaks),
        row_of_(row_of(input.options.group_by)),
        names_(range_row_names(input)),
        meanings_(counter_meanings(input.trace)),
        costs_(input.trace, input.views, data_type(input.options.dtype)) {}

  std::vector<Measured> run() {
    launches();
    ranges();
    unplaced();
    std::stable_sort(rows_.begin(), rows_.end(), [](const Measured& a, const Measured& b) {
      return std::tuple(a.what == kRange, -a.time_ns) < std::tuple(b.what == kRange, -b.time_ns);
    });
    return std::move(rows_);
  }

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
      add(row, measured(kRange, row, index(thread.process), names_.text(names_.of(range)), path), kNone);
    }
  }

  // Work without a launch has no time, thread, stream or enclosing range. A selection by one of these excludes it.
  void unplaced() {
    const Selection& selection = input_.selection;
    Selection by_place = selection;
    by_place.devices.clear();
    by_place.processes.clear();
    if (!by_place.all()) return;
    for (const CounterRow& row : trace_.counters.of_unplaced) {
      const CounterSet& set = trace_.counters.sets[row.set];
      const bool device = selection.devices.empty() || std::find(selection.devices.begin(), selection.devices.end(),
                                                                 set.device) != selection.devices.end();
      const bool process =
          set.process == kNone ? selection.processes.empty() : selection.has_process(ProcessId{set.process});
      if (!device || !process) continue;
      const UnplacedWork& work = trace_.counters.unplaced[row.of];
      Measured& to = measured(work.kernel ? kKernel : kRange, row, set.process, unplaced_name(work), {}, work.why);
      to.why = work.why;
      add(row, to, kNone);
    }
  }

  // The full name if several kernels have the same short name.
  std::string unplaced_name(const UnplacedWork& work) {
    const std::string_view name = trace_.text(work.name);
    if (!work.kernel || input_.options.names != NameForm::Short) return std::string(name);
    if (first_of_short_.empty()) {
      for (const UnplacedWork& each : trace_.counters.unplaced) {
        const std::string in_short = short_function_name(trace_.text(each.name));
        StringId& first = first_of_short_.try_emplace(in_short, each.name).first->second;
        if (first != each.name) first = StringId{};
      }
    }
    std::string in_short = short_function_name(name);
    return first_of_short_[in_short] == work.name ? in_short : std::string(name);
  }

  std::vector<StringId> names_of(PathId id) const {
    std::vector<StringId> names;
    for (; index(id) != 0; id = trace_.paths[index(id)].parent)
      names.push_back(names_.of(trace_.paths[index(id)].label));
    std::reverse(names.begin(), names.end());
    return names;
  }

  Measured& measured(const char* what, const CounterRow& row, uint32_t process, std::string_view name,
                     const std::vector<StringId>& path, StringId why = {}) {
    const bool with_path = row_of_ == RowOf::NameAndOp;
    const uint32_t one = row_of_ == RowOf::Launch ? static_cast<uint32_t>(rows_.size()) : 0;
    const auto [found, added] =
        known_.try_emplace(std::tuple(std::string_view(what), std::string(name), row.set,
                                      with_path ? path : std::vector<StringId>(), one, static_cast<uint32_t>(why)),
                           rows_.size());
    if (!added) {
      Measured& known = rows_[found->second];
      if (known.path != path) ++known.paths;
      return known;
    }
    Measured& fresh = rows_.emplace_back();
    fresh.what = what;
    fresh.process = process;
    fresh.set = row.set;
    fresh.name = name;
    fresh.path = path;
    const CounterSet& set = trace_.counters.sets[row.set];
    fresh.sums.resize(set.metrics.size());
    fresh.numbers.resize(set.metrics.size());
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
      if (!(std::abs(values[i]) <= kMostCounted)) continue;  // also skips NaN
      to.sums[i] += values[i];
      ++to.numbers[i];
    }
    const CounterNumbers numbers = meanings_[row.set].of(values);
    if (numbers.time_ns) {
      to.time_ns += *numbers.time_ns;
      ++to.timed;
    }
    KernelCost cost;
    if (operation != kNone) cost = costs_.of(operation);
    constexpr double kMost = 9e18;
    if (!cost.flops && numbers.flops && *numbers.flops < kMost) {  // may be only a part of the kernel's FLOPs
      cost.flops = static_cast<uint64_t>(std::llround(*numbers.flops));
      cost.type = numbers.type;
      cost.peak = numbers.peak;
      cost.flops_source = CostSource::Counters;
    }
    const bool counted = cost.flops_source == CostSource::Counters;
    to.vector_only = to.vector_only || (counted && numbers.vector_only);
    to.tensor_unknown = to.tensor_unknown || numbers.tensor_unknown;
    to.tensor_only = to.tensor_only || (counted && numbers.tensor_only);
    if (!cost.bytes && numbers.bytes && *numbers.bytes < kMost) {
      cost.bytes = static_cast<uint64_t>(std::llround(*numbers.bytes));
      cost.bytes_source = CostSource::Counters;
    }
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
  const EventNames& names_;
  const std::vector<CounterMeaning> meanings_;
  const KernelCosts costs_;
  std::vector<Measured> rows_;
  std::map<std::string, StringId> first_of_short_;  // full name by short name; empty: several
  std::map<std::tuple<std::string_view, std::string, uint32_t, std::vector<StringId>, uint32_t, uint32_t>, size_t>
      known_;
};

}  // namespace

std::vector<Measured> measured_rows(const AnalysisInput& input, const PeaksOfDevices& peaks) {
  return CounterCollector(input, peaks).run();
}

}  // namespace prof::analyzer
