// critical-path: which chain of host time, launches, operations and waits determined the length of the window? It is
// the longest path of the dependency graph, summed by part and by item. The parts add up to the wall time. The time
// between the nodes of the path is divided like a gap: analysis/idle/gap_division.h.
#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/analysis/critical/run_graph.h"
#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/piece_names.h"
#include "analyzer/base/intervals.h"
#include "analyzer/base/sorted_runs.h"
#include "analyzer/model/process_names.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

// The parts of a path: the parts of a gap (GapCharge::number()), then these.
enum PathPart : uint32_t {
  kHandoff = kGapCharges,
  kKernel,
  kCopy,
  kFill,
  kUnexplained,
  kNotSelected,
  kPathParts,
};

uint32_t number_of(GapPart part) { return static_cast<uint32_t>(GapCharge{part, false}.number()); }

std::string_view part_text(uint32_t part) {
  static constexpr std::string_view kTexts[] = {"between threads", "kernel",        "copy",
                                                "memset",          "not explained", "not selected"};
  return part < kGapCharges ? GapCharge::of_number(part).text() : kTexts[part - kGapCharges];
}

uint32_t own_part(NodeKind kind) {
  switch (kind) {
    case NodeKind::KernelCall:
    case NodeKind::GraphCall: return number_of(GapPart::LaunchCall);
    case NodeKind::MemoryCall: return number_of(GapPart::CopyCall);
    case NodeKind::SynchronizationCall: return number_of(GapPart::Synchronize);
    case NodeKind::AllocationCall: return number_of(GapPart::Allocation);
    case NodeKind::Kernel: return kKernel;
    case NodeKind::Copy: return kCopy;
    case NodeKind::Fill: return kFill;
    default: return number_of(GapPart::OtherCall);
  }
}

struct Item {
  uint32_t part = 0;
  std::string_view name;
  uint32_t thread = kNone, stream = kNone;  // where it was, at most one of them
  uint64_t count = 0;
  int64_t time_ns = 0, idle_ns = 0;
  int64_t longest_ns = 0, longest_at_ns = 0;

  void add(const Item& more) {
    count += more.count;
    time_ns += more.time_ns;
    idle_ns += more.idle_ns;
    if (more.longest_ns <= longest_ns) return;
    longest_ns = more.longest_ns;
    longest_at_ns = more.longest_at_ns;
  }
};

