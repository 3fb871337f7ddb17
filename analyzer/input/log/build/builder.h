// Logs -> model. Decodes all blocks twice on all cores: to count rows and find the clocks, then to write every row where it
// belongs; joins host and GPU, nests NVTX and counts what does not fit. Called by every verb that answers a question.
//
// Peak memory is below 64 bytes an event: the rows themselves and 20 bytes a driver call until it has found its launch.
#pragma once

#include "analyzer/base/input_error.h"
#include "analyzer/model/trace.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

class LogFile;

struct BuildOptions {
  unsigned workers = 0;  // 0: all cores
  // Told now and then how far it is: a share of 1.
  std::function<void(double)> progress;
};

struct BuildStatistics {
  uint64_t records = 0;
};

std::unique_ptr<Trace> build_trace(const std::vector<std::string>& paths, const BuildOptions& options = {});
std::unique_ptr<Trace> build_trace(std::vector<std::unique_ptr<LogFile>> logs, const BuildOptions& options = {},
                                   BuildStatistics* statistics = nullptr);

}  // namespace prof::analyzer
