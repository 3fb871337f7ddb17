#include "analyzer/model/event_tree.h"

#include "analyzer/base/saturated.h"

#include <algorithm>

namespace prof::analyzer {

EventTree::EventTree(const Trace& trace, const EventNames& names, EventTreeOptions options)
    : trace_(trace), names_(names), options_(options) {
  of_range_.resize(trace.ranges.size());
  of_call_.resize(trace.host.size());
  std::fill(of_range_.begin(), of_range_.end(), kNone);
  std::fill(of_call_.begin(), of_call_.end(), kNone);
  nodes_.reserve(trace.ranges.size() + trace.host.size());
  self_ns_.reserve(trace.ranges.size() + trace.host.size());
  threads_.resize(trace.threads.size());
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) add_thread(ThreadId{thread});
  if (options_.merge) merge_only_children();
}

bool EventTree::takes(const Range& range) {
  if (range.style != RangeStyle::PushPop) return false;
  if (range.kind == RangeKind::Python) return options_.python;
  if (range.kind != RangeKind::Operator || !names_.is_filtered(names_.of(range))) return true;
  ++filtered_;
  return false;
}

// Ranges and calls of a thread are each sorted by start, longer ones first. A range encloses a call with the same
// times.
void EventTree::add_thread(ThreadId thread) {
  const Rows ranges = trace_.thread(thread).ranges, calls = trace_.thread(thread).host;
  Rows& rows = threads_[index(thread)];
  rows.first = size();
  uint32_t range = ranges.first, call = calls.first;
  while (range < ranges.last || call < calls.last) {
    bool range_first = call == calls.last;
    if (range < ranges.last && call < calls.last) {
      const Range& r = trace_.ranges[range];
      const HostEvent& c = trace_.host[call];
      range_first = r.begin_ns != c.begin_ns ? r.begin_ns < c.begin_ns : r.end_ns >= c.end_ns;
    }
    if (range_first) {
      const Range& r = trace_.ranges[range];
      if (takes(r)) {
        of_range_[range] = size();
        add(range, r.begin_ns, std::max(r.begin_ns, r.end_ns));
      }
      ++range;
    } else {
      const HostEvent& c = trace_.host[call];
      of_call_[call] = size();
      add(EventNode::kCall + call, c.begin_ns, std::max(c.begin_ns, c.end_ns));
      ++call;
    }
  }
  while (!open_.empty()) close();
  rows.last = size();
}

void EventTree::add(uint32_t source, int64_t begin_ns, int64_t end_ns) {
  const uint32_t node = size();
  const int64_t length_ns = time_between(begin_ns, end_ns);
  const bool apart = (source & EventNode::kCall) == 0 && trace_.ranges[source].kind == RangeKind::Overhead;
  if (apart) {
    nodes_.push_back({source, kNone});
    self_ns_.push_back(length_ns);
    return;
  }
  while (!open_.empty() && (begin_ns >= open_.back().end_ns || end_ns > open_.back().end_ns)) close();
  nodes_.push_back({source, open_.empty() ? kNone : open_.back().node});
  self_ns_.push_back(length_ns);
  if (!open_.empty()) {
    Open& parent = open_.back();
    parent.covered_ns += time_between(std::max(begin_ns, parent.covered_until_ns), end_ns);
    parent.covered_until_ns = std::max(parent.covered_until_ns, end_ns);
  }
  open_.push_back({node, end_ns, 0, begin_ns});
}

void EventTree::close() {
  self_ns_[open_.back().node] -= open_.back().covered_ns;
  open_.pop_back();
}

// torch.autograd.profiler's _remove_dup_nodes(). Parents come before their children, so one pass also merges chains.
void EventTree::merge_only_children() {
  Column<uint32_t> children, into;
  children.resize(size());
  into.resize(size());
  for (const EventNode& node : nodes_) {
    if (node.parent != kNone) ++children[node.parent];
  }
  for (uint32_t node = 0; node < size(); ++node) {
    into[node] = node;
    uint32_t& parent = nodes_[node].parent;
    if (parent == kNone) continue;
    parent = into[parent];
    if (children[parent] != 1 || name(parent) != name(node)) continue;
    into[node] = parent;
    children[parent] = children[node];
    self_ns_[parent] += self_ns_[node];
    ++merged_;
  }
  if (merged_ == 0) return;
  children.free();
  Column<uint32_t> place;  // new index of each remaining node
  place.resize(size());
  uint32_t kept = 0;
  for (Rows& rows : threads_) {
    const uint32_t first = kept;
    for (uint32_t node = rows.first; node < rows.last; ++node) {
      if (into[node] != node) {
        place[node] = place[into[node]];
        continue;
      }
      place[node] = kept;
      EventNode& moved = nodes_[kept] = nodes_[node];
      if (moved.parent != kNone) moved.parent = place[moved.parent];
      self_ns_[kept++] = self_ns_[node];
    }
    rows = {first, kept};
  }
  nodes_.resize(kept);
  self_ns_.resize(kept);
  for (uint32_t& node : of_range_) node = node == kNone ? kNone : place[node];
  for (uint32_t& node : of_call_) node = node == kNone ? kNone : place[node];
}

ThreadId EventTree::thread(uint32_t node) const {
  const Range* const r = range(node);
  return r != nullptr ? r->thread : call(node)->thread;
}

const Range* EventTree::range(uint32_t node) const {
  return nodes_[node].is_call() ? nullptr : &trace_.ranges[nodes_[node].row()];
}

const HostEvent* EventTree::call(uint32_t node) const {
  return nodes_[node].is_call() ? &trace_.host[nodes_[node].row()] : nullptr;
}

StringId EventTree::name(uint32_t node) const {
  const Range* const r = range(node);
  return r != nullptr ? names_.of(*r) : names_.of(*call(node));
}

int64_t EventTree::begin_ns(uint32_t node) const {
  const Range* const r = range(node);
  return r != nullptr ? r->begin_ns : call(node)->begin_ns;
}

int64_t EventTree::end_ns(uint32_t node) const {
  const Range* const r = range(node);
  return r != nullptr ? std::max(r->begin_ns, r->end_ns) : std::max(call(node)->begin_ns, call(node)->end_ns);
}

uint32_t node_of_operation(const EventTree& tree, const GpuOperation& operation, bool at_calls) {
  return operation.linked() ? node_of_launch(tree, operation.launch, at_calls) : kNone;
}

uint32_t node_of_launch(const EventTree& tree, uint32_t host_row, bool at_calls) {
  const uint32_t call = tree.of_call(host_row);
  uint32_t node = call;
  while (node != kNone && tree[node].is_call()) node = tree[node].parent;
  return node != kNone || !at_calls ? node : call;
}

void add_up(const EventTree& tree, Column<int64_t>& total) {
  for (uint32_t node = tree.size(); node-- > 0;) {
    const uint32_t parent = tree[node].parent;
    if (parent != kNone) total[parent] = add_saturated(total[parent], total[node]);
  }
}

}  // namespace prof::analyzer