// When did an operation run on any device?
IntervalSet busy_of_all(const Trace& trace) {
  std::vector<Interval> all;
  std::vector<size_t> bounds{0};
  for (const Stream& stream : trace.streams) {
    IntervalCollector of_stream;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row)
      of_stream.add(trace.operations[row].start_ns, trace.operations[row].last_ns());
    const IntervalSet busy = of_stream.take();
    all.insert(all.end(), busy.parts().begin(), busy.parts().end());
    bounds.push_back(all.size());
  }
  merge_sorted_runs(all, std::move(bounds),
                    [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  return IntervalSet(std::move(all));
}

class PathSums {
 public:
  PathSums(const AnalysisInput& input, const DependencyGraph& graph, const NodeSelection& selected,
           const PieceNames& names, const IntervalSet& busy, GapDivider& divider)
      : input_(input), graph_(graph), selected_(selected), names_(names), busy_(busy), divider_(divider) {}

  void run() {
    for (const PathStep& step : Replay(graph_).critical_path()) {
      const Node& node = graph_.nodes()[step.node];
      add_edge(node, step);
      if (node.kind() == NodeKind::Point || node.kind() == NodeKind::Join || step.end_ns == step.start_ns) continue;
      if (!selected_.has(node)) {
        last_ = add_elsewhere(step.start_ns, step.end_ns);
      } else if (is_operation(node)) {
        last_ = add(own_part(node.kind()), name_of(node), where(node), step.start_ns, step.end_ns);
      } else {
        add_call(node, step);
      }
    }
    divide_unexplained();
  }

  // By part, name and place; longest time first.
  std::vector<Item> items() {
    std::unordered_map<std::string, Item> merged;
    for (const auto& [key, item] : sums_) {
      Item named = item;
      named.name = text_of(key.name);
      const auto [at, added] =
          merged.try_emplace(fmt::format("{}|{}|{}|{}", item.part, item.thread, item.stream, named.name), named);
      if (!added) at->second.add(named);
    }
    std::vector<Item> all;
    for (auto& [key, item] : merged) all.push_back(item);
    std::sort(all.begin(), all.end(), [](const Item& a, const Item& b) {
      if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
      if (a.part != b.part) return a.part < b.part;
      return std::tie(a.name, a.thread, a.stream) < std::tie(b.name, b.thread, b.stream);
    });
    return all;
  }

 private:
  struct Place {
    uint32_t thread = kNone, stream = kNone;
  };
  struct Key {
    uint32_t part = 0;
    uint64_t name = 0;  // a key of PieceNames, or kOfNode with a kind of node and its subject; 0: none
    Place place;
    bool operator==(const Key& other) const {
      return part == other.part && name == other.name && place.thread == other.place.thread &&
             place.stream == other.place.stream;
    }
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      const uint64_t place = uint64_t{key.place.thread} << 32 | key.place.stream;
      return ((key.name ^ uint64_t{key.part} << 48) * 0x9e3779b97f4a7c15 ^ place) * 0xbf58476d1ce4e5b9 >> 7;
    }
  };
  static constexpr uint64_t kOfNode = uint64_t{1} << 63;

  static bool is_operation(const Node& node) { return (kind_bit(node.kind()) & kOperationNodes) != 0; }
  static uint64_t name_of(const Node& node) {
    if (node.kind() == NodeKind::Point) return 0;
    return kOfNode | uint64_t{node.subject()} << 4 | static_cast<uint64_t>(node.kind());
  }
  Place where(const Node& node) const {
    if (is_operation(node)) return {kNone, index(input_.trace.operations[node.row].stream())};
    return {thread(node), kNone};
  }
  uint32_t thread(const Node& node) const {
    return node.kind() == NodeKind::Point ? node.row : index(input_.trace.host[node.row].thread);
  }

  Item* add(uint32_t part, uint64_t name, Place place, int64_t begin_ns, int64_t end_ns) {
    Item& item = sums_[{part, name, place}];
    item.part = part;
    item.thread = place.thread, item.stream = place.stream;
    Item more;
    more.count = 1;
    more.longest_ns = more.time_ns = end_ns - begin_ns;
    more.longest_at_ns = begin_ns;
    more.idle_ns = idle_ns(begin_ns, end_ns);
    item.add(more);
    return &item;
  }
  int64_t idle_ns(int64_t begin_ns, int64_t end_ns) const {
    return end_ns - begin_ns - busy_.overlap_ns(begin_ns, end_ns);
  }

  // Adds the path outside the selection as one item, so that the parts still add up to the wall time.
  Item* add_elsewhere(int64_t begin_ns, int64_t end_ns) { return add(kNotSelected, 0, {}, begin_ns, end_ns); }

  // A call's own time. The profiler's work and the wait for a full queue are parts of their own, as in a gap.
  void add_call(const Node& node, const PathStep& step) {
    for (const GapPiece& piece : divider_.of_thread(thread(node), {step.start_ns, step.end_ns})) {
      const bool special = piece.part() == GapPart::Profiler || piece.part() == GapPart::QueueFull;
      const uint32_t part = special ? number_of(piece.part()) : own_part(node.kind());
      last_ =
          add(part, piece.part() == GapPart::Profiler ? 0 : name_of(node), where(node), piece.begin_ns, piece.end_ns);
    }
  }

  void add_edge(const Node& node, const PathStep& step) {
    if (step.start_ns == step.begin_ns) return;
    if (step.start_ns < step.begin_ns) {  // it started before the previous step ended
      if (last_ != nullptr) {
        last_->time_ns -= step.begin_ns - step.start_ns;
        last_->idle_ns -= idle_ns(step.start_ns, step.begin_ns);
      }
      return;
    }
    if (!selected_.has(node)) {
      last_ = add_elsewhere(step.begin_ns, step.start_ns);
    } else if (node.has(kNodeUnexplained)) {
      unexplained_.push_back(
          {{step.begin_ns, step.start_ns}, name_of(node), is_operation(node) ? where(node) : Place{}});
    } else if (is_operation(node)) {
      add_start(node, step);
    } else if (node.has(kNodeBoundByOther)) {
      last_ = add(kHandoff, name_of(node), where(node), step.begin_ns, step.start_ns);
    } else {
      add_host_time(node, step);
    }
  }

  // What a thread did between two nodes, as in the host's part of a gap.
  void add_host_time(const Node& node, const PathStep& step) {
    for (const GapPiece& piece : divider_.of_thread(thread(node), {step.begin_ns, step.start_ns})) {
      last_ = add(static_cast<uint32_t>(piece.charge.number()), names_.key({}, piece), {piece.thread, kNone},
                  piece.begin_ns, piece.end_ns);
    }
  }

  // From what an operation waited for until its start, as in the device's part of a gap.
  void add_start(const Node& node, const PathStep& step) {
    for (const GapPiece& piece : divider_.of_start(node.row, step.begin_ns, node.has(kNodeBoundByOther))) {
      if (piece.begin_ns >= step.start_ns) break;  // the window ends before the operation starts
      last_ = add(static_cast<uint32_t>(piece.charge.number()), name_of(node), where(node), piece.begin_ns,
                  std::min(piece.end_ns, step.start_ns));
    }
  }

  struct Unexplained {
    Interval time;
    uint64_t name = 0;
    Place place;
  };

  // The time for which no edge is known. Where no device was busy, it is divided like the gap that an operation ended.
  void divide_unexplained() {
    if (unexplained_.empty()) return;
    const Interval all{unexplained_.front().time.begin_ns, unexplained_.back().time.end_ns};
    std::vector<Interval> divided;
    std::unordered_set<int64_t> ends;  // two devices may go on at the same moment
    divide_gaps(
        input_.trace, input_.views, Selection(), all, [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
          const auto& busy = busy_.parts();
          const auto next = std::partition_point(busy.begin(), busy.end(),
                                                 [&](const Interval& part) { return part.begin_ns < gap.end_ns; });
          const Interval idle{next == busy.begin() ? gap.begin_ns : std::max(gap.begin_ns, next[-1].end_ns),
                              gap.end_ns};
          auto each = std::partition_point(unexplained_.begin(), unexplained_.end(),
                                           [&](const Unexplained& edge) { return edge.time.end_ns <= idle.begin_ns; });
          if (each == unexplained_.end() || each->time.begin_ns >= idle.end_ns || !ends.insert(gap.end_ns).second)
            return;
          for (; each != unexplained_.end() && each->time.begin_ns < idle.end_ns; ++each) {
            for (const GapPiece& piece : pieces) {
              const Interval part = inside(piece, std::max(idle.begin_ns, each->time.begin_ns), each->time.end_ns);
              if (part.length_ns() == 0) continue;
              Place place{piece.thread, kNone};
              if (piece.thread == kNone && gap.operation != kNone)
                place.stream = index(input_.trace.operations[gap.operation].stream());
              add(static_cast<uint32_t>(piece.charge.number()), names_.key(gap, piece), place, part.begin_ns,
                  part.end_ns);
              divided.push_back(part);
            }
          }
        });
    const IntervalSet known(std::move(divided));
    for (const Unexplained& each : unexplained_) {
      const IntervalSet rest = known.gaps(each.time.begin_ns, each.time.end_ns);
      for (const Interval& part : rest.parts()) add(kUnexplained, each.name, each.place, part.begin_ns, part.end_ns);
    }
  }

  std::string_view text_of(uint64_t key) {
    if ((key & kOfNode) != 0)
      return node_name(input_, static_cast<NodeKind>(key & 15), static_cast<uint32_t>(key >> 4));
    const auto [text, added] = texts_.try_emplace(key);
    if (added) text->second = names_.text(key);
    return text->second;
  }

  const AnalysisInput& input_;
  const DependencyGraph& graph_;
  const NodeSelection& selected_;
  const PieceNames& names_;
  const IntervalSet& busy_;
  GapDivider& divider_;
  std::unordered_map<Key, Item, KeyHash> sums_;
  std::unordered_map<uint64_t, std::string> texts_;
  std::vector<Unexplained> unexplained_;  // in order of time
  Item* last_ = nullptr;                  // of sums_: references into it stay valid
};

