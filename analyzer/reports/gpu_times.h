// What may a report show if GPU times were recorded in bursts (PROF_BUDGET)? Each row of reports.def declares it. No
// report prints GPU times without that declaration.
#pragma once

#include "analyzer/reports/reports.h"

#include <string_view>

namespace prof::analyzer {

// Throws std::runtime_error if GPU times of a selected process were recorded in bursts. In that case `what` would count
// the time between bursts as idle, or miss the operations in it.
void need_all_times(std::string_view what, const Trace& trace, const Selection& selection = {});

// Throws std::runtime_error if the report, or the requested part of it, cannot be computed from the timed operations.
void check_gpu_times(const Report& report, const Trace& trace, const Selection& selection,
                     const ReportOptions& options);

// Returns the report's table, for run_report(). If GPU times were recorded in bursts, a note describes what they
// cover. Throws std::logic_error if a report that must extrapolate has not declared it.
Table run_timed_report(const Report& report, const AnalysisInput& input);

}  // namespace prof::analyzer
