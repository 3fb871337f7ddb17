// Offline. One analysis answers one question about a model with one Table and prints nothing. The list is registry.def.
#pragma once

#include "analyzer/analysis/options.h"
#include "analyzer/analysis/selection.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"
#include "analyzer/output/table.h"

#include <string_view>

namespace prof::analyzer {

struct AnalysisInput {
  const Trace& trace;
  const Views& views;
  const Selection& selection;
  const ReportOptions& options;
};

struct Analysis {
  std::string_view name;
  std::string_view question;
  Table (*run)(const AnalysisInput& input);
};

#define PROF_REPORT(function, name, question) Table report_##function(const AnalysisInput& input);
#include "analyzer/registry.def"
#undef PROF_REPORT

inline constexpr Analysis kAnalyses[] = {
#define PROF_REPORT(function, name, question) {name, question, report_##function},
#include "analyzer/registry.def"
#undef PROF_REPORT
};

}  // namespace prof::analyzer
