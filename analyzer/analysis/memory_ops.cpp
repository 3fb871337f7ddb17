// memory-ops: which ops allocated the most, and whose memory was live at the peak?
#include "analyzer/analysis/memory_timeline.h"
#include "analyzer/analysis/statistics.h"
#include "analyzer/model/event_names.h"

#include <algorithm>
#include <map>

namespace prof::analyzer {

namespace {

struct Sum {
  uint64_t allocations = 0;
  int64_t allocated = 0, largest = 0, at_peak = 0, left = 0;
};

}  // namespace

Table report_memory_ops(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("memory-ops", "Memory by the op that allocated it");
  table.add_column("PID", "pid", CellType::Count);
  table.add_column("Where", "where", CellType::Text);
  table.add_column("Allocations", "allocations", CellType::Count);
  table.add_column("Allocated (B)", "allocated_bytes", CellType::Count);
  table.add_column("Largest (B)", "largest_bytes", CellType::Count);
  table.add_column("Live at peak (B)", "peak_bytes", CellType::Count);
  table.add_column("Of peak (%)", "peak_percent", CellType::Real, 1);
  table.add_column("Live at end (B)", "end_bytes", CellType::Count);
  table.add_column("Name", "name", CellType::Text);
  table.notes.push_back("name: the innermost op or range in which it was allocated, empty for none");
  const EventNames& names = input.views.event_names();
  for (const MemoryTimeline& timeline : memory_timelines(input)) {
    const uint32_t peak = timeline.peak(input.selection);
    if (peak == kNone) continue;
    const auto name_of = [&](const MemoryChange& change) {
      return change.range == kNone ? StringId{} : names.of(trace.ranges[change.range]);
    };
    std::map<StringId, Sum> sums;
    for (uint32_t i = 0; i < timeline.changes.size(); ++i) {
      const MemoryChange& change = timeline.changes[i];
      if (change.bytes > 0) {
        Sum& sum = sums[name_of(change)];
        if (i <= peak) sum.at_peak = add_saturated(sum.at_peak, change.bytes);
        sum.left = add_saturated(sum.left, change.bytes);
        if (!input.selection.in_window(change.time_ns, change.time_ns)) continue;
        ++sum.allocations;
        sum.allocated = add_saturated(sum.allocated, change.bytes);
        sum.largest = std::max(sum.largest, change.bytes);
      } else if (change.allocation != kNone) {
        const MemoryChange& made = timeline.changes[change.allocation];
        Sum& sum = sums[name_of(made)];
        if (i <= peak) sum.at_peak = add_saturated(sum.at_peak, -made.bytes);  // made: above 0
        sum.left = add_saturated(sum.left, -made.bytes);
      }
    }
    std::vector<std::pair<StringId, Sum>> rows(sums.begin(), sums.end());
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second.at_peak != b.second.at_peak ? a.second.at_peak > b.second.at_peak
                                                  : a.second.allocated > b.second.allocated;
    });
    const int64_t peak_bytes = timeline.changes[peak].live;
    for (const auto& [name, sum] : rows) {
      Table::Row row = table.row();
      row.add(trace.processes[timeline.process].pid).add(std::string_view(place_text(timeline)));
      row.add(sum.allocations).add(sum.allocated).add(sum.largest).add(sum.at_peak);
      if (peak_bytes > 0) {
        row.add(100 * static_cast<double>(sum.at_peak) / static_cast<double>(peak_bytes));
      } else {
        row.empty();
      }
      row.add(sum.left);
      if (name != StringId{}) row.add(names.text(name));
    }
  }
  return table;
}

}  // namespace prof::analyzer
