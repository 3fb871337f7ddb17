// launch-apis: which launch calls took the host's time, and which GPU operations did they start? It is launch-stats by
// API.
#include "analyzer/base/statistics.h"
#include "analyzer/reports/launch_stats.h"
#include "analyzer/reports/reports.h"

namespace prof::analyzer {

Table report_launch_apis(const AnalysisInput& input) {
  StackGroups stacks(input.views, StackGroups::parse_only("launch-apis", input.options.group_by));
  Table table("launch-apis", "Launch, delay and GPU time by API");
  table.add_columns({ColumnId::launches, ColumnId::api_time, ColumnId::api_avg, ColumnId::api_max, ColumnId::operations,
                     ColumnId::delay_med, ColumnId::delay_sum, ColumnId::delay_negative, ColumnId::gpu_time});
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_columns(table);
  table.add_columns(
      {ColumnId::kernels, ColumnId::short_, ColumnId::launch_bound_percent, ColumnId::short_api_time, ColumnId::name});
  stacks.add_column(table);
  const EventNames& names = input.views.event_names();
  std::vector<LaunchGroup> groups = launch_groups(input, names, LaunchesBy::Api, stacks, &estimates);
  table.notes.push_back(launch_delay_note(groups));
  table.notes.push_back("calls whose GPU operations are in the input");
  estimates.add_notes(table);
  for (LaunchGroup& group : groups) {
    const Statistics delays = statistics_of(group.delays_ns);
    Table::Row row = table.row();
    row.add(group.launches).add(group.api_ns);
    if (group.launches > 0) {
      row.add(group.api_ns / static_cast<int64_t>(group.launches)).add(group.api_max_ns);
    } else {  // its calls are counted in the groups of other nodes of their graphs
      row.empty().empty();
    }
    row.add(group.operations).add(whole_ns(delays.median)).add(delays.total).add(group.negative);
    row.add(group.gpu_ns);
    estimates.add_cells(row, group.number);
    row.add(group.kernels).add(group.shorts);
    row.add_percent(group.shorts, group.kernels);
    row.add(group.short_api_ns).add(group.api);
    stacks.add_cell(row, group.stack);
  }
  return table;
}

}  // namespace prof::analyzer
