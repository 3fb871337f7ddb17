// What may be wrong with a run, and what can be done about it? Each row of the table is one rule. A rule looks for a
// pattern, describes it and names the scenario that would undo it. The replay alone computes the saving, never the
// rule. Used by advise.
#pragma once

#include "analyzer/analysis/critical/host_idle.h"
#include "analyzer/analysis/idle/host_cursor.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/base/saturated.h"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Data of the whole input that the rules need. It is computed once for all windows.
class AdviceShared {
 public:
  AdviceShared(const AnalysisInput& input, const std::vector<Window>& windows);

  // Idle time for which the host took the time.
  const HostIdle& host_idle() const { return *host_idle_; }
  // Rows of operations that the legacy default stream ordered after another stream, sorted.
  const std::vector<uint32_t>& ordered_by_legacy() const { return ordered_by_legacy_; }
  // Blocks per SM of a kernel on a device, at most 1. Returns 1 if the value is unknown.
  double fill(DeviceId device, uint32_t kernel) const {
    const std::vector<double>& of_device = fills_[index(device)];
    return kernel < of_device.size() ? of_device[kernel] : 1.0;
  }
  // For one rule only, because rules run on several threads. If the previous window ended earlier, the cursors continue
  // from there.
  void enter(const Window& window);
  HostCursor& cursor(ThreadId thread);

 private:
  const Trace& trace_;
  std::unique_ptr<const HostIdle> host_idle_;
  std::vector<uint32_t> ordered_by_legacy_;
  std::vector<std::vector<double>> fills_;
  std::vector<std::optional<HostCursor>> cursors_;
  int64_t entered_until_ns_ = std::numeric_limits<int64_t>::min();
};

struct AdviceInput {
  const AnalysisInput& input;
  AdviceShared& shared;
  const Window& window;
  const DependencyGraph& graph;
  const NodeSelection& selected;
  const std::vector<NamedNodes>& named;
};

struct Advice {
  std::string finding;   // what is wrong
  std::string evidence;  // how often, how long, where most
  std::string_view action;
  Scenario scenario;
  int64_t floor_ns = 0;  // the wall time cannot get shorter than this
  // The longest instance: rows of Trace::host and Trace::operations, or kNone.
  uint32_t call = kNone, operation = kNone;
  uint32_t culprit =
      kNone;           // row of Trace::host whose code is to be shown, if it is not the one of the longest instance
  StackId stack{};     // the code to be shown, if it is not that of a call
  Interval shown{};    // the window that shows it; empty: the window of the longest instance
  std::string see;     // the report that lists the rows, with the options that it needs for that
  std::string note{};  // if not empty: no finding, but a line of the header about why there is none
};

// Rules run in parallel. They only read the data that they share.
struct AdviceRule {
  std::string_view name;
  void (*find)(const AdviceInput& input, std::vector<Advice>& found);
  bool slow = false;  // examines every node, so it starts first and no core waits for it at the end
};

std::span<const AdviceRule> advice_rules();

inline constexpr uint32_t kPageableMemory = 1;  // CUPTI's memory kind

// The nodes of one kind that a rule selects, counted as they are found.
struct FoundNodes {
  std::vector<bool> rows;
  uint64_t count = 0;
  int64_t time_ns = 0, longest_ns = -1;
  uint32_t longest = kNone;  // row

  void add(uint32_t row, int64_t ns) {
    if (row >= rows.size()) rows.resize(std::max<size_t>(row + 1, rows.size() * 2));
    if (rows[row]) return;
    rows[row] = true;
    ++count;
    grow(time_ns, ns);
    if (ns > longest_ns) {
      longest_ns = ns;
      longest = row;
    }
  }
};

// A filter for Change::only. The filter owns the rows.
inline std::function<bool(uint32_t)> only(FoundNodes&& found) {
  return [rows = std::make_shared<const std::vector<bool>>(std::move(found.rows))](uint32_t row) {
    return row < rows->size() && (*rows)[row];
  };
}

// Calls take(node) for each selected node of these kinds.
template <class Take> void each_node(const AdviceInput& in, uint32_t kinds, Take&& take) {
  in.graph.each_node(kinds, [&](uint32_t, const Node& node) {
    if (in.selected.has(node)) take(node);
  });
}

inline const GpuOperation& operation_of(const AdviceInput& in, const Node& node) {
  return in.input.trace.operations[node.row];
}

// Whether a copy from or to pageable memory is among those for which take(node) is true, selected or not: a call delays
// a device even if it copies to another one.
template <class Take> bool any_pageable_copy(const AdviceInput& in, Take&& take) {
  bool found = false;
  in.graph.each_node(kind_bit(NodeKind::Copy), [&](uint32_t, const Node& node) {
    found = found || (operation_of(in, node).touches_memory(kPageableMemory) && take(node));
  });
  return found;
}

// Row of the longest call to which the scenario's first change applies; kNone if there is none.
uint32_t longest_call(const AdviceInput& in, const Scenario& scenario);

// Rules about copies and memsets: advise_copies.cpp.
void blocking_memsets(const AdviceInput& in, std::vector<Advice>& found);
void blocking_copies(const AdviceInput& in, std::vector<Advice>& found);
void pageable_copies(const AdviceInput& in, std::vector<Advice>& found);
void small_copies(const AdviceInput& in, std::vector<Advice>& found);
void moved_data(const AdviceInput& in, std::vector<Advice>& found);
void repeated_copies(const AdviceInput& in, std::vector<Advice>& found);
void round_trips(const AdviceInput& in, std::vector<Advice>& found);
void slow_copies(const AdviceInput& in, std::vector<Advice>& found);
void copies_not_overlapped(const AdviceInput& in, std::vector<Advice>& found);

// Rules about the host and about devices that wait for it: advise_host.cpp.
void idle_device(const AdviceInput& in, std::vector<Advice>& found);
void low_use(const AdviceInput& in, std::vector<Advice>& found);
void slow_launches(const AdviceInput& in, std::vector<Advice>& found);
void other_calls(const AdviceInput& in, std::vector<Advice>& found);
void host_work_in(const AdviceInput& in, std::vector<Advice>& found);

// Rules about uneven load: advise_balance.cpp.
void small_grids(const AdviceInput& in, std::vector<Advice>& found);
void device_imbalance(const AdviceInput& in, std::vector<Advice>& found);
void late_rank(const AdviceInput& in, std::vector<Advice>& found);

}  // namespace prof::analyzer
