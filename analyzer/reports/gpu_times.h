// Where GPU times were taken in bursts (PROF_BUDGET): what may a report say then? Each row of reports.def has its answer, and nothing is
// printed without it.
#pragma once

#include "analyzer/reports/reports.h"

#include <string_view>

namespace prof::analyzer {

// Throws std::runtime_error if GPU times of a selected process were taken in bursts: `what` would take the time between them for idle, or
// miss what ran then.
void need_all_times(std::string_view what, const Trace& trace, const Selection& selection = {});

// Throws likewise where the report, or the part asked for, cannot be told from what was timed.
void check_gpu_times(const Report& report, const Trace& trace, const Selection& selection,
                     const ReportOptions& options);

// The report's table, with a note that says what its GPU times are where they were taken in bursts. Throws std::logic_error if a report that
// should have extrapolated did not say so.
Table run_report(const Report& report, const AnalysisInput& input);

}  // namespace prof::analyzer
