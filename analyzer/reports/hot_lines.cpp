// hot-lines: which source lines inside kernels take the GPU's time? A row is a function at a line; an instruction
// without a line is a row of its own. The time is an estimate: the kernel's GPU time, divided by the samples.
#include "analyzer/analysis/kernel_lines/kernel_stalls.h"
#include "analyzer/analysis/kernel_lines/stall_causes.h"
#include "analyzer/analysis/kernel_lines/stall_reasons.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/reports.h"
#include "analyzer/symbols/source_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace prof::analyzer {

namespace {

// "gemm, reduce and 3 more"
std::string kernels_text(const KernelSums& sums, const LineStalls& line) {
  constexpr size_t kMost = 2;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, line.kernels.size()); ++i)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", sums.kernel_name(line.kernels[i].first));
  if (line.kernels.size() > kMost) text += fmt::format(" and {} more", line.kernels.size() - kMost);
  return text;
}

std::string inlined_text(const KernelSums& sums, const LineStalls& line) {
  if (line.frame.line == 0) return {};
  std::string text = sums.calls_text(sums.places().places()[line.places.front().first]);
  if (line.places.size() > 1)
    text += fmt::format("{}{} other call{}", text.empty() ? "" : "; ", line.places.size() - 1,
                        line.places.size() == 2 ? "" : "s");
  return text;
}

// Why there is no line, or no time.
std::string line_note(const KernelSums& sums, const LineStalls& line, const EstimatedTime& time,
                      const SourceLine& source) {
  std::string note;
  const auto add = [&](std::string_view text) { note.append(note.empty() ? "" : "; ").append(text); };
  const KernelStalls& kernel = sums.kernels()[line.kernels.front().first];
  if (line.frame.line == 0) add(kernel.problem);
  if (!time.whole) add(time.ns > 0 ? "time without kernels that have no GPU times" : "no GPU time of this kernel");
  if (line.frame.line != 0 && !source.problem.empty()) add(fmt::format("no text: {}", source.problem));
  return note;
}

}  // namespace

Table report_hot_lines(const AnalysisInput& input) {
  constexpr size_t kMostStallsOfLine = 4, kMostCauses = 2;
  const Trace& trace = input.trace;
  const KernelSums sums(input);
  const std::vector<StringId> stalls = main_stalls(sums, trace, kMostStallsOfLine);
  Table table("hot-lines", "GPU time by source line inside kernels");
  table.add_columns({ColumnId::line_time, ColumnId::line_half_width, ColumnId::line_time_percent,
                     ColumnId::pc_share_percent, ColumnId::pc_share_half_width, ColumnId::pc_samples,
                     ColumnId::issue_percent});
  for (const StringId stall : stalls) {
    const StallReason reason = stall_reason(trace.text(stall));
    table.add_named_column(ColumnId::stall_percent, fmt::format("{} (%)", reason.name), std::string(reason.name),
                           CellType::Real, 1);
  }
  table.add_columns({ColumnId::stall_cause, ColumnId::source, ColumnId::inlined, ColumnId::in_kernels,
                     ColumnId::source_text, ColumnId::note});
  if (!sums.any()) {
    table.notes.push_back(no_pc_samples_note(trace));
    return table;
  }
  const StallCauses causes(input, sums);
  SourceText texts;
  for (const LineStalls& line : sums.lines()) {
    const EstimatedTime time = sums.time(line.kernels);
    const bool timed = time.ns > 0;
    // A table without the time of the file, as Triton's: a file that is newer than the recording is another one.
    const SourceStamp stamp{line.frame.modified_s, line.frame.file_bytes,
                            static_cast<int64_t>(trace.start_realtime_ns / 1'000'000'000)};
    SourceLine source;
    if (line.frame.line != 0)
      source = texts.line(std::string(sums.places().text(line.frame.file)), line.frame.line, stamp);
    Table::Row row = table.row();
    row.add_if(timed, whole_ns(time.ns)).add_if(timed, whole_ns(time.half_ns));
    row.add_if(timed, 100 * time.ns / static_cast<double>(sums.gpu_time_ns()));
    row.add_percent(line.sums.all.cycles, sums.whole().cycles);
    row.add(100 * share_half_width(line.sums.all, sums.whole())).add(line.sums.all.samples);
    row.add(issue_percent(trace, line.sums));
    for (const StringId stall : stalls) row.add_percent(line.sums.cycles_of(stall), line.sums.all.cycles);
    row.add_text(causes.causes(line.all_places, kMostCauses))
        .add(sums.line_text(line, true))
        .add_text(inlined_text(sums, line))
        .add(kernels_text(sums, line));
    row.add_text(source.text).add_text(line_note(sums, line, time, source));
  }
  if (sums.non_user().samples != 0) {
    Table::Row row = table.row();
    row.empty().empty().empty().add_percent(sums.non_user().cycles, sums.whole().cycles);
    row.add(100 * share_half_width(sums.non_user(), sums.whole())).add(sums.non_user().samples).empty();
    for (size_t i = 0; i < stalls.size(); ++i) row.empty();
    row.empty().empty().empty().add("[kernels that are not the program's]").empty();
    row.add("CUPTI gives no instructions of them");
  }
  table.notes = pc_notes(input, sums);
  table.notes.insert(table.notes.end(), causes.notes().begin(), causes.notes().end());
  for (const StringId stall : stalls) {
    const StallReason reason = stall_reason(trace.text(stall));
    table.notes.push_back(fmt::format("{}: warps that {}", reason.name, reason.words));
  }
  table.text_limit = 40;
  return table;
}

}  // namespace prof::analyzer
