// How do logs become the model? All blocks are decoded twice on all cores: first to count rows and find the clocks,
// then to write every row to its place. The builder joins host and GPU, nests NVTX ranges and counts what does not fit.
// Called by every verb that reads a log.
//
// Peak memory is below 64 bytes per event: the rows themselves, and 20 bytes per driver call until its launch is found.
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
  // Called now and then with the progress, from 0 to 1.
  std::function<void(double)> progress;
};

struct BuildStatistics {
  uint64_t records = 0;
};

std::unique_ptr<Trace> build_trace(const std::vector<std::string>& paths, const BuildOptions& options = {});
std::unique_ptr<Trace> build_trace(std::vector<std::unique_ptr<LogFile>> logs, const BuildOptions& options = {},
                                   BuildStatistics* statistics = nullptr);

}  // namespace prof::analyzer
