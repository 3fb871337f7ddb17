// roofline: what are the arithmetic intensity, attained rate and attainable rate of each row, what bounds it, and how
// much time is lost above that bound?
#include "analyzer/reports/roofline.h"

#include "analyzer/analysis/cost/kernel_costs.h"
#include "analyzer/analysis/range_row_names.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

enum class RoofGroup : uint8_t { Kernel, Op, Shape, Range };

RoofGroup roof_group(const std::vector<std::string>& words) {
  if (words.empty()) return RoofGroup::Kernel;
  constexpr std::pair<std::string_view, RoofGroup> kGroupWords[] = {
      {"kernel", RoofGroup::Kernel}, {"op", RoofGroup::Op}, {"shape", RoofGroup::Shape}, {"range", RoofGroup::Range}};
  for (const auto& [word, group] : kGroupWords) {
    if (words.size() == 1 && words.front() == word) return group;
  }
  throw std::runtime_error("--group-by: the rows of roofline are one of kernel, op, shape or range");
}

// The name of the row to which an operation belongs.
class RoofNames {
 public:
  RoofNames(const AnalysisInput& input, const KernelCosts& costs, RoofGroup group)
      : input_(input), costs_(costs), group_(group) {}

  std::string of(uint32_t row, const GpuOperation& operation) const {
    const Trace& trace = input_.trace;
    std::string kernel(operation_name(input_.views.names(), operation, input_.options.names));
    if (group_ == RoofGroup::Kernel) return kernel;
    const uint32_t op = costs_.of(row).op;
    if (op == kNone) return "(no operator) " + kernel;
    const Range& range = trace.ranges[op];
    std::string name(input_.views.event_names().text(input_.views.event_names().of(range)));
    if (group_ == RoofGroup::Shape && trace.detail(range) != nullptr)
      name += fmt::format(" {}", trace.text(trace.detail(range)->dims));
    return name;
  }

 private:
  const AnalysisInput& input_;
  const KernelCosts& costs_;
  RoofGroup group_;
};

// One row for each name of a kernel, operator or range of a device, in order of first appearance.
class RoofRows {
 public:
  explicit RoofRows(std::vector<RoofPoint>& points) : points_(points) {}

  uint32_t of(uint32_t device, std::string name) {
    const auto [found, added] =
        row_of_.try_emplace(fmt::format("{} {}", device, name), static_cast<uint32_t>(points_.size()));
    if (added) {
      RoofPoint& point = points_.emplace_back();
      point.name = std::move(name);
      point.device = device;
      point.number = found->second;
    }
    return found->second;
  }
  // The same for a name that is known by a number. The name is created once.
  template <class Name> uint32_t of(uint32_t device, uint32_t number, Name name) {
    const auto [found, added] = row_of_number_.try_emplace(uint64_t{device} << 32 | number, 0);
    if (added) found->second = of(device, name());
    return found->second;
  }

 private:
  std::vector<RoofPoint>& points_;
  std::unordered_map<std::string, uint32_t> row_of_;
  std::unordered_map<uint64_t, uint32_t> row_of_number_;
};

// By LabelId: whether it is the label of an NVTX range or annotation. Operators and Python functions have no rows.
std::vector<bool> labels_of_ranges(const Trace& trace) {
  std::vector<bool> labels(trace.labels.size());
  for (const Range& range : trace.ranges) {
    if (range.kind == RangeKind::Nvtx || range.kind == RangeKind::Annotation) labels[index(range.label)] = true;
  }
  return labels;
}

// Finds the rows of all ranges around the launch, each once, even if several ranges have the same name.
void add_range_rows(const AnalysisInput& input, const std::vector<bool>& is_range, const GpuOperation& operation,
                    uint32_t device, RoofRows& rows, std::vector<uint32_t>& found) {
  const Trace& trace = input.trace;
  const EventNames& names = range_row_names(input);
  PathId at = operation.linked() ? input.views.path_of_call()[operation.launch] : PathId{};
  for (; index(at) != 0; at = trace.paths[index(at)].parent) {
    const LabelId label = trace.paths[index(at)].label;
    if (!is_range[index(label)]) continue;
    const uint32_t row = rows.of(device, index(label), [&] { return std::string(names.text(names.of(label))); });
    if (std::find(found.begin(), found.end(), row) == found.end()) found.push_back(row);
  }
  if (found.empty()) found.push_back(rows.of(device, kNone, [] { return std::string("(no range)"); }));
}

