// critical-path: which chain of host time, launches, operations and waits determined the length of the window? It is
// the longest path of the dependency graph, summed by part and by item. The parts add up to the wall time.
#include "analyzer/analysis/critical/run_graph.h"
#include "analyzer/analysis/idle/host_cursor.h"
#include "analyzer/model/range_text.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>

namespace prof::analyzer {

namespace {

enum class PathPart : uint32_t {
  HostWork,
  LaunchCall,
  CopyCall,
  Synchronization,
  Allocation,
  OtherCall,
  Handoff,
  LaunchLatency,
  Kernel,
  Copy,
  Fill,
  Delay,
  Unexplained,
  NotSelected,
};
constexpr std::string_view kPartNames[] = {
    "host work",  "launch call",        "copy call",      "synchronisation", "allocation",
    "other call", "between threads",    "launch latency", "kernel",          "copy",
    "memset",     "between operations", "not explained",  "not selected",
};
constexpr size_t kPathParts = std::size(kPartNames);

PathPart own_part(NodeKind kind) {
  switch (kind) {
    case NodeKind::KernelCall:
    case NodeKind::GraphCall: return PathPart::LaunchCall;
    case NodeKind::MemoryCall: return PathPart::CopyCall;
    case NodeKind::SynchronizationCall: return PathPart::Synchronization;
    case NodeKind::AllocationCall: return PathPart::Allocation;
    case NodeKind::Kernel: return PathPart::Kernel;
    case NodeKind::Copy: return PathPart::Copy;
    case NodeKind::Fill: return PathPart::Fill;
    default: return PathPart::OtherCall;
  }
}

struct Item {
  PathPart part{};
  std::string_view name;
  uint32_t where = kNone;  // ThreadId, or StreamId for operations
  uint64_t count = 0;
  int64_t time_ns = 0;
  int64_t longest_ns = 0, longest_at_ns = 0;
};

bool on_device(PathPart part) { return part >= PathPart::LaunchLatency; }

// What threads were doing. The cursors remain from one window to the next. A search restarts only if time goes back.
class ThreadCursors {
 public:
  explicit ThreadCursors(const Trace& trace) : trace_(trace), cursors_(trace.threads.size()) {}

  HostCursor& from(uint32_t thread, int64_t begin_ns, int64_t end_ns) {
    Cursor& cursor = cursors_[thread];
    if (cursor.walk == nullptr || begin_ns < cursor.until_ns)
      cursor.walk = std::make_unique<HostCursor>(trace_, ThreadId{thread});
    cursor.until_ns = end_ns;
    return *cursor.walk;
  }

 private:
  struct Cursor {
    std::unique_ptr<HostCursor> walk;
    int64_t until_ns = 0;
  };
  const Trace& trace_;
  std::vector<Cursor> cursors_;
};

class PathSums {
 public:
  PathSums(const AnalysisInput& input, const DependencyGraph& graph, const NodeSelection& selected,
           ThreadCursors& cursors)
      : input_(input), graph_(graph), selected_(selected), cursors_(cursors) {}

  void run() {
    for (const PathStep& step : Replay(graph_).critical_path()) {
      const Node& node = graph_.nodes()[step.node];
      add_edge(node, step);
      if (node.kind() == NodeKind::Point || node.kind() == NodeKind::Join || step.end_ns == step.start_ns) continue;
      if (selected_.has(node)) {
        last_ =
            add(own_part(node.kind()), key_of(node.kind(), node.subject()), where(node), step.start_ns, step.end_ns);
      } else {
        last_ = add_elsewhere(step.start_ns, step.end_ns);
      }
    }
  }

