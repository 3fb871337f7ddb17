// The job of a model, for the report `ranks` and its picture.
#pragma once

#include "analyzer/reports/ranks/rank_job.h"

#include <memory>
#include <optional>

namespace prof::analyzer {

// The job whose logs were read one by one. Then the model has the processes, without what they did.
struct JobOfLogs {
  JobOfLogs(const Trace&, const Views&) {}
  std::shared_ptr<const RankJob> job;
};

// The job of the selected processes: that of JobOfLogs if there is one, else from the model, on all cores.
std::shared_ptr<const RankJob> job_of(const AnalysisInput& input);

}  // namespace prof::analyzer
