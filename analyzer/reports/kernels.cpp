// kernels: which kernels, copies and memsets took the time, how often, and how much did their durations vary?
#include "analyzer/reports/kernels.h"

#include "analyzer/analysis/cost/kernel_peaks.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// Assigns numbers to the keys of groups: one number for the name with its shape, one for the place.
class GroupIds {
 public:
  GroupIds(const AnalysisInput& input, const KernelGrouping& grouping)
      : input_(input), grouping_(grouping), stacks_(input.views, grouping.stack) {
    number_kernels();
    if (grouping.operation) label_ranges();
  }

  uint32_t of(const GpuOperation& operation) {
    const uint64_t key = uint64_t{what(operation)} << 32 | where(operation);
    if (key == last_key_) return last_;
    last_key_ = key;
    return last_ = groups_.try_emplace(key, static_cast<uint32_t>(groups_.size())).first->second;
  }
  uint32_t operator_label(const GpuOperation& operation) {
    if (!grouping_.operation || !operation.linked()) return 0;
    const uint32_t range = input_.views.range_of_call()[operation.launch];
    return range == kNone ? 0 : operator_of_range_[range];
  }
  std::string_view stack_text(const GpuOperation& operation) { return stacks_.text(stacks_.of_operation(operation)); }
  size_t size() const { return groups_.size(); }

 private:
  // Kernels with the same name have one number, whatever their shape, unless grouping by shape is requested.
  void number_kernels() {
    using Shape = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;
    const auto hash = [](const Shape& s) {
      uint64_t mixed = 0;
      std::apply([&](auto... part) { ((mixed = (mixed ^ part) * 0x9e3779b97f4a7c15u, mixed ^= mixed >> 29), ...); }, s);
      return static_cast<size_t>(mixed);
    };
    std::unordered_map<Shape, uint32_t, decltype(hash)> numbers(16, hash);
    for (const Kernel& kernel : input_.trace.kernels) {
      Shape shape{index(kernel.name), 0, 0, 0, 0, 0, 0};
      if (grouping_.shape) {
        shape = {index(kernel.name), kernel.grid[0],  kernel.grid[1], kernel.grid[2],
                 kernel.block[0],    kernel.block[1], kernel.block[2]};
      }
      of_kernel_.push_back(numbers.try_emplace(shape, static_cast<uint32_t>(numbers.size())).first->second);
    }
  }
  void label_ranges() {
    const Trace& trace = input_.trace;
    operator_of_range_.resize(trace.ranges.size());
    for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
      const Range& range = trace.ranges[row];
      if (range.kind == RangeKind::Operator) {
        operator_of_range_[row] = index(range.label);
      } else if (range.parent != kNone) {
        operator_of_range_[row] = operator_of_range_[range.parent];
      }
    }
  }
  uint32_t what(const GpuOperation& operation) const {
    constexpr uint32_t kKindShift = 30;
    const auto kind = static_cast<uint32_t>(operation.kind()) << kKindShift;
    if (operation.has_kernel()) return kind | of_kernel_[index(input_.views.names().named_by(operation))];
    return kind | (operation.detail & 0xffffff);
  }
  uint32_t where(const GpuOperation& operation) {
    uint32_t place = 0;
    if (grouping_.stream) {
      place = operation.stream_index;
    } else if (grouping_.device) {
      place = index(input_.trace.stream(operation.stream()).device);
    }
    if (grouping_.operation) place = joined(places_, operator_label(operation), place);
    if (grouping_.stack != 0) place = joined(stacked_places_, stacks_.of_operation(operation), place);
    return place;
  }
  // Combines two numbers into one.
  static uint32_t joined(std::unordered_map<uint64_t, uint32_t>& known, uint32_t a, uint32_t b) {
    return known.try_emplace(uint64_t{a} << 32 | b, static_cast<uint32_t>(known.size())).first->second;
  }

  const AnalysisInput& input_;
  const KernelGrouping& grouping_;
  std::vector<uint32_t> of_kernel_;          // KernelId -> number
  std::vector<uint32_t> operator_of_range_;  // row of Trace::ranges -> LabelId
  std::unordered_map<uint64_t, uint32_t> places_, stacked_places_, groups_;
  StackGroups stacks_;
  uint64_t last_key_ = std::numeric_limits<uint64_t>::max();
  uint32_t last_ = 0;
};

