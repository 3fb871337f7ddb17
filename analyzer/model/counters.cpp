#include "analyzer/model/counters.h"

#include "analyzer/model/trace.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

const CounterRow* find_row(const Column<CounterRow>& rows, uint32_t of) {
  const CounterRow* const at = std::lower_bound(rows.begin(), rows.end(), of,
                                                [](const CounterRow& row, uint32_t wanted) { return row.of < wanted; });
  return at != rows.end() && at->of == of ? at : nullptr;
}

}  // namespace

const CounterRow* CounterTable::of_launch(uint32_t host_row) const { return find_row(launches, host_row); }
const CounterRow* CounterTable::of_range(uint32_t range_row) const { return find_row(ranges, range_row); }

const CounterRow* CounterTable::of_operation(const Trace& trace, uint32_t operation) const {
  if (launches.empty()) return nullptr;
  const GpuOperation& each = trace.operations[operation];
  if (!each.linked()) return nullptr;
  const HostKind launch = trace.host[each.launch].kind();
  const bool whole = (each.kind() == GpuKind::Kernel && launch == HostKind::KernelLaunch) ||
                     (each.kind() == GpuKind::Graph && launch == HostKind::GraphLaunch);
  return whole ? of_launch(each.launch) : nullptr;
}

uint32_t metric_index(const Trace& trace, const CounterSet& set, std::string_view name) {
  for (uint32_t i = 0; i < set.metrics.size(); ++i) {
    if (trace.text(set.metrics[i]) == name) return i;
  }
  return UINT32_MAX;
}

}  // namespace prof::analyzer
