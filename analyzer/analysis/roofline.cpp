// roofline: arithmetic intensity, attained and attainable rate, what bounds each row, and the time lost to that bound.
#include "analyzer/analysis/roofline.h"

#include "analyzer/analysis/selected_operations.h"
#include "analyzer/analysis/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// The shortest kernels of current GPUs take one to two microseconds whatever they do: below that no rate means anything.
constexpr double kShortestKernelNs = 2000;

enum class RoofGroup : uint8_t { Kernel, Op, Shape, Range };

RoofGroup roof_group(const std::vector<std::string>& words) {
  if (words.empty()) return RoofGroup::Kernel;
  constexpr std::pair<std::string_view, RoofGroup> kWords[] = {
      {"kernel", RoofGroup::Kernel}, {"op", RoofGroup::Op}, {"shape", RoofGroup::Shape}, {"range", RoofGroup::Range}};
  for (const auto& [word, group] : kWords) {
    if (words.size() == 1 && words.front() == word) return group;
  }
  throw std::runtime_error("--group-by: the rows of roofline are one of kernel, op, shape or range");
}

// Names the row of an operation.
class RoofNames {
 public:
  RoofNames(const AnalysisInput& input, const KernelCosts& costs, RoofGroup group)
      : input_(input), costs_(costs), group_(group) {}

  std::string of(uint32_t row, const GpuOperation& operation) const {
    const Trace& trace = input_.trace;
    std::string kernel(operation_name(input_.views.names(), operation, input_.options.names));
    if (group_ == RoofGroup::Kernel) return kernel;
    if (group_ == RoofGroup::Range) {
      const uint32_t range = range_of(operation);
      return range == kNone
                 ? "(no range)"
                 : std::string(input_.views.event_names().text(input_.views.event_names().of(trace.ranges[range])));
    }
    const uint32_t op = costs_.of(row).op;
    if (op == kNone) return "(no operator) " + kernel;
    const Range& range = trace.ranges[op];
    std::string name(input_.views.event_names().text(input_.views.event_names().of(range)));
    if (group_ == RoofGroup::Shape && trace.detail(range) != nullptr)
      name += fmt::format(" {}", trace.text(trace.detail(range)->dims));
    return name;
  }

 private:
  // The innermost range that is no operator, of the thread that launched it.
  uint32_t range_of(const GpuOperation& operation) const {
    if (!operation.linked()) return kNone;
    uint32_t at = input_.views.range_of_call()[operation.launch];
    while (at != kNone && input_.trace.ranges[at].kind == RangeKind::Operator) at = input_.trace.ranges[at].parent;
    return at;
  }
  const AnalysisInput& input_;
  const KernelCosts& costs_;
  RoofGroup group_;
};

void judge(RoofPoint& point, const DevicePeaks& device) {
  const PeakSums& sums = point.sums;
  if (sums.ideal_ns > 0 && sums.with_ideal_ns > 0) {
    point.lost_ns = std::max<int64_t>(0, sums.with_ideal_ns - std::llround(sums.ideal_ns));
    point.bound = roof_bound(sums);
  }
  // The roof: FLOPs over the time they would take at their peaks, or the memory's slope.
  if (sums.with_flops == 0 || sums.flops_at_peak_ns <= 0) return;
  double roof = sums.flops / sums.flops_at_peak_ns * 1e-3;
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
  const auto launches = static_cast<double>(std::max(sums.with_flops, sums.with_bytes));
  if (sums.ideal_ns / launches < kShortestKernelNs) return RoofBound::Launch;
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
  std::vector<IntervalCollector> times;
  std::unordered_map<std::string, uint32_t> row_of;
  std::unordered_map<uint64_t, uint32_t> row_of_ids;  // device and what makes the name, so that it is made once
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t row, const GpuOperation& operation) {
        if (operation.kind() != GpuKind::Kernel) return;
        if (wanted.overlap_ns(operation.start_ns, operation.end_ns) == 0 && !wanted.contains(operation.start_ns))
          return;
        const uint32_t device = index(trace.stream(operation.stream()).device);
        uint32_t at = kNone;
        const uint64_t id = uint64_t{device} << 32 | index(input.views.names().named_by(operation));
        if (group == RoofGroup::Kernel) {
          const auto found = row_of_ids.find(id);
          if (found != row_of_ids.end()) at = found->second;
        }
        if (at == kNone) {
          std::string name = names.of(row, operation);
          const auto [found, added] =
              row_of.try_emplace(fmt::format("{} {}", device, name), static_cast<uint32_t>(answer.points.size()));
          if (added) {
            RoofPoint& point = answer.points.emplace_back();
            point.name = std::move(name), point.device = device, point.number = found->second;
            times.emplace_back();
          }
          at = found->second;
          if (group == RoofGroup::Kernel) row_of_ids.emplace(id, at);
        }
        answer.points[at].sums.add(costs.of(row), operation.duration_ns(), answer.peaks.of_device[device]);
        times[at].add(operation.start_ns, operation.end_ns);
        estimates.add(operation, at);
      });
  for (size_t i = 0; i < answer.points.size(); ++i) {
    RoofPoint& point = answer.points[i];
    point.time_ns = group == RoofGroup::Kernel ? point.sums.total_ns : times[i].take().length_ns();
    if (group != RoofGroup::Kernel) point.sums.over(point.time_ns);
    judge(point, answer.peaks.of_device[point.device]);
  }
  std::stable_sort(answer.points.begin(), answer.points.end(), [](const RoofPoint& a, const RoofPoint& b) {
    return std::tuple(a.lost_ns.value_or(-1), a.time_ns) > std::tuple(b.lost_ns.value_or(-1), b.time_ns);
  });
  return answer;
}

