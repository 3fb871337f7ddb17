// Rules about copies and memsets: those that block their caller, use pageable memory, are many and small, move the same
// amount again and again, or overlap nothing; and what moving less would save.
#include "analyzer/reports/advise/advise_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr uint64_t kManyCopies = 10, kSmallCopyBytes = 64 * 1024;
constexpr uint32_t kToDevice = 1, kFromDevice = 2;  // CUPTI's copy kinds

bool sets_memory(const NamedNodes& nodes) { return nodes.name.find("Memset") != std::string_view::npos; }

bool between_host_and_device(const GpuOperation& copy) {
  return copy.copy_kind() == kToDevice || copy.copy_kind() == kFromDevice;
}

DeviceId device_of(const Trace& trace, const GpuOperation& operation) {
  return trace.stream(operation.stream()).device;
}

// What helps copies to run beside kernels depends on the memory: pinned memory need not be pinned.
std::string_view overlap_action(bool pageable) {
  return pageable ? "copy on a stream of its own, one batch ahead, from pinned memory"
                  : "copy on a stream of its own, one batch ahead";
}

// The remaining time of a copy, given its row and its time; empty: none.
using Remaining = std::function<int64_t(uint32_t row, int64_t time_ns)>;

// Adds a finding about the copies for which take() is true, and about the calls that launched them.
template <class Take>
void some_copies(const AdviceInput& in, uint64_t at_least, Advice advice, std::vector<Advice>& found, Take&& take,
                 const Remaining& remaining = {}) {
  FoundNodes copies, calls;
  uint64_t bytes = 0;
  each_node(in, kind_bit(NodeKind::Copy), [&](const Node& node) {
    const GpuOperation& operation = operation_of(in, node);
    if (operation.is_migration() || !take(node.row, operation)) return;
    copies.add(node.row, operation.duration_ns());
    bytes += operation.bytes;
    if (operation.linked()) calls.add(operation.launch, in.input.trace.host[operation.launch].duration_ns());
  });
  if (copies.count < at_least) return;
  advice.evidence = fmt::format("{} copies, {} bytes, {}; {} in their calls", copies.count, bytes,
                                scaled_time(copies.time_ns), scaled_time(calls.time_ns));
  advice.call = calls.longest;
  advice.operation = copies.longest;
  const auto of_copies = only(std::move(copies)), of_calls = only(std::move(calls));
  advice.scenario = {{kind_bit(NodeKind::Copy), kPartOwn, 0, 0, {}, of_copies, remaining},
                     {kind_bit(NodeKind::Copy), kPartOther, 0, 0, {}, of_copies},
                     {kind_bit(NodeKind::MemoryCall), kPartOwn, 0, 0, {}, of_calls}};
  found.push_back(std::move(advice));
}

// A name of the direction and the device of a copy, for sentences.
std::string direction_text(const Trace& trace, const GpuOperation& copy) {
  const char* const direction = copy.copy_kind() == kToDevice ? "to" : "from";
  return fmt::format("{} device {}", direction, trace.device(device_of(trace, copy)).ordinal);
}

// Whether one of these calls copied from or to pageable memory.
bool blocks_with_pageable(const AdviceInput& in, const NamedNodes& calls) {
  return any_pageable_copy(in, [&](const Node& node) {
    const GpuOperation& copy = operation_of(in, node);
    if (!copy.linked() || !in.selected.has(node)) return false;
    const uint32_t api = in.input.trace.host[copy.launch].api();
    return api < calls.subjects.size() && calls.subjects[api];
  });
}

// The report that lists what these calls did: their copies and memsets, or the calls if the input has none of theirs.
std::string rows_of_calls(const AdviceInput& in, const NamedNodes& calls) {
  bool any = false;
  each_node(in, kind_bit(NodeKind::Copy) | kind_bit(NodeKind::Fill), [&](const Node& node) {
    const GpuOperation& operation = operation_of(in, node);
    if (any || !operation.linked()) return;
    const uint32_t api = in.input.trace.host[operation.launch].api();
    any = api < calls.subjects.size() && calls.subjects[api];
  });
  return any ? "copies" : "api-trace";
}

}  // namespace

void blocking_memsets(const AdviceInput& in, std::vector<Advice>& found) {
  for (const NamedNodes& nodes : in.named) {
    if (nodes.kind != NodeKind::MemoryCall || nodes.returns == 0 || !sets_memory(nodes)) continue;
    Advice advice;
    advice.see = rows_of_calls(in, nodes);
    advice.finding = fmt::format("{} of pinned or managed memory holds its caller until it is done", nodes.name);
    advice.evidence = fmt::format("{} of {} calls waited", nodes.returns, nodes.count);
    advice.action = "use cudaMemsetAsync on the stream that needs it, or set the memory on the host";
    advice.scenario = without_blocked_copies(in.graph.dependencies());
    advice.scenario.front().subjects = nodes.subjects;
    advice.call = longest_call(in, advice.scenario);
    found.push_back(std::move(advice));
  }
}

