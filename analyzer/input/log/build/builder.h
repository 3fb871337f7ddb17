// How do logs become the model? All blocks are decoded twice on all cores: first to count rows and find the clocks,
// then to write every row to its place. The builder joins host and GPU, nests NVTX ranges and counts what does not fit.
// read_trace() (input/importer.h) calls it.
//
// Peak memory is below 64 bytes per event: the rows themselves, and 20 bytes per driver call until its launch is found.
#pragma once

#include "analyzer/input/importer.h"
#include "analyzer/model/trace.h"

#include <memory>
#include <vector>

namespace prof::analyzer {

class LogFile;

struct BuildStatistics {
  uint64_t records = 0;
};

std::unique_ptr<Trace> build_trace(std::vector<std::unique_ptr<LogFile>> logs, const ImportOptions& options = {},
                                   BuildStatistics* statistics = nullptr);
// Into an empty model.
void build_trace(std::vector<std::unique_ptr<LogFile>> logs, Trace& trace, const ImportOptions& options,
                 BuildStatistics* statistics = nullptr);

}  // namespace prof::analyzer
