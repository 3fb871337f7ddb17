// unified-memory: how much managed memory moved between the CPU and each GPU, how fast, and how many faults occurred?
// Bandwidth is Σ bytes / Σ time of the migrations. Migrations are not copies of the program, so reports about copies
// do not contain them.
#include "analyzer/base/saturated.h"
#include "analyzer/model/unified_memory_text.h"
#include "analyzer/reports/reports.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace prof::analyzer {

namespace {

struct MigrationSum {
  uint64_t count = 0, value = 0;
  int64_t time_ns = 0, longest_ns = 0;
};

}  // namespace

Table report_unified_memory(const AnalysisInput& input) {
  Table table("unified-memory", "Managed memory: migrations and page faults");
  table.add_columns({ColumnId::pid, ColumnId::what, ColumnId::moved_from, ColumnId::moved_to, ColumnId::count,
                     ColumnId::faults, ColumnId::bytes, ColumnId::time, ColumnId::max, ColumnId::bandwidth_gb_per_s});
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;
  std::map<Key, MigrationSum> sums;
  const std::vector<UnifiedMemoryEvent> events = managed_memory_events(input.trace);
  for (const UnifiedMemoryEvent& event : events) {
    if (!input.selection.has_unified(event)) continue;
    MigrationSum& sum =
        sums[{index(event.process), static_cast<uint32_t>(event.what), event.source, event.destination}];
    const int64_t duration = std::max<int64_t>(event.end_ns - event.start_ns, 0);
    ++sum.count;
    sum.value += event.value;
    grow(sum.time_ns, duration);
    sum.longest_ns = std::max(sum.longest_ns, duration);
  }
  for (const auto& [key, sum] : sums) {
    const auto [process, what_number, source, destination] = key;
    const auto what = static_cast<UnifiedWhat>(what_number);
    const bool moves = moves_memory(what);
    Table::Row row = table.row();
    row.add_owner(process).add(unified_what_text(what));
    if (moves || source != 0) {
      row.add(unified_place_text(source));
    } else {
      row.empty();
    }
    if (moves || destination != 0) {
      row.add(unified_place_text(destination));
    } else {
      row.empty();
    }
    row.add(sum.count);
    if (what == UnifiedWhat::GpuFaults) {
      row.add(sum.value);
    } else {
      row.add_if(what == UnifiedWhat::CpuFault, sum.count);
    }
    row.add_if(moves, sum.value);
    row.add(sum.time_ns).add(sum.longest_ns);
    if (moves && sum.time_ns > 0) {
      row.add(static_cast<double>(sum.value) / static_cast<double>(sum.time_ns));
    } else {
      row.empty();
    }
  }
  if (events.empty()) table.notes.emplace_back(no_managed_memory_text(input.trace));
  return table;
}

}  // namespace prof::analyzer
