// Offline. One analysis answers one question about a model with one Table and prints nothing. The list is registry.def.
#pragma once

#include "analyzer/analysis/options.h"
#include "analyzer/analysis/selection.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"
#include "analyzer/output/table.h"

#include <stdexcept>
#include <string>
#include <string_view>

namespace prof::analyzer {

struct AnalysisInput {
  const Trace& trace;
  const Views& views;
  const Selection& selection;
  const ReportOptions& options;
};

// Of the launches of a run, whose GPU times a report can do with.
enum class Times : uint8_t { Some, All };

struct Analysis {
  std::string_view name;
  std::string_view question;
  Table (*run)(const AnalysisInput& input);
  std::string_view without_nvtx;  // why it does not take --nvtx; empty: it does
  Times times;
};

// Of the rows of registry.def whose reports ask Selection::nvtx what belongs.
inline constexpr std::string_view kTakesNvtx;

#define PROF_REPORT(function, name, question, nvtx, times) Table report_##function(const AnalysisInput& input);
#include "analyzer/registry.def"
#undef PROF_REPORT

inline constexpr Analysis kAnalyses[] = {
#define PROF_REPORT(function, name, question, nvtx, times) {name, question, report_##function, nvtx, times},
#include "analyzer/registry.def"
#undef PROF_REPORT
};

// Throws std::runtime_error if ranges are asked for and the report cannot be cut to them.
inline void check_selection(const Analysis& analysis, const Selection& selection) {
  if (selection.nvtx_words.empty() || analysis.without_nvtx.empty()) return;
  throw std::runtime_error("--nvtx: " + std::string(analysis.name) +
                           " cannot be cut to ranges: " + std::string(analysis.without_nvtx));
}

}  // namespace prof::analyzer