Table report_roofline(const AnalysisInput& input) {
  Estimates estimates(input, RowsAre::ByWork);
  const Roofline answer = roofline(input, estimates);
  const Trace& trace = input.trace;
  Table table("roofline", "Kernels, operators or ranges below the roof of their device");
  table.add_column("Pid", "pid", CellType::Count);
  table.add_column("Device", "device", CellType::Count);
  table.add_column("Kernels", "kernels", CellType::Count);
  table.add_column("Time", "time", CellType::Nanoseconds);
  estimates.add_columns(table);
  table.add_column("FLOP/byte", "intensity", CellType::Real, 2);
  table.add_column("TFLOP/s", "attained_tflops", CellType::Real, 2);
  table.add_column("Attainable", "attainable_tflops", CellType::Real, 2);
  table.add_column("GB/s", "gb_per_s", CellType::Real, 1);
  table.add_column("Of FLOPS (%)", "flops_percent", CellType::Real, 2);
  table.add_column("Of bandwidth (%)", "bandwidth_percent", CellType::Real, 2);
  table.add_column("Bound", "bound", CellType::Text);
  table.add_column("Lost", "lost", CellType::Nanoseconds);
  table.add_column("Type", "type", CellType::Text);
  table.add_column("Note", "note", CellType::Text);
  table.add_column("Name", "name", CellType::Text);
  int64_t lost_ns = 0, judged_ns = 0, total_ns = 0;
  for (const RoofPoint& point : answer.points) {
    const PeakSums& sums = point.sums;
    const Device& device = trace.devices[point.device];
    Table::Row row = table.row();
    const auto real = [&](std::optional<double> value) { value ? row.add(*value) : row.empty(); };
    const auto text = [&](std::string_view value) { value.empty() ? row.empty() : row.add(value); };
    row.add(trace.processes[index(device.process)].pid).add(device.ordinal).add(sums.count).add(point.time_ns);
    estimates.add_cells(row, point.number);
    real(sums.intensity()), real(sums.tera_flops()), real(point.attainable_tera), real(sums.giga_bytes());
    real(sums.flops_percent()), real(sums.bytes_percent());
    text(roof_bound_name(point.bound));
    point.lost_ns ? row.add(*point.lost_ns) : row.empty();
    text(sums.type_text()), text(sums.note()), text(point.name);
    total_ns = add_times(total_ns, sums.total_ns);
    if (point.lost_ns)
      lost_ns = add_times(lost_ns, *point.lost_ns), judged_ns = add_times(judged_ns, sums.with_ideal_ns);
  }
  for (const Window& window : report_windows(input)) {
    if (table.notes.size() < 20) table.notes.push_back(window_note(window));
  }
  estimates.add_notes(table);
  table.notes.insert(table.notes.end(), answer.peaks.notes.begin(), answer.peaks.notes.end());
  table.notes.push_back(fmt::format("lost {} of the {} of kernels with numbers; {} of kernels in all",
                                    scaled_time(lost_ns), scaled_time(judged_ns), scaled_time(total_ns)));
  return table;
}

}  // namespace prof::analyzer