void blocking_copies(const AdviceInput& in, std::vector<Advice>& found) {
  for (const NamedNodes& nodes : in.named) {
    if (nodes.kind != NodeKind::MemoryCall || nodes.returns == 0 || sets_memory(nodes)) continue;
    Advice advice;
    advice.see = rows_of_calls(in, nodes);
    advice.finding = fmt::format("{} holds its caller until the copy is done", nodes.name);
    advice.evidence = fmt::format("{} of {} calls waited", nodes.returns, nodes.count);
    advice.action =
        blocks_with_pageable(in, nodes)
            ? "copy asynchronously to pinned memory and wait later; in PyTorch avoid .item(), .cpu(), "
              "print() of a tensor in the loop, and copy with non_blocking=True"
            : "copy asynchronously and wait later; in PyTorch avoid .item(), .cpu(), print() of a tensor in "
              "the loop, and copy with non_blocking=True";
    advice.scenario = without_blocked_copies(in.graph.dependencies());
    advice.scenario.front().subjects = nodes.subjects;
    advice.call = longest_call(in, advice.scenario);
    found.push_back(std::move(advice));
  }
}

void pageable_copies(const AdviceInput& in, std::vector<Advice>& found) {
  Advice advice;
  advice.see = "copies";
  advice.finding = "copies of pageable memory";
  advice.action = "allocate with cudaHostAlloc, or pin_memory=True in the DataLoader: faster and asynchronous";
  some_copies(in, 1, std::move(advice), found,
              [](uint32_t, const GpuOperation& copy) { return copy.touches_memory(kPageableMemory); });
}

void small_copies(const AdviceInput& in, std::vector<Advice>& found) {
  Advice advice;
  advice.see = "copies";
  advice.finding = "many copies of 64 KiB or less";
  advice.action = "gather them in one buffer and copy once";
  some_copies(in, kManyCopies, std::move(advice), found,
              [](uint32_t, const GpuOperation& copy) { return copy.bytes <= kSmallCopyBytes; });
}

void moved_data(const AdviceInput& in, std::vector<Advice>& found) {
  std::map<std::tuple<uint32_t, uint32_t>, std::pair<int64_t, uint32_t>> by_direction;  // time, one copy
  each_node(in, kind_bit(NodeKind::Copy), [&](const Node& node) {
    const GpuOperation& copy = operation_of(in, node);
    if (copy.is_migration() || !between_host_and_device(copy)) return;
    auto& [time_ns, row] = by_direction[{index(device_of(in.input.trace, copy)), copy.copy_kind()}];
    grow(time_ns, in.graph.time(node.own));
    row = node.row;
  });
  if (by_direction.empty()) return;
  const auto most = std::max_element(by_direction.begin(), by_direction.end(),
                                     [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  Advice advice;
  advice.see = "copies";
  advice.finding = fmt::format("data is moved between host and device, for {} of {} {}",
                               scaled_time(most->second.first), scaled_time(in.window.length_ns()),
                               direction_text(in.input.trace, in.input.trace.operations[most->second.second]));
  advice.action =
      "move less: a smaller data type, only what is used, results reduced on the device; prepare data on the device";
  some_copies(in, 1, std::move(advice), found,
              [](uint32_t, const GpuOperation& copy) { return between_host_and_device(copy); });
}

// Copies of one amount in one direction of one device. The first one is needed, the others may move what is there
// already: the trace does not show contents.
void repeated_copies(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  struct Group {
    uint64_t count = 0;
    int64_t time_ns = 0, first_ns = std::numeric_limits<int64_t>::max();
    uint32_t first = kNone;
  };
  using Key = std::tuple<uint32_t, uint32_t, uint64_t>;  // device, direction, bytes
  const auto key_of = [&](const GpuOperation& copy) {
    return Key{index(device_of(trace, copy)), copy.copy_kind(), copy.bytes};
  };
  std::map<Key, Group> groups;
  each_node(in, kind_bit(NodeKind::Copy), [&](const Node& node) {
    const GpuOperation& copy = operation_of(in, node);
    if (copy.is_migration() || copy.copy_kind() != kToDevice) return;
    Group& group = groups[key_of(copy)];
    ++group.count;
    grow(group.time_ns, copy.duration_ns());
    if (copy.start_ns >= group.first_ns) return;
    group.first_ns = copy.start_ns;
    group.first = node.row;
  });
  std::erase_if(groups, [](const auto& group) { return group.second.count < kManyCopies; });
  if (groups.empty()) return;
  const auto most = std::max_element(groups.begin(), groups.end(),
                                     [](const auto& a, const auto& b) { return a.second.time_ns < b.second.time_ns; });
  Advice advice;
  advice.see = "gpu-trace";
  advice.finding = fmt::format("the same amount is copied {} again and again: {} times {} bytes",
                               direction_text(trace, trace.operations[most->second.first]), most->second.count,
                               std::get<2>(most->first));
  advice.action = "if it is the same data, copy it once and keep it on the device";
  some_copies(in, 1, std::move(advice), found, [&](uint32_t row, const GpuOperation& copy) {
    const auto group = groups.find(key_of(copy));
    return group != groups.end() && group->second.first != row;
  });
}

// Copies to the host that are followed by a copy of the same amount to the same device.
void round_trips(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  std::vector<uint32_t> rows;
  each_node(in, kind_bit(NodeKind::Copy), [&](const Node& node) {
    const GpuOperation& copy = operation_of(in, node);
    if (!copy.is_migration() && between_host_and_device(copy) && copy.bytes != 0) rows.push_back(node.row);
  });
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return trace.operations[a].start_ns < trace.operations[b].start_ns; });
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> on_host;  // device and bytes -> the latest copy to the host
  std::vector<bool> there_and_back;
  uint64_t trips = 0;
  for (const uint32_t row : rows) {
    const GpuOperation& copy = trace.operations[row];
    const std::pair key{index(device_of(trace, copy)), uint64_t{copy.bytes}};
    if (copy.copy_kind() == kFromDevice) {
      on_host[key] = row;
      continue;
    }
    const auto from = on_host.find(key);
    if (from == on_host.end() || trace.operations[from->second].last_ns() > copy.start_ns) continue;
    there_and_back.resize(std::max<size_t>({there_and_back.size(), row + size_t{1}, from->second + size_t{1}}));
    there_and_back[row] = there_and_back[from->second] = true;
    on_host.erase(from);
    ++trips;
  }
  if (trips == 0) return;
  Advice advice;
  advice.see = "gpu-trace";
  advice.finding = fmt::format("the same amount is copied to the host and back to the device, {} times", trips);
  advice.action = "if it is the same data, do the work between the two copies on the device";
  some_copies(in, 2, std::move(advice), found,
              [&](uint32_t row, const GpuOperation&) { return row < there_and_back.size() && there_and_back[row]; });
}

