// `prof summary` as text: nvprof's tables to the column, so that eyes and scripts made for nvprof go on working. Added:
// Median and StdDev columns and an NVTX section when asked for, and the coverage line in nvprof's comment style.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/reports/nvprof_summary.h"

namespace prof::analyzer {

void write_nvprof_text(const Trace& trace, const KernelNames& names, const SummaryOptions& options, Sink& sink);

}  // namespace prof::analyzer
