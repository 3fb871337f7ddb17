#include "analyzer/analysis/stacks/stack_tree.h"

#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/stacks/frame_text.h"
#include "analyzer/analysis/stacks/piece_stacks.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/model/event_tree.h"
#include "analyzer/model/op_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

namespace prof::analyzer {

namespace {

constexpr std::pair<std::string_view, StackMetric> kMetrics[] = {{"gpu-time", StackMetric::GpuTime},
                                                                 {"cpu-time", StackMetric::CpuTime},
                                                                 {"launches", StackMetric::Launches},
                                                                 {"bytes", StackMetric::Bytes},
                                                                 {"allocated-bytes", StackMetric::AllocatedBytes},
                                                                 {"idle", StackMetric::Idle}};

std::string_view metric_name(StackMetric metric) {
  for (const auto& [name, each] : kMetrics) {
    if (each == metric) return name;
  }
  return {};
}

// Sums values by (stack, leaf) first, because there are far fewer pairs than events.
class StackSums {
 public:
  explicit StackSums(const AnalysisInput& input) : stacks_(call_stacks(input.views)) {}

  uint32_t leaf(std::string_view name, TreeFrameKind kind) {
    return answer_.tree.frame({answer_.tree.text(name), {}, {}, 0, kind});
  }
  void add(StackId stack, uint32_t leaf, int64_t value) {
    const uint64_t key = uint64_t{static_cast<uint32_t>(stack)} << 32 | leaf;
    if (key != last_key_ || last_ == nullptr) {
      last_ = &sums_[key];
      last_key_ = key;
    }
    grow(last_->value, value);
    ++last_->count;
  }
  void add(StackId stack, uint32_t leaf, const GpuOperation& operation, int64_t value, Estimates& estimates) {
    add(stack, leaf, value);
    if (!estimates.any()) return;
    if (last_->group == kNone) last_->group = groups_++;
    estimates.add(operation, last_->group, static_cast<double>(value));
  }

  StackTree take(std::string_view metric, std::string_view unit, std::shared_ptr<const Estimates> estimates) {
    const bool estimated = estimates != nullptr && estimates->any();
    answer_.estimates = std::move(estimates);
    CallTree& tree = answer_.tree;
    tree.metric = metric;
    tree.unit = unit;
    std::vector<std::pair<uint64_t, Sum>> sums(sums_.begin(), sums_.end());
    std::sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    MergedStacks& merged = stacks_.merged();
    std::vector<uint32_t> frames;  // row of merged -> row of the tree
    uint64_t last_stack = UINT64_MAX;
    uint32_t node = 0;
    for (auto& [key, sum] : sums) {
      if (estimated) sum.value = whole_ns(answer_.estimates->of(sum.group).total);
      if (key >> 32 != last_stack) {
        last_stack = key >> 32;
        node = 0;
        const std::span<const uint32_t> rows = merged.of(static_cast<StackId>(last_stack));
        for (size_t i = rows.size(); i-- > 0;) node = tree.child(node, frame(merged, rows[i], frames));
      }
      const uint32_t at = tree.child(node, static_cast<uint32_t>(key));
      if (estimated) {
        if (answer_.groups.size() <= at) answer_.groups.resize(at + size_t{1});
        answer_.groups[at].push_back(sum.group);
      }
      TreeNode& leaf = tree.node(at);
      grow(leaf.value, sum.value);
      leaf.count += sum.count;
      if (last_stack == 0) grow(answer_.without_stack, sum.value);
    }
    if (estimated) {
      answer_.groups.resize(tree.nodes().size());
      answer_.notes = answer_.estimates->notes();
      answer_.notes.back() +=
          "; all values are estimates, with the weight of a launch's kernel; counts are of what was timed";
    }
    const std::vector<std::string> of_stacks = merged.notes();
    answer_.notes.insert(answer_.notes.end(), of_stacks.begin(), of_stacks.end());
    return std::move(answer_);
  }

 private:
  struct Sum {
    int64_t value = 0;
    uint64_t count = 0;
    uint32_t group = kNone;  // of the estimates
  };
  uint32_t frame(const MergedStacks& merged, uint32_t row, std::vector<uint32_t>& frames) {
    if (row >= frames.size()) frames.resize(row + size_t{1});
    if (frames[row] == 0) {
      TreeFrame frame = merged.frame(row);
      frame.name = answer_.tree.text(frame_text(merged.text(frame.name)));
      frame.file = answer_.tree.text(frame_text(merged.text(frame.file)));
      frame.module = answer_.tree.text(merged.text(frame.module));
      frames[row] = answer_.tree.frame(frame);
    }
    return frames[row];
  }

