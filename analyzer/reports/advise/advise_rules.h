// What may be wrong with a run, and what to do about it: one rule a row. A rule looks for a pattern, says what it saw and names
// the scenario that would undo it; how much that would save is the replay's answer, never the rule's. Used by advise.
#pragma once

#include "analyzer/analysis/critical/run_graph.h"
#include "analyzer/analysis/idle/gaps.h"
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

// What rules need of the whole input, made once however many windows are asked about.
class AdviceShared {
 public:
  AdviceShared(const AnalysisInput& input, const std::vector<Window>& windows);

  // Gaps of the selected devices that overlap the window, by device, then by time.
  std::vector<Gap> gaps(const Window& window) const;
  // Rows of operations that the legacy default stream put behind another stream, sorted.
  const std::vector<uint32_t>& ordered_by_legacy() const { return ordered_by_legacy_; }
  // Blocks per SM of a kernel on a device, at most 1; 1 where it is not known.
  double fill(DeviceId device, uint32_t kernel) const {
    const std::vector<double>& of_device = fills_[index(device)];
    return kernel < of_device.size() ? of_device[kernel] : 1.0;
  }
  // For one rule alone, as rules are asked on several threads. Goes on from the window before where that ended earlier.
  void enter(const Window& window);
  HostCursor& cursor(ThreadId thread);

 private:
  const Trace& trace_;
  std::vector<Gap> gaps_;
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
  int64_t floor_ns = 0;  // the run cannot get shorter than this
  // The longest instance: rows of Trace::host and Trace::operations, kNone where there is none.
  uint32_t call = kNone, operation = kNone;
  uint32_t culprit =
      kNone;             // row of Trace::host whose code is to be shown, where it is not that of the longest instance
  Interval shown{};      // the window that shows it; empty: that of the longest instance
  std::string_view see;  // the report that lists the rows
};

// Rules are asked at the same time: what they share is only read.
struct AdviceRule {
  std::string_view name;
  void (*find)(const AdviceInput& input, std::vector<Advice>& found);
  bool slow = false;  // keeps something of every node: asked first, so that no core is left waiting for it
};

std::span<const AdviceRule> advice_rules();

// Which nodes of a kind a rule is about, counted as they are found.
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

// For Change::only. Holds the rows as long as the scenario lives.
inline std::function<bool(uint32_t)> only(FoundNodes&& found) {
  return [rows = std::make_shared<const std::vector<bool>>(std::move(found.rows))](uint32_t row) {
    return row < rows->size() && (*rows)[row];
  };
}

// take(node): the selected nodes of these kinds.
template <class Take> void each_node(const AdviceInput& in, uint32_t kinds, Take&& take) {
  in.graph.each_node(kinds, [&](uint32_t, const Node& node) {
    if (in.selected.has(node)) take(node);
  });
}

inline const GpuOperation& operation_of(const AdviceInput& in, const Node& node) {
  return in.input.trace.operations[node.row];
}

// Row of the longest call of those that concern the scenario's first change; kNone if there is none.
uint32_t longest_call(const AdviceInput& in, const Scenario& scenario);

// Rules about copies and memsets: advise_copies.cpp.
void blocking_memsets(const AdviceInput& in, std::vector<Advice>& found);
void blocking_copies(const AdviceInput& in, std::vector<Advice>& found);
void pageable_copies(const AdviceInput& in, std::vector<Advice>& found);
void small_copies(const AdviceInput& in, std::vector<Advice>& found);
void copies_not_overlapped(const AdviceInput& in, std::vector<Advice>& found);

// Rules about the host and what it keeps the devices waiting for: advise_host.cpp.
void idle_device(const AdviceInput& in, std::vector<Advice>& found);
void low_use(const AdviceInput& in, std::vector<Advice>& found);
void slow_launches(const AdviceInput& in, std::vector<Advice>& found);
void other_calls(const AdviceInput& in, std::vector<Advice>& found);
void host_work_in(const AdviceInput& in, std::vector<Advice>& found);

// Rules about work that is spread unevenly: advise_balance.cpp.
void small_grids(const AdviceInput& in, std::vector<Advice>& found);
void device_imbalance(const AdviceInput& in, std::vector<Advice>& found);
void late_rank(const AdviceInput& in, std::vector<Advice>& found);

}  // namespace prof::analyzer
