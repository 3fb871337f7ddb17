#include "analyzer/analysis/cost/op_averages.h"

#include "analyzer/analysis/cost/op_flops.h"
#include "analyzer/analysis/cost/torch_flops.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/forward_backward.h"
#include "analyzer/model/names.h"
#include "analyzer/model/op_stacks.h"
#include "analyzer/model/range_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// Events with equal keys are one row. Fields that do not group are 0.
struct Key {
  uint32_t name = 0;
  uint32_t what = 0;  // 0: host, 1: GPU operation, 2: annotation on the GPU, 3: start/end range, 4: memory
  uint32_t shape = 0, stack = 0, thread = 0, domain = 0, process = 0;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = 0;
    for (const uint32_t part : {key.name, key.what, key.shape, key.stack, key.thread, key.domain, key.process}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

class Averager {
 public:
  Averager(const AnalysisInput& input, const OpGrouping& grouping)
      : input_(input),
        trace_(input.trace),
        grouping_(grouping),
        names_(input.views.event_names()),
        tree_(input.views.tree()),
        stacks_(trace_, input.views.forward_backward()),
        flops_(trace_) {}

  OpAverages run(Estimates* estimates) {
    if (estimates != nullptr && estimates->any()) row_of_node_.assign(tree_.size(), kNone);
    const bool reference = input_.options.definitions == Definitions::Reference;
    device_ =
        device_times(trace_, tree_, !reference, [&](const GpuOperation& o) { return input_.selection.has(trace_, o); });
    memory_ = node_memory(trace_, tree_, reference);
    for (uint32_t node = 0; node < tree_.size(); ++node) add_node(node);
    for (const Process& process : trace_.processes) {
      for (uint32_t row = process.start_end_ranges.first; row < process.start_end_ranges.last; ++row) add_async(row);
    }
    if (!row_of_node_.empty()) extrapolate_launches(*estimates);
    for (const GpuOperation& operation : trace_.operations) {
      if (!input_.selection.has(trace_, operation)) continue;
      const uint32_t row = add_operation(operation);
      if (!row_of_node_.empty()) extrapolate(operation, row, *estimates);
    }
    for (const GpuAnnotation& annotation : trace_.gpu_annotations) add_annotation(annotation);
    for (const uint32_t row : memory_.outside) add_memory(trace_.memory[row]);
    answer_.filtered = tree_.filtered();
    answer_.merged = tree_.merged();
    answer_.frames_left_out = stacks_.frames_left_out();
    std::stable_sort(answer_.rows.begin(), answer_.rows.end(), [](const OpAverage& a, const OpAverage& b) {
      return std::tuple(a.first_begin_ns, -a.first_end_ns) < std::tuple(b.first_begin_ns, -b.first_end_ns);
    });
    return std::move(answer_);
  }

 private:
  // Whether the selection by --nvtx contains the range or call of a node.
  bool of_ranges(uint32_t node) const {
    const uint32_t row = tree_[node].row();
    return tree_[node].is_call() ? input_.selection.nvtx.has_call(row) : input_.selection.nvtx.has_range(row);
  }

  // The row of a key. `describe` fills in a new row.
  template <class Describe> OpAverage& row_of(const Key& key, Describe describe) {
    if (!(key == last_key_) || last_row_ == kNone) {
      const auto [found, added] = rows_.try_emplace(key, static_cast<uint32_t>(answer_.rows.size()));
      if (added) {
        describe(answer_.rows.emplace_back());
        answer_.rows.back().number = found->second;
      }
      last_key_ = key;
      last_row_ = found->second;
    }
    return answer_.rows[last_row_];
  }

  // Counts an event. True if it is the earliest event of the row so far: then the caller sets the fields of the first
  // event.
  static bool count(OpAverage& row, int64_t begin_ns, int64_t end_ns, int64_t length_ns) {
    ++row.count;
    row.min_ns = std::min(row.min_ns, length_ns);
    row.max_ns = std::max(row.max_ns, length_ns);
    if (std::tuple(row.first_begin_ns, -row.first_end_ns) <= std::tuple(begin_ns, -end_ns)) return false;
    row.first_begin_ns = begin_ns;
    row.first_end_ns = end_ns;
    return true;
  }

  Key host_key(ThreadId thread, uint32_t what, StringId name, const Range* range, uint32_t row) {
    Key key{static_cast<uint32_t>(name), what, 0, 0, 0, 0, 0};
    if (grouping_.thread) key.thread = index(thread);
    if (grouping_.node) key.process = index(trace_.thread(thread).process);
    if (range == nullptr) {  // a call; only logs have its stack
      if (grouping_.stack != 0 && trace_.host[row].stack != 0) key.stack = stack_of_call(row);
      return key;
    }
    if (grouping_.domain) key.domain = index(trace_.labels[index(range->label)].domain);
    if (grouping_.shape) key.shape = shape_of(*range);
    if (grouping_.stack != 0) key.stack = stack_of(row);
    return key;
  }

  uint32_t shape_of(const Range& range) {
    const OperatorDetail* const detail = trace_.detail(range);
    std::string_view dims = detail != nullptr ? trace_.text(detail->dims) : std::string_view();
    if (detail == nullptr && range.kind == RangeKind::Nvtx) dims = parse_range_text(trace_.range_name(range)).sizes;
    const auto found = shape_ids_.find(dims);
    if (found != shape_ids_.end()) return found->second;
    return shape_ids_[dims] = static_cast<uint32_t>(texts_.intern(torch_shapes(dims)));
  }

  // Frames joined by newlines; no frame contains one.
  uint32_t stack_of(uint32_t row) {
    const uint64_t key = stacks_.key(row);
    if (key == 0) return 0;
    const auto found = stack_ids_.find(key);
    if (found != stack_ids_.end()) return found->second;
    std::string text;
    for (const std::string_view frame : stacks_.stack(row, grouping_.stack)) {
      if (!text.empty()) text += '\n';
      text += frame;
    }
    return stack_ids_[key] = static_cast<uint32_t>(texts_.intern(text));
  }

  uint32_t stack_of_call(uint32_t host_row) {
    CallStacks& stacks = call_stacks(input_.views);
    const StackId stack = stacks.of_call(host_row);
    const auto [found, added] = call_stack_ids_.try_emplace(static_cast<uint32_t>(stack), 0);
    if (!added) return found->second;
    std::string text;
    uint32_t left = grouping_.stack;
    for (const uint32_t row : stacks.merged().of(stack)) {
      if (left-- == 0) break;
      if (!text.empty()) text += '\n';
      text += stacks.merged().frame_text(row);
    }
    return found->second = static_cast<uint32_t>(texts_.intern(text));
  }

  void describe_host(OpAverage& row, const Key& key, StringId name) {
    row.name = names_.text(name);
    if (grouping_.shape) row.shapes = key.shape == 0 ? "[]" : std::string(texts_[StringId{key.shape}]);
    row.domain = trace_.text(StringId{key.domain});
    std::string_view stack = texts_[StringId{key.stack}];
    while (!stack.empty()) {
      const size_t end = std::min(stack.find('\n'), stack.size());
      row.stack.emplace_back(stack.substr(0, end));
      stack.remove_prefix(std::min(end + 1, stack.size()));
    }
  }

  void add_node(uint32_t node) {
    const ThreadId thread = tree_.thread(node);
    const int64_t begin_ns = tree_.begin_ns(node), end_ns = tree_.end_ns(node), total_ns = tree_.total_ns(node);
    if (!of_ranges(node) || !input_.selection.has(trace_, thread, begin_ns, end_ns)) return;
    const Range* const range = tree_.range(node);
    const StringId name = tree_.name(node);
    const Key key = host_key(thread, 0, name, range, tree_[node].row());
    OpAverage& row = row_of(key, [&](OpAverage& fresh) { describe_host(fresh, key, name); });
    if (!row_of_node_.empty()) row_of_node_[node] = last_row_;
    if (count(row, begin_ns, end_ns, total_ns)) {
      row.top_level = tree_[node].parent == kNone;
      row.thread = index(thread);
      row.process = index(trace_.thread(thread).process);
    }
    row.cpu_ns = add_saturated(row.cpu_ns, total_ns);
    row.self_cpu_ns = add_saturated(row.self_cpu_ns, tree_.self_ns(node));
    row.self_device_ns = add_saturated(row.self_device_ns, device_.self_ns[node]);
    row.device_ns = add_saturated(row.device_ns, device_.total_ns[node]);
    const bool overhead = range != nullptr && range->kind == RangeKind::Overhead;
    row.overhead |= overhead;
    if (!overhead) answer_.self_cpu_ns = add_saturated(answer_.self_cpu_ns, tree_.self_ns(node));
    answer_.overhead_events += overhead ? 1 : 0;
    if (!memory_.self.empty()) {
      row.self_memory += memory_.self[node];
      row.memory += memory_.total[node];
    }
    if (range != nullptr && range->kind == RangeKind::Operator) row.flops += flops_.of(*range);
  }

  void add_async(uint32_t range_row) {
    const Range& range = trace_.ranges[range_row];
    if (!input_.selection.nvtx.has_range(range_row) ||
        !input_.selection.has(trace_, range.thread, range.begin_ns, range.end_ns))
      return;
    const StringId name = names_.of(range);
    const Key key = host_key(range.thread, 3, name, &range, range_row);
    OpAverage& row = row_of(key, [&](OpAverage& fresh) {
      describe_host(fresh, key, name);
      fresh.is_async = true;
    });
    const int64_t total_ns = time_between(range.begin_ns, range.end_ns);
    if (count(row, range.begin_ns, range.end_ns, total_ns)) {
      row.thread = index(range.thread);
      row.process = index(trace_.thread(range.thread).process);
    }
    row.cpu_ns = add_saturated(row.cpu_ns, total_ns);
  }

  // Returns the number of the row.
  uint32_t add_on_device(uint32_t what, ProcessId process, int64_t start_ns, int64_t end_ns, uint32_t name,
                         std::string_view text) {
    Key key{name, what, 0, 0, 0, 0, 0};
    if (grouping_.node) key.process = index(process);
    OpAverage& row = row_of(key, [&](OpAverage& fresh) {
      fresh.name = text;
      fresh.on_device = true;
      fresh.annotation = what == 2;
      if (grouping_.shape) fresh.shapes = "[]";
    });
    const int64_t length_ns = time_between(start_ns, end_ns);
    if (count(row, start_ns, std::max(start_ns, end_ns), length_ns)) row.process = index(process);
    row.device_ns = add_saturated(row.device_ns, length_ns);
    row.self_device_ns = row.device_ns;
    if (what == 1) answer_.self_device_ns = add_saturated(answer_.self_device_ns, length_ns);
    return last_row_;
  }

  uint32_t add_operation(const GpuOperation& operation) {
    const bool kernel = operation.has_kernel();
    const KernelId named_by = kernel ? input_.views.names().named_by(operation) : KernelId{};
    const uint64_t same = uint64_t{kernel ? index(named_by) : operation.detail} << 2 | operation.kind_bits;
    auto found = operation_ids_.find(same);
    if (found == operation_ids_.end()) {
      const std::string name = kineto_name(input_.views.names(), operation);
      found = operation_ids_.emplace(same, texts_.intern(name)).first;
    }
    return add_on_device(1, trace_.process_of(operation.stream()), operation.start_ns, operation.end_ns,
                         static_cast<uint32_t>(found->second), texts_[found->second]);
  }

  // Calls take(group) for each group that a launch call belongs to: of its node and of the enclosing nodes.
  template <class Take> void for_each_group(uint32_t call, Take&& take) const {
    const bool at_calls = input_.options.definitions != Definitions::Reference;
    uint32_t node = node_of_launch(tree_, call, at_calls);
    if (node != kNone && row_of_node_[node] != kNone) take(OpAverages::self_group(row_of_node_[node]));
    for (; node != kNone; node = tree_[node].parent) {
      if (row_of_node_[node] != kNone) take(OpAverages::total_group(row_of_node_[node]));
    }
  }

  // Rows of operations are by work: every launch may belong to them.
  static constexpr uint32_t kAnyLaunch = kNone;
  void extrapolate_launches(Estimates& estimates) const {
    estimates.for_each_launch([&](uint32_t row) {
      estimates.launch(row, kAnyLaunch);
      for_each_group(row, [&](uint32_t group) { estimates.launch(row, group); });
    });
  }
  void extrapolate(const GpuOperation& operation, uint32_t row, Estimates& estimates) const {
    estimates.add_of(kAnyLaunch, operation, OpAverages::device_group(row),
                     static_cast<double>(operation.duration_ns()));
    if (operation.linked()) for_each_group(operation.launch, [&](uint32_t group) { estimates.add(operation, group); });
  }

  void add_annotation(const GpuAnnotation& annotation) {
    if (!input_.selection.nvtx.has_label(annotation.label) ||
        !input_.selection.has_stream(trace_, trace_.stream(annotation.stream)) ||
        !input_.selection.in_window(annotation.start_ns, annotation.end_ns))
      return;
    ++answer_.annotations;
    const StringId name = names_.of(annotation.label);
    add_on_device(2, trace_.process_of(annotation.stream), annotation.start_ns, annotation.end_ns,
                  static_cast<uint32_t>(name), names_.text(name));
  }

  void add_memory(const MemoryEvent& event) {
    if (!input_.selection.nvtx.has_moment(event.thread, event.time_ns)) return;
    if (!input_.selection.has(trace_, event.thread, event.time_ns, event.time_ns)) return;
    Key key;
    key.what = 4;
    if (grouping_.thread) key.thread = index(event.thread);
    if (grouping_.node) key.process = index(trace_.thread(event.thread).process);
    OpAverage& row = row_of(key, [&](OpAverage& fresh) {
      fresh.name = "[memory]";
      if (grouping_.shape) fresh.shapes = "[]";
    });
    if (count(row, event.time_ns, event.time_ns, 0)) {
      row.thread = index(event.thread);
      row.process = index(trace_.thread(event.thread).process);
    }
    const MemoryUse use = event.device == kNone ? MemoryUse{event.bytes, 0} : MemoryUse{0, event.bytes};
    row.self_memory += use;
    row.memory += use;
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  const OpGrouping grouping_;
  const EventNames& names_;
  const EventTree& tree_;
  const OpStacks stacks_;
  OpFlops flops_;
  DeviceTimes device_;
  NodeMemory memory_;
  OpAverages answer_;
  StringTable texts_;  // texts of shapes, stacks and operation names
  std::unordered_map<std::string_view, uint32_t> shape_ids_;
  std::unordered_map<uint64_t, uint32_t> stack_ids_;
  std::unordered_map<uint32_t, uint32_t> call_stack_ids_;  // StackId -> text
  std::unordered_map<uint64_t, StringId> operation_ids_;
  std::unordered_map<Key, uint32_t, KeyHash> rows_;
  std::vector<uint32_t> row_of_node_;  // kNone: not selected; empty: nothing is extrapolated
  Key last_key_;
  uint32_t last_row_ = kNone;
};

}  // namespace

OpGrouping op_grouping(const std::vector<std::string>& words) {
  OpGrouping grouping;
  for (const std::string& word : words) {
    if (word == "shape") {
      grouping.shape = true;
    } else if (word == "thread") {
      grouping.thread = true;
    } else if (word == "domain") {
      grouping.domain = true;
    } else if (word == "node") {
      grouping.node = true;
    } else if (!StackGroups::parse(word, grouping.stack)) {
      throw std::runtime_error(fmt::format("--group-by: '{}' is none of shape, stack:N, thread, domain, node", word));
    }
  }
  return grouping;
}

OpAverages op_averages(const AnalysisInput& input, const OpGrouping& grouping, Estimates* estimates) {
  return Averager(input, grouping).run(estimates);
}

}  // namespace prof::analyzer
