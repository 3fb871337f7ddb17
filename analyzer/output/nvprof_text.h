// `prof summary` as text: nvprof's tables with the same columns, so that readers and scripts made for nvprof still
// work. In addition, it has the columns Median and StdDev and an NVTX section on request, and the coverage line in
// nvprof's comment style.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/reports/nvprof_summary.h"

#include <cstddef>

namespace prof::analyzer {

struct NvprofLook {
  size_t rows = 0;   // most rows of a block; 0: all
  size_t width = 0;  // characters of a line, in which names are cut; 0: names are whole
};

void write_nvprof_text(const Trace& trace, const KernelNames& names, const SummaryOptions& options,
                       const NvprofLook& look, Sink& sink);

}  // namespace prof::analyzer
