// ops-trace: one row per range, call and GPU operation, in order of start, with every field of
// torch.autograd.profiler's FunctionEvent. Definitions: docs/reports/ops.md and docs/reports/ops-trace.md.
#include "analyzer/analysis/cost/op_averages.h"
#include "analyzer/analysis/cost/op_flops.h"
#include "analyzer/analysis/cost/torch_flops.h"
#include "analyzer/analysis/merge_runs.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/prefault.h"
#include "analyzer/model/forward_backward.h"
#include "analyzer/model/names.h"
#include "analyzer/model/op_stacks.h"
#include "analyzer/model/range_text.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

namespace prof::analyzer {

namespace {

// Twenty million rows would be 6 GB of text that nobody reads. CSV and JSON contain all rows.
constexpr size_t kRowsInText = 1'000'000;

void declare_call_columns(Table& table) {
  table.add_columns({ColumnId::id,
                     ColumnId::parent,
                     ColumnId::name,
                     ColumnId::device_type,
                     ColumnId::device_index,
                     ColumnId::pid,
                     ColumnId::thread_or_stream,
                     ColumnId::start,
                     ColumnId::end,
                     ColumnId::self_cpu_time_total,
                     ColumnId::cpu_time_total,
                     ColumnId::self_device_time_total,
                     ColumnId::device_time_total,
                     ColumnId::kernels,
                     ColumnId::cpu_memory_usage,
                     ColumnId::self_cpu_memory_usage,
                     ColumnId::device_memory_usage,
                     ColumnId::self_device_memory_usage,
                     ColumnId::flops,
                     ColumnId::is_async,
                     ColumnId::record_scope,
                     ColumnId::sequence_nr,
                     ColumnId::fwd_thread,
                     ColumnId::forward_id,
                     ColumnId::input_shapes,
                     ColumnId::stack});
}

class Instances {
 public:
  explicit Instances(const AnalysisInput& input)
      : input_(input),
        trace_(input.trace),
        at_calls_(input.options.definitions != Definitions::Reference),
        names_(input.views.event_names()),
        kernel_names_(input.views.names()),
        tree_(input.views.tree()),
        links_(input.views.forward_backward()),
        stacks_(trace_, links_),
        flops_(trace_) {
    const std::array<std::function<void()>, 4> passes{
        [this] { events_ = collect(); },
        [this] {
          device_ = device_times(trace_, tree_, at_calls_,
                                 [this](const GpuOperation& o) { return input_.selection.has(trace_, o); });
        },
        [this] { count_kernels(); },
        [this] { memory_ = node_memory(trace_, tree_, !at_calls_); },
    };
    parallel_for(passes.size(), [&](size_t i) { passes[i](); });
  }

  enum class What : uint32_t { Node, Async, Operation };
  struct Event {
    What what;
    uint32_t row;
  };

  // All selected events in order of start, enclosing events first. May be called once only.
  std::vector<Event> take_events() {
    return merge_runs(std::move(events_), [this](const Event& event) {
      const auto [begin_ns, end_ns] = time_of(event);
      return std::pair(begin_ns, ~end_ns);
    });
  }

  void add(const Event& event, Table::Row& row) const {
    switch (event.what) {
      case What::Node: add_node(row, event.row); break;
      case What::Async: add_async(row, trace_.ranges[event.row], event.row); break;
      case What::Operation: add_operation(row, trace_.operations[event.row]); break;
    }
  }

 private:
  // Whether the range or call of a node belongs to the selected ranges.
  bool of_ranges(uint32_t node) const {
    const uint32_t row = tree_[node].row();
    return tree_[node].is_call() ? input_.selection.nvtx.has_call(row) : input_.selection.nvtx.has_range(row);
  }

  void count_kernels() {
    kernels_.resize(tree_.size());
    write_pages(kernels_);
    for (const GpuOperation& operation : trace_.operations) {
      const uint32_t node =
          input_.selection.has(trace_, operation) ? node_of_operation(tree_, operation, at_calls_) : kNone;
      if (node != kNone) ++kernels_[node];
    }
  }

  Interval time_of(const Event& event) const {
    switch (event.what) {
      case What::Node: return {tree_.begin_ns(event.row), tree_.end_ns(event.row)};
      case What::Async: return {trace_.ranges[event.row].begin_ns, trace_.ranges[event.row].end_ns};
      case What::Operation: break;
    }
    return {trace_.operations[event.row].start_ns, trace_.operations[event.row].end_ns};
  }

  std::vector<Event> collect() const {
    std::vector<Event> events;
    events.reserve(tree_.size() + trace_.operations.size());
    for (uint32_t node = 0; node < tree_.size(); ++node) {
      const int64_t begin_ns = tree_.begin_ns(node), end_ns = tree_.end_ns(node);
      if (of_ranges(node) && input_.selection.has(trace_, tree_.thread(node), begin_ns, end_ns))
        events.push_back({What::Node, node});
    }
    for (const Process& process : trace_.processes) {
      for (uint32_t row = process.start_end_ranges.first; row < process.start_end_ranges.last; ++row) {
        const Range& range = trace_.ranges[row];
        if (!input_.selection.nvtx.has_range(row)) continue;
        if (input_.selection.has(trace_, range.thread, range.begin_ns, range.end_ns))
          events.push_back({What::Async, row});
      }
    }
    for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
      if (input_.selection.has(trace_, trace_.operations[row])) events.push_back({What::Operation, row});
    }
    return events;
  }