  // By part, name and place; longest time first.
  std::vector<Item> items() {
    std::unordered_map<std::string, Item> merged;
    for (const auto& [key, item] : sums_) {
      Item named = item;
      named.name = name_of(item.part, static_cast<uint32_t>(key.first));
      Item& to = merged[fmt::format("{}|{}|{}", static_cast<uint32_t>(item.part), item.where, named.name)];
      named.count += to.count;
      named.time_ns += to.time_ns;
      if (to.longest_ns > named.longest_ns) {
        named.longest_ns = to.longest_ns;
        named.longest_at_ns = to.longest_at_ns;
      }
      to = named;
    }
    std::vector<Item> all;
    for (auto& [key, item] : merged) all.push_back(item);
    std::sort(all.begin(), all.end(), [](const Item& a, const Item& b) {
      if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
      if (a.part != b.part) return a.part < b.part;
      return a.name != b.name ? a.name < b.name : a.where < b.where;
    });
    return all;
  }

 private:
  using Key = std::pair<uint64_t, uint32_t>;  // part and name, place
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return (key.first * 0x9e3779b97f4a7c15 ^ key.second) * 0xbf58476d1ce4e5b9 >> 7;
    }
  };

  // The key that names the item: a kind of node and its subject, or the label of a range for host time.
  static uint32_t key_of(NodeKind kind, uint32_t subject) { return static_cast<uint32_t>(kind) | subject << 4; }

  uint32_t where(const Node& node) const {
    if ((kind_bit(node.kind()) & kOperationNodes) != 0) return index(input_.trace.operations[node.row].stream());
    return thread(node);
  }
  uint32_t thread(const Node& node) const {
    return node.kind() == NodeKind::Point ? node.row : index(input_.trace.host[node.row].thread);
  }

  Item* add(PathPart part, uint32_t name, uint32_t where, int64_t begin_ns, int64_t end_ns) {
    Item& item = sums_[{static_cast<uint64_t>(part) << 32 | name, where}];
    item.part = part;
    item.where = where;
    ++item.count;
    const int64_t time_ns = end_ns - begin_ns;
    item.time_ns += time_ns;
    if (time_ns > item.longest_ns) {
      item.longest_ns = time_ns;
      item.longest_at_ns = begin_ns;
    }
    return &item;
  }

  // Adds the path outside the selection as one item, so that the parts still add up to the wall time.
  Item* add_elsewhere(int64_t begin_ns, int64_t end_ns) {
    return add(PathPart::NotSelected, static_cast<uint32_t>(NodeKind::Point), kNone, begin_ns, end_ns);
  }

  void add_edge(const Node& node, const PathStep& step) {
    if (step.start_ns == step.begin_ns) return;
    if (step.start_ns < step.begin_ns) {  // it started before the previous step ended
      if (last_ != nullptr) last_->time_ns -= step.begin_ns - step.start_ns;
      return;
    }
    if (!selected_.has(node)) {
      last_ = add_elsewhere(step.begin_ns, step.start_ns);
      return;
    }
    const bool is_operation = (kind_bit(node.kind()) & kOperationNodes) != 0;
    if (!is_operation && !node.has(kNodeUnexplained) && !node.has(kNodeBoundByOther)) return add_host_work(node, step);
    const PathPart part = node.has(kNodeUnexplained)    ? PathPart::Unexplained
                          : !is_operation               ? PathPart::Handoff
                          : node.has(kNodeBoundByOther) ? PathPart::LaunchLatency
                                                        : PathPart::Delay;
    last_ = add(part, key_of(node.kind(), node.subject()), where(node), step.begin_ns, step.start_ns);
    if (part == PathPart::Unexplained && !is_operation) last_->where = kNone;
  }

  // Host time by what encloses it: the innermost operator, range or Python function.
  void add_host_work(const Node& node, const PathStep& step) {
    const uint32_t of = thread(node);
    HostCursor& cursor = cursors_.from(of, step.begin_ns, step.start_ns);
    cursor.walk(step.begin_ns, step.start_ns, [&](int64_t begin, int64_t end, uint32_t, uint32_t range) {
      const uint32_t label = range == kNone ? 0 : index(input_.trace.ranges[range].label);
      last_ = add(PathPart::HostWork, label, of, begin, end);
    });
  }

