// ops-trace: one row per range, call and GPU operation in order of begin, with everything torch.autograd.profiler's
// FunctionEvent says of one. Definitions: docs/reports/ops.md and docs/reports/ops-trace.md.
#include "analyzer/analysis/op_averages.h"
#include "analyzer/analysis/torch_flops.h"
#include "analyzer/model/forward_backward.h"
#include "analyzer/model/op_stacks.h"
#include "analyzer/model/range_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

void declare_columns(Table& table) {
  const auto add = [&](const char* title, const char* key, CellType type) { table.add_column(title, key, type); };
  add("Id", "id", CellType::Count);
  add("Parent", "parent", CellType::Count);
  add("Name", "name", CellType::Text);
  add("Device", "device_type", CellType::Text);
  add("Index", "device_index", CellType::Count);
  add("Pid", "pid", CellType::Count);
  add("Thread", "thread", CellType::Count);
  add("Start", "start", CellType::Nanoseconds);
  add("End", "end", CellType::Nanoseconds);
  add("Self CPU", "self_cpu_time_total", CellType::Nanoseconds);
  add("CPU total", "cpu_time_total", CellType::Nanoseconds);
  add("Self CUDA", "self_device_time_total", CellType::Nanoseconds);
  add("CUDA total", "device_time_total", CellType::Nanoseconds);
  add("Kernels", "kernels", CellType::Count);
  add("CPU Mem", "cpu_memory_usage", CellType::Count);
  add("Self CPU Mem", "self_cpu_memory_usage", CellType::Count);
  add("CUDA Mem", "device_memory_usage", CellType::Count);
  add("Self CUDA Mem", "self_device_memory_usage", CellType::Count);
  add("FLOPs", "flops", CellType::Count);
  add("Async", "is_async", CellType::Count);
  add("Scope", "scope", CellType::Text);
  add("Seq", "sequence_nr", CellType::Count);
  add("Fwd thread", "fwd_thread", CellType::Count);
  add("Forward", "forward", CellType::Count);
  add("Input Shapes", "input_shapes", CellType::Text);
  add("Stack", "stack", CellType::Text);
}

class Instances {
 public:
  explicit Instances(const AnalysisInput& input)
      : input_(input),
        trace_(input.trace),
        names_(input.views.event_names()),
        tree_(input.views.tree()),
        links_(input.views.forward_backward()),
        stacks_(trace_, links_),
        flops_(trace_) {}

  Table run() {
    Table table("ops-trace", "Operators, calls and GPU operations in order of begin");
    declare_columns(table);
    const bool reference = input_.options.definitions == Definitions::Reference;
    device_ = device_times(trace_, tree_, !reference, [&](const GpuOperation& o) { return selected(o); });
    memory_ = node_memory(trace_, tree_, reference);
    count_kernels(!reference);
    collect();
    for (const Event& event : events_) {
      Table::Row row = table.row();
      switch (event.what) {
        case What::Node: add_node(row, event.row); break;
        case What::Async: add_async(row, trace_.ranges[event.row], event.row); break;
        case What::Operation: add_operation(row, trace_.operations[event.row], !reference); break;
      }
    }
    if (tree_.merged() != 0)
      table.notes.push_back(fmt::format("only children of their parent's name, merged into it: {}", tree_.merged()));
    if (tree_.filtered() != 0)
      table.notes.push_back(fmt::format("bookkeeping operators left out: {}", tree_.filtered()));
    return table;
  }

 private:
  enum class What : uint32_t { Node, Async, Operation };
  struct Event {
    int64_t begin_ns, end_ns;
    What what;
    uint32_t row;
  };

  bool selected(const GpuOperation& operation) const {
    return input_.selection.has_stream(trace_, trace_.stream(operation.stream())) &&
           input_.selection.in_window(operation.start_ns, operation.end_ns);
  }
  bool selected(ThreadId thread, int64_t begin_ns, int64_t end_ns) const {
    return input_.selection.has_thread(trace_.thread(thread)) && input_.selection.in_window(begin_ns, end_ns);
  }

  void count_kernels(bool at_calls) {
    kernels_.resize(tree_.size());
    for (const GpuOperation& operation : trace_.operations) {
      const uint32_t node = selected(operation) ? node_of_operation(tree_, operation, at_calls) : kNone;
      if (node != kNone) ++kernels_[node];
    }
  }