std::optional<int64_t> lost_ns_of(const PeakSums& sums) {
  if (sums.ideal_ns <= 0 || sums.with_ideal_ns <= 0) return std::nullopt;
  return std::max<int64_t>(0, sums.with_ideal_ns - std::llround(sums.ideal_ns));
}

// For operators and ranges: the union of their operations, and the union of those that have an ideal time or help
// operations that have one.
class UnionTimes {
 public:
  void add(size_t at, const GpuOperation& operation, bool has_ideal) {
    if (all_.size() <= at) {
      all_.resize(at + 1);
      with_ideal_.resize(at + 1);
    }
    all_[at].add(operation.start_ns, operation.end_ns);
    if (has_ideal) with_ideal_[at].add(operation.start_ns, operation.end_ns);
  }
  void give(size_t at, PeakSums& sums) {
    if (at < all_.size()) sums.over(all_[at].take().length_ns(), with_ideal_[at].take().length_ns());
  }

 private:
  std::vector<IntervalCollector> all_, with_ideal_;
};

void judge(RoofPoint& point, const DevicePeaks& device) {
  const PeakSums& sums = point.sums;
  point.lost_ns = lost_ns_of(sums);
  if (point.lost_ns) {
    point.bound = roof_bound(sums);
    const bool far = sums.ideal_ns * 10 < static_cast<double>(sums.with_ideal_ns);
    if (far && point.bound != RoofBound::Launch) point.note = "takes more than 10 times its ideal";
  }
  if (const std::string more = sums.note(); !more.empty()) point.note += (point.note.empty() ? "" : ", ") + more;
  // The roof: FLOPs divided by their time at peak rates, or intensity times bandwidth, whichever is lower.
  if (sums.with_flops == 0 || sums.flops_at_peak_ns <= 0) return;
  double roof = sums.flops_with_peak / sums.flops_at_peak_ns * 1e-3;
  if (const std::optional<double> intensity = sums.intensity(); intensity && device.bandwidth_gbs > 0)
    roof = std::min(roof, *intensity * device.bandwidth_gbs * 1e-3);
  point.attainable_tera = roof;
}

}  // namespace

std::string_view roof_bound_name(RoofBound bound) {
  switch (bound) {
    case RoofBound::Unknown: return "";
    case RoofBound::Compute: return "compute";
    case RoofBound::Memory: return "memory";
    case RoofBound::Launch: break;
  }
  return "launch/latency";
}

RoofBound roof_bound(const PeakSums& sums) {
  if (sums.ideal_ns <= 0 || sums.with_ideal_ns <= 0) return RoofBound::Unknown;
  if (sums.launch_bound_ns >= sums.judged_ns - sums.launch_bound_ns) return RoofBound::Launch;
  return sums.compute_bound_ns * 2 >= sums.ideal_ns ? RoofBound::Compute : RoofBound::Memory;
}

Roofline roofline(const AnalysisInput& input, Estimates& estimates) {
  const RoofGroup group = roof_group(input.options.group_by);
  const Trace& trace = input.trace;
  const KernelCosts costs(trace, input.views, data_type(input.options.dtype));
  const RoofNames names(input, costs, group);
  const IntervalSet wanted = union_of(report_windows(input));
  Roofline answer;
  answer.peaks = peaks_of_devices(input);
  if (!costs.remedy().empty()) answer.peaks.notes.emplace_back(costs.remedy());
  UnionTimes times, outermost_times;
  const std::vector<bool> is_range = group == RoofGroup::Range ? labels_of_ranges(trace) : std::vector<bool>();
  RoofRows rows(answer.points);
  std::vector<uint32_t> found;
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t row, const GpuOperation& operation) {
        if (operation.kind() != GpuKind::Kernel) return;
        if (wanted.overlap_ns(operation.start_ns, operation.end_ns) == 0 && !wanted.contains(operation.start_ns))
          return;
        const uint32_t device = index(trace.stream(operation.stream()).device);
        found.clear();
        if (group == RoofGroup::Range) {
          add_range_rows(input, is_range, operation, device, rows, found);
        } else if (group == RoofGroup::Kernel) {
          const uint32_t kernel = index(input.views.names().named_by(operation));
          found.push_back(rows.of(device, kernel, [&] { return names.of(row, operation); }));
        } else {
          found.push_back(rows.of(device, names.of(row, operation)));
        }
        const KernelCost& cost = costs.of(row);
        const DevicePeaks& peaks = answer.peaks.of_device[device];
        const bool has_ideal =
            group != RoofGroup::Kernel &&
            (ideal_time(cost, peaks).known || (cost.main != kNone && ideal_time(costs.of(cost.main), peaks).known));
        for (const uint32_t at : found) {
          answer.points[at].sums.add(cost, operation.duration_ns(), peaks);
          if (group != RoofGroup::Kernel) times.add(at, operation, has_ideal);
          estimates.add(operation, at);
        }
        if (group != RoofGroup::Range) return;
        answer.outermost.resize(answer.points.size());
        answer.outermost[found.back()].add(cost, operation.duration_ns(), peaks);
        outermost_times.add(found.back(), operation, has_ideal);
      });
  for (size_t i = 0; i < answer.points.size(); ++i) {
    RoofPoint& point = answer.points[i];
    times.give(i, point.sums);
    judge(point, answer.peaks.of_device[point.device]);
  }
  for (size_t i = 0; i < answer.outermost.size(); ++i) outermost_times.give(i, answer.outermost[i]);
  std::stable_sort(answer.points.begin(), answer.points.end(), [](const RoofPoint& a, const RoofPoint& b) {
    return std::tuple(a.lost_ns.value_or(-1), a.sums.total_ns) > std::tuple(b.lost_ns.value_or(-1), b.sums.total_ns);
  });
  return answer;
}