  CallStacks& stacks_;
  StackTree answer_;
  std::unordered_map<uint64_t, Sum> sums_;
  uint32_t groups_ = 0;
  uint64_t last_key_ = 0;
  Sum* last_ = nullptr;
};

// Leaves of the tree: what ran, by name.
class Leaves {
 public:
  Leaves(const AnalysisInput& input, StackSums& sums)
      : input_(input), sums_(sums), of_kernel_(input.trace.kernels.size()) {}
  uint32_t of(const GpuOperation& operation) {
    if (!operation.has_kernel()) return other(operation_name(input_.views.names(), operation, input_.options.names));
    return of(input_.views.names().named_by(operation));
  }
  uint32_t of(KernelId kernel) {
    uint32_t& leaf = of_kernel_[index(kernel)];
    if (leaf == 0) leaf = sums_.leaf(input_.views.names().name(kernel, input_.options.names), TreeFrameKind::Gpu);
    return leaf;
  }
  uint32_t call(const HostEvent& event) {
    const uint32_t api = event.api();
    if (api >= of_api_.size()) of_api_.resize(api + size_t{1});
    if (of_api_[api] == 0) {
      const std::string_view name = plain_api_name(input_.trace.api_name(event));
      of_api_[api] = sums_.leaf(name.empty() ? "[unknown call]" : name, TreeFrameKind::Call);
    }
    return of_api_[api];
  }

 private:
  uint32_t other(std::string_view name) { return sums_.leaf(name, TreeFrameKind::Gpu); }

  const AnalysisInput& input_;
  StackSums& sums_;
  std::vector<uint32_t> of_kernel_, of_api_;
};

class Taker {
 public:
  explicit Taker(const AnalysisInput& input)
      : input_(input),
        trace_(input.trace),
        stacks_(call_stacks(input.views)),
        sums_(input),
        leaves_(input, sums_),
        everything_(input.options.window == "gpu" && input.selection.all()) {
    if (input.options.window != "gpu" || !input.selection.all()) {
      windows_ = report_windows(input);
      wanted_ = union_of(windows_);
    }
  }

  StackTree take(StackMetric metric) {
    switch (metric) {
      case StackMetric::GpuTime: operations(false); break;
      case StackMetric::Bytes: operations(true); break;
      case StackMetric::Idle: gaps(); break;
      case StackMetric::CpuTime:
        calls([](const HostEvent&) { return true; }, [](const HostEvent& event) { return event.duration_ns(); });
        break;
      case StackMetric::Launches:
        calls([](const HostEvent& event) { return event.is_launch(); }, [](const HostEvent&) { return int64_t{1}; });
        break;
      case StackMetric::AllocatedBytes:
        calls([](const HostEvent& event) { return event.kind() == HostKind::Allocation && event.result() == 0; },
              [](const HostEvent& event) { return static_cast<int64_t>(event.subject); });
        break;
    }
    const bool bytes = metric == StackMetric::Bytes || metric == StackMetric::AllocatedBytes;
    const std::string_view name = metric_name(metric);
    StackTree answer = sums_.take(name,
                                  bytes                             ? "bytes"
                                  : metric == StackMetric::Launches ? "count"
                                                                    : "nanoseconds",
                                  std::move(estimates_));
    for (const Window& window : windows_) {
      if (windows_.size() <= 20) answer.notes.push_back(window_note(window));
    }
    if (!stacks_.any()) answer.notes.emplace_back("the input has no call stacks");
    return answer;
  }

 private:
  void operations(bool bytes) {
    estimates_ = std::make_shared<Estimates>(input_, RowsAre::ByWork);
    for_each_selected(
        input_, [](StreamId) { return true; },
        [&](uint32_t, const GpuOperation& operation) {
          if (!everything_ && !wanted_.contains(operation.start_ns)) return;
          if (bytes && operation.has_kernel()) return;
          const int64_t value = bytes ? static_cast<int64_t>(operation.bytes) : operation.duration_ns();
          sums_.add(stacks_.of_operation(operation), leaves_.of(operation), operation, value, *estimates_);
        });
  }

  // The window of GPU operations would exclude earlier host calls. Calls in the selection count, unless another window
  // is given.
  template <class Want, class Value> void calls(Want&& want, Value&& value) {
    const bool in_windows = input_.options.window != "gpu";
    for (uint32_t row = 0; row < trace_.host.size(); ++row) {
      const HostEvent& event = trace_.host[row];
      if (!want(event) || !input_.selection.in_window(event.begin_ns, event.end_ns)) continue;
      if (!input_.selection.nvtx.has_call(row) || !input_.selection.has_thread(trace_.thread(event.thread))) continue;
      if (in_windows && !wanted_.contains(event.begin_ns)) continue;
      const bool kernel = event.kind() == HostKind::KernelLaunch && event.subject != 0;
      const uint32_t leaf = kernel ? leaves_.of(KernelId{static_cast<uint32_t>(event.subject)}) : leaves_.call(event);
      sums_.add(stacks_.of_call(row), leaf, value(event));
    }
    if (!in_windows) windows_.clear();
  }

