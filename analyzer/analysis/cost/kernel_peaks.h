// `kernels --peaks`: how close is each kernel to the peaks of its device? The table of torch.compile's profile
// analysis.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/table/table.h"

namespace prof::analyzer {

Table kernel_peaks(const AnalysisInput& input);

}  // namespace prof::analyzer