Table report_roofline(const AnalysisInput& input) {
  Estimates estimates(input, RowsAre::ByWork);
  const Roofline answer = roofline(input, estimates);
  const Trace& trace = input.trace;
  Table table("roofline", "Kernels, operators or ranges below the roof of their device");
  table.add_columns({ColumnId::pid, ColumnId::device, ColumnId::kernels, ColumnId::time});
  estimates.add_columns(table);
  table.add_columns({ColumnId::intensity, ColumnId::tflops, ColumnId::attainable_tflops, ColumnId::gb_per_s,
                     ColumnId::flops_percent, ColumnId::bandwidth_percent, ColumnId::bound, ColumnId::lost,
                     ColumnId::unknown, ColumnId::data_type, ColumnId::from, ColumnId::note, ColumnId::name});
  int64_t lost_ns = 0, judged_ns = 0, total_ns = 0;
  const auto add = [&](const PeakSums& sums, std::optional<int64_t> lost) {
    total_ns = add_saturated(total_ns, sums.total_ns);
    if (lost) {
      lost_ns = add_saturated(lost_ns, *lost);
      judged_ns = add_saturated(judged_ns, sums.with_ideal_ns);
    }
  };
  for (const RoofPoint& point : answer.points) {
    const PeakSums& sums = point.sums;
    const Device& device = trace.devices[point.device];
    Table::Row row = table.row();
    const auto real = [&](std::optional<double> value) { row.add(value); };
    const auto text = [&](std::string_view value) { row.add_text(value); };
    row.add_owner(device.process).add(device.ordinal).add(sums.count).add(sums.total_ns);
    estimates.add_cells(row, point.number);
    real(sums.intensity());
    real(sums.tera_flops());
    real(point.attainable_tera);
    real(sums.giga_bytes());
    real(sums.flops_percent());
    real(sums.bytes_percent());
    text(roof_bound_name(point.bound));
    row.add(point.lost_ns);
    row.add(sums.unknown_ns());
    text(sums.type_text());
    text(sums.source_text());
    text(point.note);
    text(point.name);
    if (answer.outermost.empty()) add(sums, point.lost_ns);
  }
  for (const PeakSums& sums : answer.outermost) add(sums, lost_ns_of(sums));
  for (const Window& window : report_windows(input)) {
    if (table.notes.size() < 20) table.notes.push_back(window_note(window));
  }
  estimates.add_notes(table);
  table.notes.insert(table.notes.end(), answer.peaks.notes.begin(), answer.peaks.notes.end());
  if (!answer.outermost.empty()) note_folded_ranges(input, table.notes);
  if (!answer.outermost.empty())
    table.notes.emplace_back("a range has what ran for the ranges inside it too: rows do not add up");
  table.notes.push_back(
      fmt::format("lost {} of the {} that have an ideal time, {:.1f} % of {}; the rest is unknown",
                  scaled_time(lost_ns), scaled_time(judged_ns),
                  total_ns == 0 ? 0.0 : 100.0 * static_cast<double>(judged_ns) / static_cast<double>(total_ns),
                  scaled_time(total_ns)));
  return table;
}

}  // namespace prof::analyzer