  void collect() {
    for (uint32_t node = 0; node < tree_.size(); ++node) {
      const int64_t begin_ns = tree_.begin_ns(node), end_ns = tree_.end_ns(node);
      if (selected(tree_.thread(node), begin_ns, end_ns)) events_.push_back({begin_ns, end_ns, What::Node, node});
    }
    for (const Process& process : trace_.processes) {
      for (uint32_t row = process.start_end_ranges.first; row < process.start_end_ranges.last; ++row) {
        const Range& range = trace_.ranges[row];
        if (selected(range.thread, range.begin_ns, range.end_ns))
          events_.push_back({range.begin_ns, range.end_ns, What::Async, row});
      }
    }
    for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
      const GpuOperation& operation = trace_.operations[row];
      if (selected(operation)) events_.push_back({operation.start_ns, operation.end_ns, What::Operation, row});
    }
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
  }

  void add_where(Table::Row& row, ThreadId thread) const {
    row.add(std::string_view("CPU")).empty();
    row.add(trace_.processes[index(trace_.thread(thread).process)].pid).add(trace_.thread(thread).tid);
  }

  void add_node(Table::Row& row, uint32_t node) {
    const Range* const range = tree_.range(node);
    const uint32_t parent = tree_[node].parent;
    row.add(node + 1);
    parent == kNone ? row.empty() : row.add(parent + 1);
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

  void add_async(Table::Row& row, const Range& range, uint32_t range_row) {
    row.empty().empty().add(trace_.range_name(range));
    add_where(row, range.thread);
    row.add(range.begin_ns).add(std::max(range.begin_ns, range.end_ns)).empty();
    row.add(time_between(range.begin_ns, range.end_ns));
    row.empty().empty().empty().empty().empty().empty().empty();
    add_range(row, range, range_row, true);
  }

  // From "FLOPs" on.
  void add_range(Table::Row& row, const Range& range, uint32_t range_row, bool async) {
    const OperatorDetail* const detail = trace_.detail(range);
    const RangeText text = range.kind == RangeKind::Nvtx ? parse_range_text(trace_.range_name(range)) : RangeText{};
    const BackwardLink* const link = links_.around(range_row);
    const bool backward = link != nullptr && link->backward == range_row;
    const uint64_t flops = range.kind == RangeKind::Operator ? flops_.of(range) : 0;
    flops == 0 ? row.empty() : row.add(flops);
    row.add(int64_t{async});
    const bool user = range.kind == RangeKind::Annotation || range.kind == RangeKind::Nvtx;
    row.add(std::string_view(backward                            ? "backward"
                             : range.kind == RangeKind::Overhead ? "overhead"
                             : user && text.sequence < 0         ? "user"
                                                                 : "function"));
    const int64_t sequence = detail != nullptr ? detail->sequence : text.sequence;
    sequence < 0 ? row.empty() : row.add(sequence);
    detail == nullptr || detail->forward_thread == 0 ? row.empty() : row.add(detail->forward_thread);
    const uint32_t forward = link == nullptr || link->forward == kNone ? kNone : tree_.of_range(link->forward);
    forward == kNone || !backward ? row.empty() : row.add(forward + 1);
    const std::string_view dims = detail != nullptr ? trace_.text(detail->dims) : text.sizes;
    dims.empty() ? row.empty() : row.add(std::string_view(torch_shapes(dims)));
    std::string stack;
    for (const std::string_view frame : stacks_.stack(range_row)) {
      if (!stack.empty()) stack += ';';
      stack += frame;
    }
    stack.empty() ? row.empty() : row.add(std::string_view(stack));
  }

  void add_operation(Table::Row& row, const GpuOperation& operation, bool at_calls) {
    const uint32_t node = node_of_operation(tree_, operation, at_calls);
    row.empty();
    node == kNone ? row.empty() : row.add(node + 1);
    row.add(std::string_view(kineto_name(input_.views.names(), operation))).add(std::string_view("CUDA"));
    const Stream& stream = trace_.stream(operation.stream());
    row.add(trace_.device(stream.device).ordinal);
    row.add(trace_.processes[index(trace_.process_of(operation.stream()))].pid).add(stream.number);
    const int64_t ns = time_between(operation.start_ns, operation.end_ns);
    row.add(operation.start_ns).add(std::max(operation.start_ns, operation.end_ns)).empty().empty().add(ns).add(ns);
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  const EventNames& names_;
  const EventTree& tree_;
  const ForwardBackward& links_;
  const OpStacks stacks_;
  OpFlops flops_;
  DeviceTimes device_;
  NodeMemory memory_;
  Column<uint32_t> kernels_;
  std::vector<Event> events_;
};

}  // namespace

Table report_ops_trace(const AnalysisInput& input) { return Instances(input).run(); }

}  // namespace prof::analyzer