void join_details(const Trace& trace, const GpuOperation& operation, KernelGroup& group) {
  if (!operation.has_kernel()) {
    group.bytes += operation.bytes;
    return;
  }
  const Kernel& kernel = trace.kernels[operation.detail];
  group.registers = std::max(group.registers, kernel.registers);
  group.static_shared_bytes = std::max(group.static_shared_bytes, kernel.static_shared_bytes);
  group.dynamic_shared_bytes = std::max(group.dynamic_shared_bytes, kernel.dynamic_shared_bytes);
}

}  // namespace

std::vector<KernelGroup> kernel_groups(const AnalysisInput& input, const std::vector<Window>& windows,
                                       const KernelGrouping& grouping, Estimates* estimates) {
  const Trace& trace = input.trace;
  const IntervalSet wanted = union_of(windows);
  const bool everything = input.options.window == "gpu" && input.selection.all();

  GroupIds ids(input, grouping);
  std::vector<KernelGroup> groups;
  std::vector<uint32_t> group_of;  // of the counted operations, in order
  std::vector<int64_t> durations;
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t row, const GpuOperation& operation) {
        if (!everything && wanted.overlap_ns(operation.start_ns, operation.end_ns) == 0 &&
            !wanted.contains(operation.start_ns))
          return;
        const uint32_t id = ids.of(operation);
        if (id == groups.size()) {
          KernelGroup& group = groups.emplace_back();
          group.number = id;
          group.kind = operation.kind();
          group.example = row;
          group.stream = operation.stream_index;
          group.operator_label = ids.operator_label(operation);
          group.stack = ids.stack_text(operation);
        }
        ++groups[id].durations.count;
        join_details(trace, operation, groups[id]);
        if (estimates != nullptr) estimates->add(operation, id);
        group_of.push_back(id);
        durations.push_back(std::max<int64_t>(operation.duration_ns(), 0));
      });

  // Stores the durations of each group in one contiguous stretch.
  std::vector<size_t> end_of(groups.size());
  size_t end = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    end_of[g] = end;
    end += groups[g].durations.count;
  }
  std::vector<int64_t> by_group(durations.size());
  for (size_t i = 0; i < durations.size(); ++i) by_group[end_of[group_of[i]]++] = durations[i];
  parallel_for(groups.size(), [&](size_t g) {
    const size_t count = groups[g].durations.count;
    groups[g].durations = statistics_of(std::span(by_group).subspan(end_of[g] - count, count));
  });
  std::stable_sort(groups.begin(), groups.end(), [](const KernelGroup& a, const KernelGroup& b) {
    return std::tuple(a.durations.total, a.durations.count) > std::tuple(b.durations.total, b.durations.count);
  });
  return groups;
}