  // Each piece of a gap belongs to the code that took it. With one cause for each gap, it belongs to the call that
  // blocked the thread, else to the launch that was late.
  void gaps() {
    if (windows_.empty()) windows_ = report_windows(input_);
    if (windows_.empty()) return;
    const IntervalSet inside = union_of(windows_);
    const Interval hull{inside.parts().front().begin_ns, inside.parts().back().end_ns};
    const auto leaf = [&](std::string_view cause) { return sums_.leaf(cause, TreeFrameKind::Call); };
    if (input_.options.definitions != Definitions::GapCause) {
      std::array<uint32_t, kGapCharges> leaves{};
      divide_gaps(trace_, input_.views, input_.selection, hull,
                  [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
                    for (const GapPiece& piece : pieces) {
                      const int64_t idle_ns = inside.overlap_ns(piece.begin_ns, piece.end_ns);
                      if (idle_ns <= 0) continue;
                      uint32_t& of_charge = leaves[piece.charge.number()];
                      if (of_charge == 0) of_charge = leaf(piece.charge.text());
                      sums_.add(stack_of_piece(stacks_, gap, piece), of_charge, idle_ns);
                    }
                  });
      return;
    }
    for (const Gap& gap : find_gaps(trace_, input_.views, input_.selection, hull)) {
      const int64_t idle_ns = inside.overlap_ns(gap.begin_ns, gap.end_ns);
      if (idle_ns <= 0) continue;
      StackId stack{};
      for (const uint32_t call : {gap.call, gap.launch}) {
        if (stack == StackId{} && call != kNone) stack = stacks_.of_call(call);
      }
      sums_.add(stack, leaf(gap_cause_text(gap.cause)), idle_ns);
    }
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  CallStacks& stacks_;
  StackSums sums_;
  std::shared_ptr<Estimates> estimates_;
  Leaves leaves_;
  const bool everything_;
  std::vector<Window> windows_;
  IntervalSet wanted_;
};

}  // namespace

StackMetric stack_metric(std::string_view word) {
  std::string words;
  for (const auto& [name, metric] : kMetrics) {
    if (name == word) return metric;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", name);
  }
  throw std::runtime_error(
      fmt::format("--metric: '{}' is none of {}; reports stacks also know self_cpu_time_total and self_cuda_time_total",
                  word, words));
}

void StackTree::add_half_column(Table& table, ColumnId column) const {
  if (!estimated()) return;
  table.add_column(column, tree.unit == "nanoseconds" ? CellType::Nanoseconds : CellType::Count);
}

void StackTree::add_half_cell(Table::Row& row, const std::vector<uint32_t>& of_groups) const {
  if (!estimated()) return;
  const Extrapolated estimate = estimates->of(of_groups);
  row.add_if(estimate.known() && estimate.half >= 0, whole_ns(estimate.half));
}

std::vector<std::vector<uint32_t>> StackTree::groups_below() const {
  std::vector<std::vector<uint32_t>> below = groups;
  for (size_t n = below.size(); n-- > 1;) {  // children come after their parents
    std::vector<uint32_t>& above = below[tree.nodes()[n].parent];
    above.insert(above.end(), below[n].begin(), below[n].end());
  }
  return below;
}

StackTree stack_tree(const AnalysisInput& input, StackMetric metric) { return Taker(input).take(metric); }

bool is_torch_metric(std::string_view word) {
  return word == "self_cpu_time_total" || word == "self_cuda_time_total" || word == "self_device_time_total";
}

std::vector<ExportedStack> exported_stacks(const AnalysisInput& input, std::string_view metric) {
  const Trace& trace = input.trace;
  const EventTree& tree = input.views.tree();
  const OpStacks stacks(trace, input.views.forward_backward());
  const bool cpu = metric == "self_cpu_time_total";
  const bool reference = input.options.definitions == Definitions::Reference;
  const DeviceTimes device = device_times(trace, tree, !reference, [&](const GpuOperation& operation) {
    return input.selection.has_stream(trace, trace.stream(operation.stream())) &&
           input.selection.nvtx.has_operation(static_cast<uint32_t>(&operation - trace.operations.data()));
  });
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < tree.size(); ++node) {
    if (tree.range(node) == nullptr || !input.selection.in_window(tree.begin_ns(node), tree.end_ns(node))) continue;
    if (!input.selection.nvtx.has_range(tree[node].row())) continue;
    if (input.selection.has_thread(trace.thread(tree.thread(node)))) nodes.push_back(node);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
    return tree.begin_ns(a) != tree.begin_ns(b) ? tree.begin_ns(a) < tree.begin_ns(b) : tree.end_ns(a) > tree.end_ns(b);
  });
  std::vector<ExportedStack> exported;
  for (const uint32_t node : nodes) {
    const int64_t time_ns = cpu ? tree.self_ns(node) : device.self_ns[node];
    if (time_ns < 1000) continue;
    ExportedStack stack{stacks.stack(tree[node].source), time_ns};
    if (!stack.frames.empty()) exported.push_back(std::move(stack));
  }
  return exported;
}

}  // namespace prof::analyzer