// `names`: process_names() of an input of several processes, else empty.
std::string place(const Trace& trace, const Item& item, const std::vector<std::string>& names) {
  const auto of = [&](ProcessId process) { return names.empty() ? std::string() : names[index(process)] + " "; };
  if (item.thread != kNone) {
    const Thread& thread = trace.threads[item.thread];
    return of(thread.process) + fmt::format("thread {}", thread.tid);
  }
  if (item.stream == kNone) return "";
  const Stream& stream = trace.streams[item.stream];
  const Device& device = trace.device(stream.device);
  return of(device.process) + fmt::format("device {} stream {}", device.ordinal, stream.number);
}

void add_row(Table& table, const AnalysisInput& input, const Window& window, int64_t wall_ns, const Item& item,
             bool sum, bool with_window, const std::vector<std::string>& names) {
  Table::Row row = table.row();
  if (with_window) row.add(window.label);
  row.add(part_text(item.part))
      .add(sum ? std::string_view("all") : item.name)
      .add(sum ? std::string() : place(input.trace, item, names))
      .add(item.count)
      .add(item.time_ns)
      .add(wall_ns > 0 ? 100 * static_cast<double>(item.time_ns) / static_cast<double>(wall_ns) : 0.0)
      .add(item.longest_ns)
      .add(item.longest_at_ns)
      .add(item.idle_ns);
}

}  // namespace

