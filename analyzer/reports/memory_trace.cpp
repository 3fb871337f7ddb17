// memory-trace: when was which memory allocated and released, from which pool, by whom, and how much was live then? A
// row is one allocation or release, in order of time.
#include "analyzer/analysis/memory_timeline.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/model/event_names.h"
#include "analyzer/reports/reports.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

struct TracedChange {
  const MemoryTimeline* timeline = nullptr;
  const MemoryChange* change = nullptr;
  int64_t pool_live = 0;
};

}  // namespace

Table report_memory_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  CallStacks& stacks = call_stacks(input.views);
  Table table("memory-trace", "Allocations and releases in order");
  table.add_columns({ColumnId::at, ColumnId::pid, ColumnId::tid, ColumnId::where, ColumnId::pool, ColumnId::call,
                     ColumnId::allocated_bytes, ColumnId::released_bytes, ColumnId::live_bytes, ColumnId::pool_bytes,
                     ColumnId::lived, ColumnId::nvtx_path});
  if (stacks.any()) table.add_column(ColumnId::stack);
  table.notes.push_back("live: afterwards; lived: of a release, since its allocation");

  const std::vector<MemoryTimeline> timelines = memory_timelines(input);
  std::vector<TracedChange> changes;
  for (const MemoryTimeline& timeline : timelines) {
    std::vector<int64_t> of_pool(trace.memory_pools.size());
    for (const MemoryChange& change : timeline.changes) {
      int64_t& live = of_pool[change.pool];
      if (__builtin_add_overflow(live, change.bytes, &live)) live = 0;
      if (selects_change(input.selection, change) && input.selection.has_thread(trace.threads[change.thread]))
        changes.push_back({&timeline, &change, live});
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const TracedChange& a, const TracedChange& b) { return a.change->time_ns < b.change->time_ns; });
  for (const auto& [timeline, change, pool_live] : changes) {
    Table::Row row = table.row();
    row.add(change->time_ns).add_owner(timeline->process).add(trace.threads[change->thread].tid);
    row.add(std::string_view(place_text(*timeline)));
    row.add(change->pool == 0 ? std::string_view{} : std::string_view(pool_text(trace, change->pool)));
    row.add(change->call == kNone ? std::string_view{} : trace.api_name(trace.host[change->call]));
    if (change->release()) {
      row.empty().add(-std::max(change->bytes, -INT64_MAX));
    } else {
      row.add(change->bytes).empty();
    }
    row.add(change->live);
    row.add_if(change->pool != 0, pool_live);
    if (change->allocation == kNone) {
      row.empty();
    } else {
      row.add(change->time_ns - timeline->changes[change->allocation].time_ns);
    }
    row.add(change->range == kNone ? std::string_view{}
                                   : std::string_view(path_text(trace, trace.ranges[change->range].path)));
    if (stacks.any())
      row.add(change->call == kNone ? std::string_view{} : std::string_view(stacks.text(stacks.of_call(change->call))));
  }
  table.text_limit = 100;
  return table;
}

}  // namespace prof::analyzer
