// node_memory(): how much memory did each node of the event tree allocate and release?
#include "analyzer/base/saturated.h"
#include "analyzer/model/event_tree.h"

#include <algorithm>

namespace prof::analyzer {

MemoryUse& MemoryUse::operator+=(const MemoryUse& other) {
  host = add_saturated(host, other.host);
  device = add_saturated(device, other.device);
  return *this;
}

MemoryUse& MemoryUse::operator-=(const MemoryUse& other) {
  __builtin_sub_overflow(host, other.host, &host);
  __builtin_sub_overflow(device, other.device, &device);
  return *this;
}

namespace {

MemoryUse use_of(const MemoryEvent& event) {
  return event.device == kNone ? MemoryUse{event.bytes, 0} : MemoryUse{0, event.bytes};
}

// Adds each event to the innermost node of its thread that contains its moment, both ends included.
void add_own(const Trace& trace, const EventTree& tree, NodeMemory& memory) {
  std::vector<std::vector<uint32_t>> of_thread(trace.threads.size());
  for (uint32_t row = 0; row < trace.memory.size(); ++row) of_thread[index(trace.memory[row].thread)].push_back(row);
  std::vector<uint32_t> open;
  for (uint32_t thread = 0; thread < of_thread.size(); ++thread) {
    const Rows nodes = tree.of_thread(ThreadId{thread});
    uint32_t next = nodes.first;
    open.clear();
    for (const uint32_t row : of_thread[thread]) {
      const int64_t time_ns = trace.memory[row].time_ns;
      for (; next < nodes.last && tree.begin_ns(next) <= time_ns; ++next) {
        const Range* const range = tree.range(next);
        if (range != nullptr && range->kind == RangeKind::Overhead) continue;
        while (!open.empty() && open.back() != tree[next].parent) open.pop_back();
        open.push_back(next);
      }
      while (!open.empty() && tree.end_ns(open.back()) < time_ns) open.pop_back();
      if (open.empty()) {
        memory.outside.push_back(row);
      } else {
        memory.self[open.back()] += use_of(trace.memory[row]);
      }
    }
  }
  std::sort(memory.outside.begin(), memory.outside.end());
  memory.total = memory.self;
  for (uint32_t node = tree.size(); node-- > 0;) {
    if (tree[node].parent != kNone) memory.total[tree[node].parent] += memory.total[node];
  }
}

// The memory events of one process in order of time, with sums up to each.
struct Timeline {
  std::vector<uint32_t> rows;
  std::vector<MemoryUse> sums{MemoryUse{}};  // of the first i events
  std::vector<int> opened{0};                // nodes that begin with event i minus nodes that ended before it
};

void add_of_any_thread(const Trace& trace, const EventTree& tree, NodeMemory& memory) {
  std::vector<Timeline> timelines(trace.processes.size());
  for (uint32_t row = 0; row < trace.memory.size(); ++row) {
    Timeline& timeline = timelines[index(trace.thread(trace.memory[row].thread).process)];
    MemoryUse sum = timeline.sums.back();
    timeline.sums.push_back(sum += use_of(trace.memory[row]));
    timeline.rows.push_back(row);
    timeline.opened.push_back(0);
  }
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    Timeline& timeline = timelines[index(trace.threads[thread].process)];
    const Rows nodes = tree.of_thread(ThreadId{thread});
    for (uint32_t node = nodes.first; node < nodes.last; ++node) {
      const auto before = [&](uint32_t row, int64_t time_ns) { return trace.memory[row].time_ns < time_ns; };
      const auto after = [&](int64_t time_ns, uint32_t row) { return time_ns < trace.memory[row].time_ns; };
      const auto& rows = timeline.rows;
      const auto first = std::lower_bound(rows.begin(), rows.end(), tree.begin_ns(node), before) - rows.begin();
      const auto last = std::upper_bound(rows.begin(), rows.end(), tree.end_ns(node), after) - rows.begin();
      if (first >= last) continue;
      ++timeline.opened[static_cast<size_t>(first)];
      --timeline.opened[static_cast<size_t>(last)];
      memory.total[node] += timeline.sums[static_cast<size_t>(last)];
      memory.total[node] -= timeline.sums[static_cast<size_t>(first)];
    }
  }
  for (const Timeline& timeline : timelines) {
    int open = 0;
    for (size_t i = 0; i < timeline.rows.size(); ++i) {
      if ((open += timeline.opened[i]) == 0) memory.outside.push_back(timeline.rows[i]);
    }
  }
  std::sort(memory.outside.begin(), memory.outside.end());
  memory.self = memory.total;
  for (uint32_t node = 0; node < tree.size(); ++node) {
    if (tree[node].parent != kNone) memory.self[tree[node].parent] -= memory.total[node];
  }
}

}  // namespace

NodeMemory node_memory(const Trace& trace, const EventTree& tree, bool any_thread) {
  NodeMemory memory;
  if (trace.memory.empty()) return memory;
  memory.self.resize(tree.size());
  memory.total.resize(tree.size());
  if (any_thread) {
    add_of_any_thread(trace, tree, memory);
  } else {
    add_own(trace, tree, memory);
  }
  return memory;
}

}  // namespace prof::analyzer
