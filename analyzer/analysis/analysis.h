// The input of every analysis: the model, the views that are derived from it once, the selection and the options.
// Offline.
#pragma once

#include "analyzer/analysis/analysis_options.h"
#include "analyzer/analysis/selection.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"

namespace prof::analyzer {

struct AnalysisInput {
  const Trace& trace;
  const Views& views;
  const Selection& selection;
  const ReportOptions& options;
};

}  // namespace prof::analyzer