  void add_where(Table::Row& row, ThreadId thread) const {
    row.add(std::string_view("CPU")).empty();
    row.add_owner(trace_.thread(thread).process).add(trace_.thread(thread).tid);
  }

  void add_node(Table::Row& row, uint32_t node) const {
    const Range* const range = tree_.range(node);
    const uint32_t parent = tree_[node].parent;
    row.add(node + 1);
    row.add_if(parent != kNone, parent + 1);
    row.add(range != nullptr ? trace_.range_name(*range) : names_.text(tree_.name(node)));
    add_where(row, tree_.thread(node));
    row.add(tree_.begin_ns(node)).add(tree_.end_ns(node)).add(tree_.self_ns(node)).add(tree_.total_ns(node));
    row.add(device_.self_ns[node]).add(device_.total_ns[node]).add(kernels_[node]);
    if (memory_.self.empty()) {
      row.empty().empty().empty().empty();
    } else {
      row.add(memory_.total[node].host).add(memory_.self[node].host);
      row.add(memory_.total[node].device).add(memory_.self[node].device);
    }
    if (range == nullptr) {
      row.empty().add(int64_t{0}).add(std::string_view("call"));
    } else {
      add_range(row, *range, tree_[node].row(), false);
    }
  }

  void add_async(Table::Row& row, const Range& range, uint32_t range_row) const {
    row.empty().empty().add(trace_.range_name(range));
    add_where(row, range.thread);
    row.add(range.begin_ns).add(std::max(range.begin_ns, range.end_ns)).empty();
    row.add(time_between(range.begin_ns, range.end_ns));
    row.empty().empty().empty().empty().empty().empty().empty();
    add_range(row, range, range_row, true);
  }

  // Adds the cells from column "FLOPs" on.
  void add_range(Table::Row& row, const Range& range, uint32_t range_row, bool async) const {
    const OperatorDetail* const detail = trace_.detail(range);
    const RangeText text = range.kind == RangeKind::Nvtx ? parse_range_text(trace_.range_name(range)) : RangeText{};
    const BackwardLink* const link = links_.around(range_row);
    const bool backward = link != nullptr && link->backward == range_row;
    const uint64_t flops = range.kind == RangeKind::Operator ? flops_.of(range) : 0;
    row.add_if(flops != 0, flops);
    row.add(int64_t{async});
    const bool user = range.kind == RangeKind::Annotation || range.kind == RangeKind::Nvtx;
    row.add(std::string_view(backward                            ? "backward"
                             : range.kind == RangeKind::Overhead ? "overhead"
                             : user && text.sequence < 0         ? "user"
                                                                 : "function"));
    const int64_t sequence = detail != nullptr ? detail->sequence : text.sequence;
    row.add_if(sequence >= 0, sequence);
    if (detail == nullptr || detail->forward_thread == 0) {
      row.empty();
    } else {
      row.add(detail->forward_thread);
    }
    const uint32_t forward = link == nullptr || link->forward == kNone ? kNone : tree_.of_range(link->forward);
    if (forward == kNone || !backward) {
      row.empty();
    } else {
      row.add(forward + 1);
    }
    const std::string_view dims = detail != nullptr ? trace_.text(detail->dims) : text.sizes;
    if (dims.empty()) {
      row.empty();
    } else {
      row.add(std::string_view(torch_shapes(dims)));
    }
    std::string stack;
    for (const std::string_view frame : stacks_.stack(range_row)) {
      if (!stack.empty()) stack += ';';
      stack += frame;
    }
    row.add_text(stack);
  }

  void add_operation(Table::Row& row, const GpuOperation& operation) const {
    const uint32_t node = node_of_operation(tree_, operation, at_calls_);
    row.empty();
    row.add_if(node != kNone, node + 1);
    row.add(std::string_view(kineto_name(kernel_names_, operation))).add(std::string_view("CUDA"));
    const Stream& stream = trace_.stream(operation.stream());
    row.add(trace_.device(stream.device).ordinal);
    row.add_owner(trace_.process_of(operation.stream())).add(stream.number);
    const int64_t ns = time_between(operation.start_ns, operation.end_ns);
    row.add(operation.start_ns).add(std::max(operation.start_ns, operation.end_ns)).empty().empty().add(ns).add(ns);
  }

  const AnalysisInput input_;
  const Trace& trace_;
  const bool at_calls_;  // launches outside all ranges have a time
  const EventNames& names_;
  const KernelNames& kernel_names_;
  const EventTree& tree_;
  const ForwardBackward& links_;
  const OpStacks stacks_;
  const OpFlops flops_;
  std::vector<Event> events_;
  DeviceTimes device_;
  NodeMemory memory_;
  Column<uint32_t> kernels_;  // by node
};

}  // namespace

Table report_ops_trace(const AnalysisInput& input) {
  Table table("ops-trace", "Operators, calls and GPU operations in order of begin");
  declare_call_columns(table);
  table.text_limit = kRowsInText;
  const auto instances = std::make_shared<Instances>(input);
  table.list(instances->take_events(),
             [instances](const Instances::Event& event, Table::Row& row) { instances->add(event, row); });
  const EventTree& tree = input.views.tree();
  if (tree.merged() != 0)
    table.notes.push_back(fmt::format("only children of their parent's name, merged into it: {}", tree.merged()));
  if (tree.filtered() != 0) table.notes.push_back(fmt::format("bookkeeping operators left out: {}", tree.filtered()));
  return table;
}

}  // namespace prof::analyzer
