// stalls: what do the warps of each kernel wait for? Sums of PC samples by kernel, with the reasons in plain words. The
// table of reasons below it has what each means and what to try.
#include "analyzer/analysis/kernel_lines/kernel_stalls.h"
#include "analyzer/analysis/kernel_lines/stall_reasons.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace prof::analyzer {

namespace {

void add_share(Table::Row& row, const SampleSum& part, const SampleSum& whole) {
  row.add_percent(part.cycles, whole.cycles);
  row.add(100 * share_half_width(part, whole));
}

// What each reason that a row can show means. Shares are of all kernels with instructions.
Table reasons_table(const AnalysisInput& input, const KernelSums& sums) {
  constexpr double kLeastPercent = 1;
  Table table("stall_reasons", "What the reasons mean, and what to try");
  table.add_columns({ColumnId::share_percent, ColumnId::stall, ColumnId::stall_meaning, ColumnId::action});
  StallSums all;
  for (const KernelStalls& kernel : sums.kernels()) all.add(kernel.sums);
  for (const StallSums::Reason& each : all.ordered()) {
    const double percent = 100 * each.sum.cycles / all.all.cycles;
    if (percent < kLeastPercent) break;
    const StallReason reason = stall_reason(input.trace.text(each.name));
    Table::Row row = table.row();
    row.add(percent).add(fmt::format("{} ({})", reason.words, reason.name)).add_text(reason.meaning);
    row.add_text(reason.action);
  }
  return table;
}

}  // namespace

Table report_stalls(const AnalysisInput& input) {
  constexpr size_t kMostReasons = 3;
  const KernelSums sums(input);
  Table table("stalls", "Stall reasons of kernels");
  table.add_columns({ColumnId::gpu_time_percent, ColumnId::gpu_time, ColumnId::launches, ColumnId::pc_share_percent,
                     ColumnId::pc_share_half_width, ColumnId::pc_samples, ColumnId::pc_lined_percent,
                     ColumnId::issue_percent, ColumnId::issue_cycles_percent, ColumnId::stalls, ColumnId::name,
                     ColumnId::note});
  for (uint32_t k = 0; k < sums.kernels().size(); ++k) {
    const KernelStalls& kernel = sums.kernels()[k];
    Table::Row row = table.row();
    row.add(sums.time_percent(kernel));
    row.add_if(kernel.launches != 0, kernel.gpu_time_ns).add_if(kernel.launches != 0, kernel.launches);
    add_share(row, kernel.sums.all, sums.whole());
    row.add(kernel.sums.all.samples).add_percent(kernel.lined, kernel.sums.all.samples);
    row.add(issue_percent(input.trace, kernel.sums)).add(cycles_with_issue_percent(kernel.sums));
    row.add(reasons_text(input.trace, kernel.sums, kMostReasons)).add(sums.kernel_name(k)).add_text(kernel.problem);
  }
  if (sums.non_user().samples != 0) {
    Table::Row row = table.row();
    row.empty().empty().empty();
    add_share(row, sums.non_user(), sums.whole());
    row.add(sums.non_user().samples).empty().empty().empty().empty();
    row.add("[kernels that are not the program's]").add("CUPTI gives no instructions of them");
  }
  if (!sums.any()) {
    table.notes.push_back(no_pc_samples_note(input.trace));
    return table;
  }
  table.notes = pc_notes(input, sums);
  table.parts.push_back(reasons_table(input, sums));
  return table;
}

}  // namespace prof::analyzer
