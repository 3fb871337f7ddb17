// launch-apis: which launch calls took the host's time, and what did they bring to the GPU? launch-stats by API.
#include "analyzer/base/statistics.h"
#include "analyzer/reports/launch_stats.h"
#include "analyzer/reports/reports.h"

namespace prof::analyzer {

Table report_launch_apis(const AnalysisInput& input) {
  StackGroups stacks(input.views, StackGroups::parse_only("launch-apis", input.options.group_by));
  Table table("launch-apis", "Launch, delay and GPU time by API");
  table.add_column("Launches", "launches", CellType::Count);
  table.add_column("API time", "api_time", CellType::Nanoseconds);
  table.add_column("API avg", "api_avg", CellType::Nanoseconds);
  table.add_column("API max", "api_max", CellType::Nanoseconds);
  table.add_column("Operations", "operations", CellType::Count);
  table.add_column("Delay med", "delay_med", CellType::Nanoseconds);
  table.add_column("Delay sum", "delay_sum", CellType::Nanoseconds);
  table.add_column("Below 0", "delay_negative", CellType::Count);
  table.add_column("GPU time", "gpu_time", CellType::Nanoseconds);
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_columns(table);
  table.add_column("Kernels", "kernels", CellType::Count);
  table.add_column("Short", "short", CellType::Count);
  table.add_column("Launch-bound (%)", "launch_bound_percent", CellType::Real, 1);
  table.add_column("API time of short", "short_api_time", CellType::Nanoseconds);
  table.add_column("Name", "name", CellType::Text);
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
    } else {  // its calls are in the groups of other nodes of their graphs
      row.empty().empty();
    }
    row.add(group.operations).add(whole_ns(delays.median)).add(delays.total).add(group.negative);
    row.add(group.gpu_ns);
    estimates.add_cells(row, group.number);
    row.add(group.kernels).add(group.shorts);
    if (group.kernels > 0) {
      row.add(100 * static_cast<double>(group.shorts) / static_cast<double>(group.kernels));
    } else {
      row.empty();
    }
    row.add(group.short_api_ns).add(group.api);
    stacks.add_cell(row, group.stack);
  }
  return table;
}

}  // namespace prof::analyzer
