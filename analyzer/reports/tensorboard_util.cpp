// One row per device that ran a kernel: the numbers of the plugin's overview. Busy: union of kernels alone, from the
// first step's start to the last step's end (tensorboard_steps.h). Efficiency: at each moment min(Σ blocks per SM of
// the running kernels, 1), averaged over that time. Occupancy: mean over the kernels, weighted by their time in it.
#include "analyzer/reports/tensorboard_util.h"

#include "analyzer/analysis/cost/occupancy.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/tensorboard_steps.h"
#include "analyzer/analysis/select/time_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace prof::analyzer {

namespace {

// Calls of the driver have other names than calls of the runtime ("cuLaunchKernel", "cudaLaunchKernel"), which are the
// only ones that the plugin reads.
bool is_driver_call(std::string_view name) {
  return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
}

bool is_step(const Trace& trace, const Range& range) {
  return range.kind != RangeKind::Python && range.style == RangeStyle::PushPop &&
         trace.range_name(range).starts_with("ProfilerStep#");
}

// What decides the window of one process.
struct ProcessSteps {
  std::vector<Interval> steps;        // their host parts
  std::optional<Interval> operators;  // from the first one's begin to the last one's end
  std::vector<StepOperation> operations;

  std::optional<Interval> window() {
    if (steps.empty() && operators) steps.push_back(*operators);
    if (steps.empty()) return std::nullopt;
    std::sort(steps.begin(), steps.end(), [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
    const Interval window = tensorboard_window(steps, operations);
    return window.length_ns() > 0 ? std::optional(window) : std::nullopt;
  }
};

// By row of Trace::processes. nullopt: the process has neither steps nor operators.
std::vector<std::optional<Interval>> windows_of(const Trace& trace) {
  std::vector<ProcessSteps> of_process(trace.processes.size());
  for (const Range& range : trace.ranges) {
    ProcessSteps& process = of_process[index(trace.thread(range.thread).process)];
    if (is_step(trace, range)) {
      process.steps.push_back({range.begin_ns, range.end_ns});
    } else if (range.kind == RangeKind::Operator) {
      if (!process.operators) process.operators = Interval{range.begin_ns, range.end_ns};
      process.operators->begin_ns = std::min(process.operators->begin_ns, range.begin_ns);
      process.operators->end_ns = std::max(process.operators->end_ns, range.end_ns);
    }
  }
  std::vector<bool> is_driver(trace.apis.size());
  for (size_t api = 0; api < is_driver.size(); ++api) is_driver[api] = is_driver_call(trace.text(trace.apis[api]));
  for (const GpuOperation& operation : trace.operations) {
    const DeviceId device = trace.stream(operation.stream()).device;
    StepOperation& each = of_process[index(trace.device(device).process)].operations.emplace_back();
    each.start_ns = operation.start_ns;
    each.end_ns = operation.end_ns;
    if (!operation.linked()) continue;
    const HostEvent& call = trace.host[operation.launch];
    each.has_call = !is_driver[call.api()];
    each.call = {call.begin_ns, call.end_ns};
  }
  std::vector<std::optional<Interval>> windows;
  for (ProcessSteps& process : of_process) windows.push_back(process.window());
  return windows;
}

// The kernels of one device in the window.
class DeviceKernels {
 public:
  DeviceKernels(const AnalysisInput& input, uint32_t device_row, const Interval& window) : window_(window) {
    const Trace& trace = input.trace;
    for_each_selected_by_start(
        input, [&](StreamId id) { return index(trace.stream(id).device) == device_row; },
        [&](uint32_t, const GpuOperation& operation) {
          if (operation.has_kernel()) add(trace.devices[device_row], operation, trace.kernels[operation.detail]);
        });
  }
  bool any() const { return any_; }
  int64_t busy_ns() { return busy_.take().overlap_ns(window_.begin_ns, window_.end_ns); }
  std::optional<double> efficiency() {
    if (changes_.empty()) return std::nullopt;
    std::sort(changes_.begin(), changes_.end());
    double sum = 0, blocks = 0;
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (i > 0) sum += std::min(blocks, 1.0) * static_cast<double>(changes_[i].first - changes_[i - 1].first);
      blocks = std::max(blocks + changes_[i].second, 0.0);
    }
    return sum / static_cast<double>(window_.length_ns());
  }
  std::optional<double> occupancy_percent() const {
    return kernel_ns_ > 0 ? std::optional(occupancy_ns_ / kernel_ns_) : std::nullopt;
  }

 private:
  void add(const Device& device, const GpuOperation& operation, const Kernel& kernel) {
    any_ = true;
    busy_.add(operation.start_ns, operation.end_ns);
    const int64_t begin_ns = std::max(operation.start_ns, window_.begin_ns);
    const int64_t end_ns = std::min(operation.end_ns, window_.end_ns);
    const std::optional<KernelFill> fill = kernel_fill(device, kernel);
    if (begin_ns >= end_ns || !fill || fill->blocks_per_sm <= 0) return;
    changes_.emplace_back(begin_ns, fill->blocks_per_sm);
    changes_.emplace_back(end_ns, -fill->blocks_per_sm);
    const auto ns = static_cast<double>(end_ns - begin_ns);
    occupancy_ns_ += fill->occupancy_percent * ns;
    kernel_ns_ += ns;
  }

  Interval window_;
  bool any_ = false;
  IntervalCollector busy_;
  std::vector<std::pair<int64_t, double>> changes_;  // time, more or fewer blocks per SM
  double occupancy_ns_ = 0, kernel_ns_ = 0;
};

}  // namespace

Table tensorboard_utilisation(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("gpu-util", "Utilisation of each device by the definition of the TensorBoard plugin");
  table.add_columns({ColumnId::pid, ColumnId::device, ColumnId::window, ColumnId::start, ColumnId::length,
                     ColumnId::busy, ColumnId::busy_percent, ColumnId::sm_efficiency_percent,
                     ColumnId::occupancy_percent});
  table.notes.emplace_back(
      "definitions: TensorBoard plugin: busy is the union of kernels, without copies and memsets, from the first "
      "step's "
      "start to the last step's end; --window does not apply");
  uint64_t without_steps = 0;
  const std::vector<std::optional<Interval>> windows = windows_of(trace);
  for (uint32_t d = 0; d < trace.devices.size(); ++d) {
    const uint32_t process = index(trace.devices[d].process);
    const std::optional<Interval>& window = windows[process];
    DeviceKernels kernels(input, d, window.value_or(Interval{0, 0}));
    if (!kernels.any()) continue;
    if (!window) {
      ++without_steps;
      continue;
    }
    const int64_t busy_ns = kernels.busy_ns();
    Table::Row row = table.row();
    row.add_owner(process).add(trace.devices[d].ordinal).add(std::string_view("steps"));
    row.add(window->begin_ns).add(window->length_ns()).add(busy_ns);
    row.add(100 * static_cast<double>(busy_ns) / static_cast<double>(window->length_ns()));
    const std::optional<double> efficiency = kernels.efficiency();
    row.add_if(efficiency.has_value(), 100 * efficiency.value_or(0));
    const std::optional<double> occupancy = kernels.occupancy_percent();
    row.add_if(occupancy.has_value(), occupancy.value_or(0));
  }
  if (without_steps > 0) {
    table.notes.push_back(
        fmt::format("{} devices left out: their process has neither profiler steps nor operators", without_steps));
  }
  return table;
}

}  // namespace prof::analyzer