Table report_critical_path(const AnalysisInput& input) {
  Table table("critical-path", "Critical path: what the wall time consists of");
  const std::vector<Window> windows = graph_windows(input);
  add_window_column(table, windows);
  table.add_columns({ColumnId::part, ColumnId::item, ColumnId::where, ColumnId::steps, ColumnId::time});
  table.add_column(ColumnId::wall_percent, 1);
  table.add_columns({ColumnId::longest, ColumnId::at, ColumnId::all_idle});
  const NodeSelection selected(input);
  const PieceNames names(input);
  const IntervalSet busy = busy_of_all(input.trace);
  GapDivider divider(input.trace, input.views);
  const std::vector<std::string> processes =
      has_several_processes(input.trace) ? process_names(input.trace) : std::vector<std::string>();
  bool silent = false;
  for (const Window& window : windows) {
    const DependencyGraph graph = make_graph(input, window);
    add_graph_notes(table, input, window, graph);
    PathSums sums(input, graph, selected, names, busy, divider);
    sums.run();
    const std::vector<Item> items = sums.items();
    std::vector<Item> parts(kPathParts);
    for (const Item& item : items) {
      parts[item.part].part = item.part;
      parts[item.part].add(item);
    }
    std::erase_if(parts, [](const Item& part) { return part.count == 0; });
    silent |= std::any_of(parts.begin(), parts.end(), [](const Item& part) {
      return part.part < kGapCharges && may_wait_for_silent_threads(GapCharge::of_number(part.part).part);
    });
    std::stable_sort(parts.begin(), parts.end(), [](const Item& a, const Item& b) { return a.time_ns > b.time_ns; });
    for (const Item& part : parts)
      add_row(table, input, window, graph.wall_ns(), part, true, windows.size() > 1, processes);
    for (const Item& item : items) {
      if (item.part != kNotSelected)
        add_row(table, input, window, graph.wall_ns(), item, false, windows.size() > 1, processes);
    }
  }
  if (silent) table.notes.push_back(std::string(kSilentThreads));
  add_clock_notes(table, input.trace);
  return table;
}

}  // namespace prof::analyzer
