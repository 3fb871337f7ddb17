// How busy is each device by the definition of PyTorch's TensorBoard plugin? The report is `gpu-util` with
// `--definitions tb`.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/table/table.h"

namespace prof::analyzer {

Table tensorboard_utilisation(const AnalysisInput& input);

}  // namespace prof::analyzer
