#include "analyzer/analysis/bursts/estimates.h"

#include "analyzer/base/statistics.h"

#include <fmt/format.h>

namespace prof::analyzer {

Estimates::Estimates(const AnalysisInput& input, RowsAre rows)
    : input_(input),
      bursts_(input.views.bursts()),
      rows_(rows),
      numbers_(input.trace, bursts_),
      counts_(input.trace.processes.size()) {
  for (uint32_t p = 0; p < counts_.size(); ++p)
    any_ |= bursts_.applies(ProcessId{p}) && input.selection.has_process(ProcessId{p});
  for_each_launch([&](uint32_t row) {
    Count& count = counts_[index(input_.trace.thread(input_.trace.host[row].thread).process)];
    ++count.launches;
    count.timed += bursts_.burst_of(row) == kNone ? 0 : 1;
    if (rows_ == RowsAre::ByWork) numbers_.launch(row, 0);
  });
}

// With --captured, a range has operations whose launch is outside the range, so every launch of the thread is selected.
bool Estimates::selects(uint32_t row) const {
  return bursts_.kind_of(row) != kNone &&
         input_.selection.has_thread(input_.trace.thread(input_.trace.host[row].thread)) &&
         (input_.options.captured || input_.selection.nvtx.has_call(row));
}

void Estimates::add_columns(Table& table, const EstimateColumns& columns) const {
  if (!any_) return;
  table.add_columns({columns.count, columns.total, columns.half_width});
  if (rows_ == RowsAre::ByLaunch) table.add_column(columns.not_met);
}

void Estimates::add_megabyte_columns(Table& table) const {
  if (!any_) return;
  table.add_columns({ColumnId::estimated_count, ColumnId::estimated_total_mb, ColumnId::estimated_half_width_mb});
}

void Estimates::add_cells(Table::Row& row, uint32_t group, double scale) const {
  if (any_) add_cells(row, of(group), numbers_.not_met(group), scale);
}

void Estimates::add_cells(Table::Row& row, const Extrapolated& estimate, std::optional<uint64_t> not_met,
                          double scale) const {
  if (!any_) return;
  const auto value = [&](double number) {
    if (scale == 1) {
      row.add(whole_ns(number));
    } else {
      row.add(number * scale);
    }
  };
  if (estimate.known()) {
    row.add(whole_ns(estimate.operations));
    value(estimate.total);
    if (estimate.half < 0) {
      row.empty();
    } else {
      value(estimate.half);
    }
  } else {
    row.empty().empty().empty();
  }
  if (rows_ == RowsAre::ByLaunch) {
    row.add(not_met);
  }
}

void Estimates::add_no_cells(Table::Row& row) const {
  if (!any_) return;
  row.empty().empty().empty();
  if (rows_ == RowsAre::ByLaunch) row.empty();
}

std::vector<std::string> Estimates::notes() const {
  std::vector<std::string> lines;
  for (uint32_t p = 0; p < counts_.size(); ++p) {
    if (!bursts_.applies(ProcessId{p}) || !input_.selection.has_process(ProcessId{p})) continue;
    lines.push_back(estimates_text(input_.trace.processes[p], counts_[p].timed, counts_[p].launches,
                                   bursts_.count(ProcessId{p}),
                                   rows_ == RowsAre::ByWork ? numbers_.not_met(0, ProcessId{p}) : 0));
  }
  if (!lines.empty() && rows_ == RowsAre::ByLaunch)
    lines.back() += "; not met: launches of a row that are in no estimate of it, as no burst met their kind there";
  return lines;
}

void Estimates::add_notes(Table& table) const {
  std::vector<std::string> lines = notes();
  if (!lines.empty()) lines.back() += "; numbers that are not marked as estimated are of what was timed";
  table.notes.insert(table.notes.end(), lines.begin(), lines.end());
}

std::string bursts_text(const Process& process, uint64_t timed, uint64_t launches, uint64_t bursts) {
  return fmt::format("PROF_BUDGET={}: GPU times of {} of {} launches, in {} bursts", budget_of(process), timed,
                     launches, bursts);
}

std::string estimates_text(const Process& process, uint64_t timed, uint64_t launches, uint64_t bursts,
                           uint64_t not_met) {
  std::string text =
      bursts_text(process, timed, launches, bursts) + "; extrapolated to all of them, with 95 % intervals";
  if (not_met != 0) text += fmt::format("; {} launches of what no burst met are in no sum", not_met);
  return text;
}

}  // namespace prof::analyzer