namespace {

KernelGrouping parse_grouping(const std::vector<std::string>& words) {
  KernelGrouping grouping;
  for (const std::string& word : words) {
    if (word == "shape") {
      grouping.shape = true;
    } else if (word == "stream") {
      grouping.stream = grouping.device = true;
    } else if (word == "op") {
      grouping.operation = true;
    } else if (!StackGroups::parse(word, grouping.stack) && word != "name") {
      throw std::runtime_error(
          fmt::format("--group-by '{}': kernels are grouped by name, shape, stream, op or stack:N", word));
    }
  }
  return grouping;
}

void add_columns(Table& table, const KernelGrouping& grouping, const Estimates& estimates) {
  if (grouping.device) table.add_column(ColumnId::pid);
  if (grouping.device) table.add_column(ColumnId::device);
  if (grouping.stream) table.add_column(ColumnId::context);
  if (grouping.stream) table.add_column(ColumnId::stream);
  if (grouping.operation) table.add_column(ColumnId::operator_);
  if (grouping.stack != 0) table.add_column(ColumnId::stack);
  table.add_columns({ColumnId::type, ColumnId::count, ColumnId::total, ColumnId::busy_percent, ColumnId::window_percent,
                     ColumnId::mean, ColumnId::min, ColumnId::q1, ColumnId::median, ColumnId::q3, ColumnId::max,
                     ColumnId::stddev});
  if (grouping.shape) table.add_column(ColumnId::grid);
  if (grouping.shape) table.add_column(ColumnId::block);
  table.add_columns(
      {ColumnId::registers, ColumnId::static_shared_bytes, ColumnId::dynamic_shared_bytes, ColumnId::bytes});
  estimates.add_columns(table);
  table.add_column(ColumnId::name);
}

std::string shape_text(const uint32_t (&shape)[3]) { return fmt::format("{}x{}x{}", shape[0], shape[1], shape[2]); }

void add_row(const AnalysisInput& input, const KernelGrouping& grouping, const KernelGroup& group, double busy_ns,
             double window_ns, const Estimates& estimates, Table& table) {
  const Trace& trace = input.trace;
  const Stream& stream = trace.streams[group.stream];
  const GpuOperation& example = trace.operations[group.example];
  const bool is_graph = group.kind == GpuKind::Graph, is_kernel = group.kind == GpuKind::Kernel || is_graph;
  const Statistics& all = group.durations;
  Table::Row row = table.row();
  const auto share = [&](double whole_ns) { row.add_percent(all.total, whole_ns); };
  if (grouping.device) {
    const Device& device = trace.device(stream.device);
    row.add_owner(device.process).add(device.ordinal);
  }
  if (grouping.stream) row.add(stream.context).add(stream.number);
  if (grouping.operation) {
    if (group.operator_label == 0) {
      row.empty();
    } else {
      row.add(trace.text(trace.labels[group.operator_label].text));
    }
  }
  if (grouping.stack != 0) {
    row.add_text(group.stack);
  }
  row.add(std::string_view(is_graph                      ? "graph"
                           : is_kernel                   ? "kernel"
                           : group.kind == GpuKind::Copy ? "memcpy"
                                                         : "memset"));
  row.add(all.count).add(all.total);
  share(busy_ns);
  share(window_ns);
  row.add(static_cast<double>(whole_ns(all.mean)))
      .add(all.min)
      .add(whole_ns(all.q1))
      .add(whole_ns(all.median))
      .add(whole_ns(all.q3));
  row.add(all.max).add(static_cast<double>(whole_ns(all.stddev)));
  const Kernel& kernel = trace.kernels[is_kernel ? example.detail : 0];
  if (grouping.shape) {
    if (is_kernel) {
      row.add(std::string_view(shape_text(kernel.grid))).add(std::string_view(shape_text(kernel.block)));
    } else {
      row.empty().empty();
    }
  }
  if (is_kernel) {
    row.add(group.registers).add(group.static_shared_bytes).add(group.dynamic_shared_bytes).empty();
  } else {
    row.empty().empty().empty().add(group.bytes);
  }
  estimates.add_cells(row, group.number);
  if (is_kernel) {
    row.add(operation_name(input.views.names(), example, input.options.names));
  } else if (group.kind == GpuKind::Copy) {
    row.add(std::string_view(fmt::format("{} {} -> {}", operation_name(input.views.names(), example, NameForm::Full),
                                         memory_kind_name(example.source_memory()),
                                         memory_kind_name(example.destination_memory()))));
  } else {
    row.add(std::string_view(fmt::format("[CUDA memset] {}", memory_kind_name(example.memory_kind()))));
  }
}

}  // namespace

DeviceTime device_time(const AnalysisInput& input, const std::vector<Window>& windows) {
  DeviceTime time;
  for (const Window& window : windows) grow(time.window_ns, window.length_ns());
  const std::vector<bool> selected = selected_devices(input);
  for (size_t device = 0; device < selected.size(); ++device) {
    const IntervalSet& busy = input.views.busy()[device];
    if (!selected[device] || busy.empty()) continue;
    ++time.devices;
    for (const Window& window : windows) grow(time.busy_ns, busy.overlap_ns(window.begin_ns, window.end_ns));
  }
  return time;
}

Table report_kernels(const AnalysisInput& input) {
  if (input.options.peaks) return kernel_peaks(input);
  const KernelGrouping grouping = parse_grouping(input.options.group_by);
  const std::vector<Window> windows = report_windows(input);
  Estimates estimates(input, RowsAre::ByWork);
  const std::vector<KernelGroup> groups = kernel_groups(input, windows, grouping, &estimates);
  const DeviceTime time = device_time(input, windows);
  const auto busy_ns = static_cast<double>(time.busy_ns);
  const double window_ns = static_cast<double>(time.window_ns) * static_cast<double>(time.devices);

  Table table("kernels", "Kernels, copies and memsets by name");
  add_columns(table, grouping, estimates);
  for (const Window& window : windows) {
    if (windows.size() <= 20) table.notes.push_back(window_note(window));
  }
  table.notes.push_back(fmt::format("total: sum of durations; busy: {} in which a device ran anything; devices: {}",
                                    scaled_time(time.busy_ns), time.devices));
  for (const KernelGroup& group : groups) add_row(input, grouping, group, busy_ns, window_ns, estimates, table);
  estimates.add_notes(table);
  return table;
}

}  // namespace prof::analyzer
