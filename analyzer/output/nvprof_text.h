// `prof summary` as text: nvprof's tables with the same columns, so that readers and scripts made for nvprof still
// work. In addition, it has the columns Median and StdDev and an NVTX section on request, and the coverage line in
// nvprof's comment style.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/reports/nvprof_summary.h"

namespace prof::analyzer {

void write_nvprof_text(const Trace& trace, const KernelNames& names, const SummaryOptions& options, Sink& sink);

}  // namespace prof::analyzer
