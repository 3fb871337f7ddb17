// Every report: one answers one question about a model with one Table and prints nothing. The list is reports.def.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace prof::analyzer {

// What a report makes of a run whose GPU times were taken in bursts (PROF_BUDGET): gpu_times.h holds it to that.
//   None       it has no GPU times, and all else was recorded
//   Listed     it is about single operations or launches: about those that were timed
//   Estimated  it sums, and extrapolates to all launches: estimates.h
//   ByMetric   a report about call stacks: one of the others, by --metric
//   All        it looks at what a GPU did between operations, or needs every operation of something: it refuses
enum class Times : uint8_t { None, Listed, Estimated, ByMetric, All };

struct Analysis {
  std::string_view name;
  std::string_view question;
  Table (*run)(const AnalysisInput& input);
  std::string_view without_nvtx;  // why it does not take --nvtx; empty: it does
  Times times;
};

// Of the rows of reports.def whose reports ask Selection::nvtx what belongs.
inline constexpr std::string_view kTakesNvtx;

#define PROF_REPORT(function, name, question, nvtx, times) Table report_##function(const AnalysisInput& input);
#include "analyzer/reports/reports.def"
#undef PROF_REPORT

inline constexpr Analysis kAnalyses[] = {
#define PROF_REPORT(function, name, question, nvtx, times) {name, question, report_##function, nvtx, times},
#include "analyzer/reports/reports.def"
#undef PROF_REPORT
};

// Throws std::runtime_error if ranges are asked for and the report cannot be cut to them.
inline void check_selection(const Analysis& analysis, const Selection& selection) {
  if (selection.nvtx_words.empty() || analysis.without_nvtx.empty()) return;
  throw std::runtime_error("--nvtx: " + std::string(analysis.name) +
                           " cannot be cut to ranges: " + std::string(analysis.without_nvtx));
}

}  // namespace prof::analyzer
