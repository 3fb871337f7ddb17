// Reads the logs of a job for `prof report ranks`: one by one, so that memory grows with ranks and kinds of kernels,
// not with operations.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/reports/ranks/rank_job.h"

#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

struct RankInputs {
  std::unique_ptr<Trace> trace;        // the processes, without what they did, and unusable inputs
  std::shared_ptr<const RankJob> job;  // of all processes
};

// Whether a selection needs the events of all inputs at once: a window in time, or GPUs, streams, threads or ranges.
// Only processes, hosts and ranks can be selected afterwards.
bool needs_whole_model(const Selection& selection, const std::string& from, const std::string& to,
                       const ReportOptions& options);

// Throws InputError if no input can be used.
RankInputs read_ranks(const std::vector<std::string>& paths, const ReportOptions& options);

}  // namespace prof::analyzer
