#include "analyzer/analysis/diff/run_rows.h"

#include "analyzer/analysis/cost/kernel_costs.h"
#include "analyzer/analysis/diff/launch_blocks.h"
#include "analyzer/analysis/memory_timeline.h"
#include "analyzer/analysis/range_row_names.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/event_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// The steps of each process, in order of their start.
class RunSteps {
 public:
  explicit RunSteps(const AnalysisInput& input) : of_process_(input.trace.processes.size()) {
    const RangeCounters& counters = input.views.range_counters();
    const uint32_t steps = counters.steps();
    if (steps == kNone || input.options.exact_ranges) return;
    for (const Range& range : input.trace.ranges) {
      if (counters.folded_as(range.label) != steps) continue;
      of_process_[index(input.trace.thread(range.thread).process)].push_back({range.begin_ns, range.end_ns});
      any_ = true;
    }
    for (std::vector<Interval>& each : of_process_)
      std::sort(each.begin(), each.end(), [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  }

  bool any() const { return any_; }

  // The number of the last step that began, if the time is in it.
  uint32_t at(ProcessId process, int64_t time_ns) const {
    const std::vector<Interval>& steps = of_process_[index(process)];
    const auto later = std::partition_point(steps.begin(), steps.end(),
                                            [&](const Interval& step) { return step.begin_ns <= time_ns; });
    if (later == steps.begin() || time_ns >= std::prev(later)->end_ns) return kNoStep;
    return static_cast<uint32_t>(later - steps.begin() - 1);
  }

  // The start of each step of the process with most steps, and the end of its last one.
  std::vector<int64_t> cuts() const {
    const auto most = std::max_element(of_process_.begin(), of_process_.end(),
                                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::vector<int64_t> cuts;
    if (most == of_process_.end() || most->empty()) return cuts;
    for (const Interval& step : *most) cuts.push_back(step.begin_ns);
    cuts.push_back(std::max(most->back().begin_ns, most->back().end_ns));
    return cuts;
  }

 private:
  std::vector<std::vector<Interval>> of_process_;
  bool any_ = false;
};

class RunReader {
 public:
  RunReader(const AnalysisInput& input, RunWork& run, bool with_peaks)
      : input_(input), trace_(input.trace), run_(run), steps_(input) {
    if (!with_peaks) return;
    costs_.emplace(trace_, input.views, data_type(input.options.dtype));
    peaks_ = peaks_of_devices(input).of_device;
  }

  void read() {
    std::vector<int64_t> starts;
    for_each_selected_by_start(
        input_, [](StreamId) { return true; },
        [&](uint32_t row, const GpuOperation& operation) {
          RunRow& group = run_.rows[row_of(operation)];
          const int64_t ns = operation.duration_ns();
          group.durations_ns.push_back(ns);
          if (steps_.any()) group.steps.push_back(step_of(operation));
          starts.push_back(operation.start_ns);
          run_.sum_ns = add_saturated(run_.sum_ns, ns);
          if (costs_) group.sums.add(costs_->of(row), ns, peaks_[index(trace_.stream(operation.stream()).device)]);
        });
    if (!input_.options.exact_ranges) run_.folded = input_.views.range_counters().folded();
    run_.peak_memory_bytes = peak_memory();
    divide(starts);
    const int64_t wall_ns = time_between(0, trace_.last_ns);
    for (uint32_t d = 0; d < trace_.devices.size(); ++d) {
      const int64_t busy_ns = input_.views.busy()[d].length_ns();
      if (input_.views.busy()[d].empty()) continue;
      run_.busy_ns = add_saturated(run_.busy_ns, busy_ns);
      run_.wall_ns = add_saturated(run_.wall_ns, wall_ns);
      run_.devices.push_back(trace_.devices[d].name);
    }
  }

 private:
  struct Key {
    uint32_t path = 0, what = 0, kind = 0, dims = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      uint64_t hash = 0;
      for (const uint32_t part : {key.path, key.what, key.kind, key.dims}) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };

  uint32_t row_of(const GpuOperation& operation) {
    Key key;
    key.kind = static_cast<uint32_t>(operation.kind());
    key.what = operation.detail;
    if (operation.linked()) {
      key.path = index(input_.views.path_of_call()[operation.launch]);
      key.dims = dims_of(input_.views.range_of_call()[operation.launch]);
    }
    const auto [found, added] = local_.try_emplace(key, 0);
    if (added) found->second = named_row(operation, key);
    return found->second;
  }

  uint32_t step_of(const GpuOperation& operation) const {
    if (!operation.linked()) return kNoStep;
    const HostEvent& call = trace_.host[operation.launch];
    return steps_.at(trace_.thread(call.thread).process, call.begin_ns);
  }

  // Σ over devices of the most memory that was in use.
  std::optional<int64_t> peak_memory() const {
    std::optional<int64_t> sum;
    for (const MemoryTimeline& timeline : memory_timelines(input_)) {
      const uint32_t peak = timeline.place == MemoryTimeline::OnHost ? kNone : timeline.peak(input_.selection);
      if (peak != kNone) sum = add_saturated(sum.value_or(0), timeline.changes[peak].live);
    }
    return sum;
  }

  // Cuts the run where each step begins, or after equally many operations.
  void divide(const std::vector<int64_t>& starts) {
    std::vector<int64_t> cuts = steps_.cuts();
    if (cuts.size() > kFewestBlocks) {
      run_.steps = input_.views.range_counters().folded()[input_.views.range_counters().steps()].name;
    } else if (starts.size() >= 2 * kFewestBlocks) {
      const size_t parts = std::min(kMostBlocks, starts.size() / 2);
      cuts.clear();
      for (size_t i = 0; i < parts; ++i) cuts.push_back(starts[i * starts.size() / parts]);
      int64_t last_ns = starts.back();
      for (const IntervalSet& busy : input_.views.busy()) {
        if (!busy.empty()) last_ns = std::max(last_ns, busy.parts().back().end_ns);
      }
      cuts.push_back(last_ns);
    } else {
      return;
    }
    for (size_t i = 1; i < cuts.size(); ++i) {
      RunPart part;
      for (const IntervalSet& busy : input_.views.busy()) {
        if (busy.empty()) continue;
        part.wall_ns = add_saturated(part.wall_ns, time_between(cuts[i - 1], cuts[i]));
        part.busy_ns = add_saturated(part.busy_ns, busy.overlap_ns(cuts[i - 1], cuts[i]));
      }
      run_.parts.push_back(part);
    }
  }

  // Rows are matched by text. Numbers that make a path unique are removed, so two paths may become one row.
  uint32_t named_row(const GpuOperation& operation, const Key& key) {
    RunRow row;
    row.path = path(PathId{key.path});
    row.op_shape = trace_.text(StringId{key.dims});
    row.name = operation_name(input_.views.names(), operation, NameForm::Full);
    const KernelCategories& categories = input_.views.categories();
    row.category = categories.category_names()[categories.category_index(operation)];
    if (operation.has_kernel()) {
      const Kernel& kernel = trace_.kernels[operation.detail];
      row.launch_shape = fmt::format("{}x{}x{} {}x{}x{}", kernel.grid[0], kernel.grid[1], kernel.grid[2],
                                     kernel.block[0], kernel.block[1], kernel.block[2]);
    }
    const std::string text =
        fmt::format("{}\n{}\n{}\n{}\n{}", row.path, row.category, row.name, row.launch_shape, row.op_shape);
    const auto [found, added] = by_text_.try_emplace(text, static_cast<uint32_t>(run_.rows.size()));
    if (added) run_.rows.push_back(std::move(row));
    return found->second;
  }

  // "step/forward/aten::mm".
  std::string path(PathId id) {
    std::vector<std::string_view> names;
    const EventNames& events = range_row_names(input_);
    for (; index(id) != 0; id = trace_.paths[index(id)].parent)
      names.push_back(events.text(events.of(trace_.paths[index(id)].label)));
    std::string text;
    for (size_t i = names.size(); i-- > 0;) text.append(text.empty() ? "" : "/").append(names[i]);
    return text;
  }

  // Shapes of the innermost enclosing operator that has shapes.
  uint32_t dims_of(uint32_t range) {
    if (range == kNone || trace_.details.empty()) return 0;
    const auto [found, added] = dims_.try_emplace(range, 0);
    if (!added) return found->second;
    uint32_t answer = 0;
    for (uint32_t at = range; at != kNone && answer == 0; at = trace_.ranges[at].parent) {
      if (const OperatorDetail* const detail = trace_.detail(trace_.ranges[at]))
        answer = static_cast<uint32_t>(detail->dims);
    }
    return dims_[range] = answer;
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  RunWork& run_;
  const RunSteps steps_;
  std::optional<KernelCosts> costs_;
  std::vector<DevicePeaks> peaks_;
  std::unordered_map<Key, uint32_t, KeyHash> local_;
  std::unordered_map<std::string, uint32_t> by_text_;
  std::unordered_map<uint32_t, uint32_t> dims_;
};

}  // namespace

RunWork run_rows(const AnalysisInput& input, std::string file, bool with_peaks) {
  RunWork run;
  run.file = std::move(file);
  RunReader(input, run, with_peaks).read();
  return run;
}

}  // namespace prof::analyzer