// Many copies of one direction of one device that reach less than the best rate of that direction. In one batch they
// take as long as their bytes at that rate.
void slow_copies(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  struct Direction {
    uint64_t count = 0;
    double best_rate = 0;  // bytes per ns
  };
  const auto key_of = [&trace](const GpuOperation& copy) {
    return std::pair{index(device_of(trace, copy)), copy.detail};
  };
  auto directions = std::make_shared<std::map<std::pair<uint32_t, uint32_t>, Direction>>();
  each_node(in, kind_bit(NodeKind::Copy), [&](const Node& node) {
    const GpuOperation& copy = operation_of(in, node);
    if (copy.is_migration() || copy.duration_ns() == 0) return;
    Direction& direction = (*directions)[key_of(copy)];
    ++direction.count;
    direction.best_rate =
        std::max(direction.best_rate, static_cast<double>(copy.bytes) / static_cast<double>(copy.duration_ns()));
  });
  std::erase_if(*directions,
                [](const auto& each) { return each.second.count < kManyCopies || each.second.best_rate == 0; });
  if (directions->empty()) return;
  Advice advice;
  advice.see = "copies";
  advice.finding = "copies one by one, below the best rate of their direction";
  advice.action = "batch them: gather data in one buffer and copy it at once, or use cudaMemcpyBatchAsync";
  some_copies(
      in, kManyCopies, std::move(advice), found,
      [&](uint32_t, const GpuOperation& copy) { return directions->contains(key_of(copy)); },
      [directions, key_of, &trace](uint32_t row, int64_t) {
        const GpuOperation& copy = trace.operations[row];
        return static_cast<int64_t>(
            std::llround(static_cast<double>(copy.bytes) / directions->at(key_of(copy)).best_rate));
      });
}

void copies_not_overlapped(const AdviceInput& in, std::vector<Advice>& found) {
  FoundNodes copies;
  bool pageable = false;
  each_node(in, kind_bit(NodeKind::Copy), [&](const Node& node) {
    const GpuOperation& copy = operation_of(in, node);
    copies.add(node.row, copy.duration_ns());
    pageable |= copy.touches_memory(kPageableMemory);
  });
  if (copies.count == 0) return;
  Advice advice;
  advice.see = "copies";
  advice.finding = "copies that run while no kernel does";
  advice.evidence = fmt::format("{} copies, {}", copies.count, scaled_time(copies.time_ns));
  advice.action = overlap_action(pageable);
  advice.scenario = without_copies();
  advice.floor_ns = longest_copies_ns(in.graph, in.selected);
  advice.operation = copies.longest;
  found.push_back(std::move(advice));
}

}  // namespace prof::analyzer
