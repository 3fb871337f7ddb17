#include "analyzer/model/hardware_counters.h"

#include "analyzer/model/trace.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

const CounterRow* find_row(const Column<CounterRow>& rows, uint32_t of) {
  const CounterRow* const at = std::lower_bound(rows.begin(), rows.end(), of,
                                                [](const CounterRow& row, uint32_t wanted) { return row.of < wanted; });
  return at != rows.end() && at->of == of ? at : nullptr;
}

// Sorts by `of`. Of several rows with the same `of` the first remains.
template <class Count> void sort_rows(Column<CounterRow>& rows, size_t first, Count&& count) {
  const auto before = [](const CounterRow& a, const CounterRow& b) {
    return a.of != b.of ? a.of < b.of : a.first < b.first;
  };
  if (!std::is_sorted(rows.begin() + first, rows.end(), before)) std::sort(rows.begin() + first, rows.end(), before);
  size_t kept = first;
  for (size_t i = first; i < rows.size(); ++i) {
    const CounterRow row = rows[i];
    const bool again = kept != first && rows[kept - 1].of == row.of;
    count(row.of, again);
    if (!again) rows[kept++] = row;
  }
  rows.resize(kept);
}

}  // namespace

void order_counters(Trace& trace, CounterMark before) {
  const auto coverage_of = [&](ThreadId thread) -> Coverage& {
    return trace.processes[index(trace.thread(thread).process)].coverage;
  };
  sort_rows(trace.counters.launches, before.launches, [&](uint32_t of, bool again) {
    Coverage& coverage = coverage_of(trace.host[of].thread);
    ++(again ? coverage.counters_again : coverage.counters_of_launches);
  });
  sort_rows(trace.counters.ranges, before.ranges, [&](uint32_t of, bool again) {
    Coverage& coverage = coverage_of(trace.ranges[of].thread);
    ++(again ? coverage.counters_again : coverage.counters_of_ranges);
  });
}

const CounterRow* CounterTable::of_launch(uint32_t host_row) const { return find_row(launches, host_row); }
const CounterRow* CounterTable::of_range(uint32_t range_row) const { return find_row(ranges, range_row); }

const CounterRow* CounterTable::of_operation(const Trace& trace, uint32_t operation) const {
  if (launches.empty()) return nullptr;
  const GpuOperation& each = trace.operations[operation];
  if (!each.linked()) return nullptr;
  const HostKind launch = trace.host[each.launch].kind();
  const bool whole =
      (each.kind() == GpuKind::Kernel && launch == HostKind::KernelLaunch) ||
      (launch == HostKind::GraphLaunch &&
       (each.kind() == GpuKind::Graph || (each.kind() == GpuKind::Kernel && index_in_graph(each.graph_node) == 0)));
  return whole ? of_launch(each.launch) : nullptr;
}

uint32_t metric_index(const Trace& trace, const CounterSet& set, std::string_view name) {
  for (uint32_t i = 0; i < set.metrics.size(); ++i) {
    if (trace.text(set.metrics[i]) == name) return i;
  }
  return UINT32_MAX;
}

}  // namespace prof::analyzer
