// The interface of every report: a report answers one question about a model with one Table, and never prints. The list
// is reports.def.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace prof::analyzer {

// How a report handles a run whose GPU times were recorded in bursts (PROF_BUDGET). gpu_times.h enforces it.
//   None       it has no GPU times, and everything else was recorded
//   Listed     it lists single operations or launches: those that were timed
//   Estimated  it sums, and extrapolates to all launches: estimates.h
//   ByMetric   a report about call stacks: one of the others, by --metric
//   All        it needs what a GPU did between operations, or every operation of something: it refuses
enum class Times : uint8_t { None, Listed, Estimated, ByMetric, All };

// The subject of a question. Lists print the reports of one area together, under its title.
enum class Area : uint8_t { GpuTime, Idle, Change, Code, Speed, Memory, Listing, Nsys };

inline constexpr std::string_view kAreaTitles[] = {
    "Where did the GPU time go?",     "Why was the GPU idle?",
    "What should be changed?",        "Which code is responsible?",
    "How close is it to the limits?", "Where did the memory go?",
    "What happened, one row each?",   "The tables of nsys stats and nsys analyze",
};

struct Report {
  std::string_view name;
  Area area;
  std::string_view question;
  Table (*run)(const AnalysisInput& input);
  std::string_view without_nvtx;  // why it does not take --nvtx; empty: it does
  Times times;
  std::string_view options;           // beyond those of every report, as in reports.def: taken_options.h reads them
  std::string_view example;           // arguments after its name
  std::span<const ColumnId> columns;  // every column that one of its tables may have
};

// Marks the rows of reports.def whose reports can be limited to Selection::nvtx.
inline constexpr std::string_view kTakesNvtx;

// Words of --group-by that give each process, host or rank rows of its own, and those that may give them to each GPU
// too.
#define PROF_OWNERS "rank|host|process"
#define PROF_PLACES PROF_OWNERS "|device"

#define PROF_REPORT(function, ...) Table report_##function(const AnalysisInput& input);
#include "analyzer/reports/reports.def"
#undef PROF_REPORT

namespace report_columns {
using enum ColumnId;
#define PROF_REPORT(function, name, area, nvtx, times, question, options, example, ...) \
  inline constexpr ColumnId of_##function[] = {__VA_ARGS__};
#include "analyzer/reports/reports.def"
#undef PROF_REPORT
}  // namespace report_columns

inline constexpr Report kReports[] = {
#define PROF_REPORT(function, name, area, nvtx, times, question, options, example, ...) \
  {name, Area::area, question, report_##function, nvtx, Times::times, options, example, report_columns::of_##function},
#include "analyzer/reports/reports.def"
#undef PROF_REPORT
};

// Throws std::runtime_error if ranges are selected and the report cannot be limited to them.
inline void check_selection(const Report& report, const Selection& selection) {
  if (selection.nvtx_words.empty() || report.without_nvtx.empty()) return;
  throw std::runtime_error("--nvtx: " + std::string(report.name) +
                           " cannot be cut to ranges: " + std::string(report.without_nvtx));
}

}  // namespace prof::analyzer
