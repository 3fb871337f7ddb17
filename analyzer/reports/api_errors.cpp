// api-errors: which CUDA calls failed, with which error, how often, and where first? Definitions:
// docs/reports/api-errors.md.
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/model/event_names.h"
#include "analyzer/model/results.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace prof::analyzer {

namespace {

struct Failures {
  uint32_t process = 0, result = 0;
  StringId api{};
  uint32_t stack = 0;
  uint64_t count = 0;
  uint32_t first = kNone, last = kNone;  // rows of Trace::host
};

}  // namespace

Table report_api_errors(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  StackGroups stacks(input.views, StackGroups::parse_only("api-errors", input.options.group_by));
  Table table("api-errors", "CUDA calls that failed");
  table.add_columns({ColumnId::pid, ColumnId::failed, ColumnId::calls, ColumnId::call, ColumnId::result,
                     ColumnId::error, ColumnId::first, ColumnId::last, ColumnId::first_tid, ColumnId::path});
  stacks.add_column(table);

  const EventNames names(trace);
  std::map<std::tuple<uint32_t, StringId, uint32_t, uint32_t>, Failures> groups;  // process, call, result, stack
  std::map<std::pair<uint32_t, StringId>, uint64_t> calls;
  for (const Thread& thread : trace.threads) {
    if (!input.selection.has_thread(thread)) continue;
    const uint32_t process = index(thread.process);
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      const HostEvent& event = trace.host[row];
      if (!input.selection.nvtx.has_call(row)) continue;
      if (!input.selection.in_window(event.begin_ns, event.end_ns)) continue;
      const StringId api = names.of(event);
      ++calls[{process, api}];
      if (!is_failure(event.result())) continue;
      const uint32_t stack = stacks.of_call(row);
      Failures& group = groups[{process, api, event.result(), stack}];
      group.process = process;
      group.result = event.result();
      group.api = api;
      group.stack = stack;
      ++group.count;
      if (group.first == kNone || event.begin_ns < trace.host[group.first].begin_ns) group.first = row;
      if (group.last == kNone || event.begin_ns > trace.host[group.last].begin_ns) group.last = row;
    }
  }
  std::vector<const Failures*> order;
  for (const auto& [key, group] : groups) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(), [&](const Failures* a, const Failures* b) {
    return trace.host[a->first].begin_ns < trace.host[b->first].begin_ns;
  });
  std::vector<PathCursor> cursors;
  for (uint32_t t = 0; t < trace.threads.size(); ++t) cursors.emplace_back(trace, ThreadId{t});
  for (const Failures* const group : order) {
    const HostEvent& first = trace.host[group->first];
    const std::string_view call = names.text(group->api), error = result_name(group->result, call);
    Table::Row row = table.row();
    row.add_owner(group->process).add(group->count).add(calls[{group->process, group->api}]);
    row.add(call).add(group->result);
    row.add_text(error);
    row.add(first.begin_ns).add(trace.host[group->last].begin_ns).add(trace.thread(first.thread).tid);
    const PathId path = cursors[index(first.thread)].at(first.begin_ns);
    if (index(path) != 0) {
      row.add(std::string_view(path_text(trace, path)));
    } else {
      row.empty();
    }
    stacks.add_cell(row, group->stack);
  }
  table.notes.push_back("in the order of their first; what a query answers while work is running is no failure");
  return table;
}

}  // namespace prof::analyzer
