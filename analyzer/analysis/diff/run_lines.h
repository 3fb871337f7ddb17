// What do the PC samples of one run say about the time of each source line? A row is a line of a kernel. Samples do not
// know their launch, so the repetitions are blocks of consecutive readings of the samples. Used by `prof diff`.
#pragma once

#include "analyzer/analysis/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct RunLine {
  std::string kernel, function, place;  // full names; "kernels.cu:5" without folders, or "no line"
  uint64_t samples = 0;
  uint64_t launches = 0;  // of the kernel
  double total_ns = 0;    // the kernel's GPU time × the line's share of its samples
  // The same for each block in which the kernel has samples, with the kernel's mean duration in place of its GPU time:
  // the line's time in one launch, in ns.
  std::vector<double> launch_ns{};
};

struct RunLines {
  std::vector<RunLine> rows;  // of kernels with GPU times, in no order
  std::string coverage;       // how many samples the run has, and what is known of them; empty: none
};

// O(samples + lines × blocks).
RunLines run_lines(const AnalysisInput& input);

}  // namespace prof::analyzer
