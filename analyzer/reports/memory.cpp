// memory: what was the peak of live memory, when and in which op, and how much was live at the end? A row is a process
// and a device. Each pool that allocated memory of the device has a row too.
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/memory_timeline.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

void add_row(const AnalysisInput& input, const MemoryTimeline& timeline, std::string_view pool, Table& table) {
  const Trace& trace = input.trace;
  const uint32_t peak = timeline.peak(input.selection);
  if (peak == kNone && input.selection.nvtx.given()) return;  // no change belongs to the selected ranges
  uint64_t allocations = 0, releases = 0;
  int64_t allocated = 0, released = 0;
  for (const MemoryChange& change : timeline.changes) {
    if (!selects_change(input.selection, change)) continue;
    if (change.bytes > 0) {
      ++allocations;
      allocated = add_saturated(allocated, change.bytes);
    } else {
      ++releases;
      released = add_saturated(released, -std::max(change.bytes, -INT64_MAX));
    }
  }
  Table::Row row = table.row();
  row.add_owner(timeline.process).add(std::string_view(place_text(timeline))).add(pool);
  row.add(std::string_view(timeline.from_allocator ? "framework's allocator" : "CUDA calls"));
  row.add(allocations).add(allocated).add(releases).add(released).add(timeline.at_start);
  if (peak == kNone) return;
  const MemoryChange& most = timeline.changes[peak];
  row.add(most.live).add(most.time_ns).add(trace.threads[most.thread].tid).add(timeline.changes.back().live);
  row.add(timeline.unknown_releases).add(std::string_view(range_text(trace, most.range)));
}

}  // namespace

Table report_memory(const AnalysisInput& input) {
  Table table("memory", "Memory allocated, peak and what is left");
  table.add_columns({ColumnId::pid, ColumnId::where, ColumnId::pool, ColumnId::from, ColumnId::allocations,
                     ColumnId::allocated_bytes, ColumnId::releases, ColumnId::released_bytes, ColumnId::start_bytes,
                     ColumnId::peak_bytes, ColumnId::peak_time, ColumnId::peak_tid, ColumnId::end_bytes,
                     ColumnId::older_releases, ColumnId::peak_range});
  table.notes.push_back("older releases: of memory allocated before the recording");
  const std::vector<MemoryTimeline> timelines = memory_timelines(input);
  bool unknown_device = false, pools = false;
  for (const MemoryTimeline& timeline : timelines) {
    unknown_device |= timeline.place == MemoryTimeline::SomeDevice;
    add_row(input, timeline, {}, table);
    for (const PoolTimeline& part : timelines_of_pools(input.trace, timeline)) {
      add_row(input, part.timeline, pool_text(input.trace, part.pool), table);
      pools = true;
    }
  }
  if (unknown_device) table.notes.push_back("device: of several; the call names neither its context nor a stream");
  if (pools) table.notes.push_back("rows with a pool are parts of the row above them, each with a peak of its own");
  return table;
}

}  // namespace prof::analyzer