  std::string_view name_of(PathPart part, uint32_t key) const {
    if (part != PathPart::HostWork) {
      const auto kind = static_cast<NodeKind>(key & 15);
      return kind == NodeKind::Point ? "" : node_name(input_, kind, key >> 4);
    }
    const Trace& trace = input_.trace;
    return key == 0 ? "[no range]" : plain_range_text(trace.text(trace.labels[key].text));
  }

  const AnalysisInput& input_;
  const DependencyGraph& graph_;
  const NodeSelection& selected_;
  ThreadCursors& cursors_;
  std::unordered_map<Key, Item, KeyHash> sums_;
  Item* last_ = nullptr;  // of sums_: references into it stay valid
};

std::string place(const Trace& trace, const Item& item) {
  if (item.where == kNone) return "";
  const bool several = trace.processes.size() > 1;
  if (!on_device(item.part)) {
    const Thread& thread = trace.threads[item.where];
    return (several ? fmt::format("pid {} ", trace.processes[index(thread.process)].pid) : "") +
           fmt::format("thread {}", thread.tid);
  }
  const Stream& stream = trace.streams[item.where];
  const Device& device = trace.device(stream.device);
  return (several ? fmt::format("pid {} ", trace.processes[index(device.process)].pid) : "") +
         fmt::format("device {} stream {}", device.ordinal, stream.number);
}

void add_row(Table& table, const AnalysisInput& input, const Window& window, int64_t wall_ns, const Item& item,
             bool sum, bool with_window) {
  Table::Row row = table.row();
  if (with_window) row.add(window.label);
  row.add(kPartNames[static_cast<size_t>(item.part)])
      .add(sum ? std::string_view("all") : item.name)
      .add(sum ? std::string() : place(input.trace, item))
      .add(item.count)
      .add(item.time_ns)
      .add(wall_ns > 0 ? 100 * static_cast<double>(item.time_ns) / static_cast<double>(wall_ns) : 0.0)
      .add(item.longest_ns)
      .add(item.longest_at_ns);
}

}  // namespace

Table report_critical_path(const AnalysisInput& input) {
  Table table("critical-path", "Critical path: what the wall time consists of");
  const std::vector<Window> windows = graph_windows(input);
  add_window_column(table, windows);
  table.add_columns({ColumnId::part, ColumnId::item, ColumnId::where, ColumnId::steps, ColumnId::time});
  table.add_column(ColumnId::wall_percent, 1);
  table.add_columns({ColumnId::longest, ColumnId::at});
  const NodeSelection selected(input);
  ThreadCursors cursors(input.trace);
  for (const Window& window : windows) {
    const DependencyGraph graph = make_graph(input, window);
    add_graph_notes(table, input, window, graph);
    PathSums sums(input, graph, selected, cursors);
    sums.run();
    const std::vector<Item> items = sums.items();
    std::vector<Item> parts(kPathParts);
    for (const Item& item : items) {
      Item& part = parts[static_cast<size_t>(item.part)];
      part.part = item.part;
      part.count += item.count;
      part.time_ns += item.time_ns;
      if (item.longest_ns > part.longest_ns) {
        part.longest_ns = item.longest_ns;
        part.longest_at_ns = item.longest_at_ns;
      }
    }
    std::erase_if(parts, [](const Item& part) { return part.count == 0; });
    std::stable_sort(parts.begin(), parts.end(), [](const Item& a, const Item& b) { return a.time_ns > b.time_ns; });
    for (const Item& part : parts) add_row(table, input, window, graph.wall_ns(), part, true, windows.size() > 1);
    for (const Item& item : items) {
      if (item.part != PathPart::NotSelected)
        add_row(table, input, window, graph.wall_ns(), item, false, windows.size() > 1);
    }
  }
  return table;
}

}  // namespace prof::analyzer
