// What do the largest kernels wait for, and at which line? Sentences of the header of advise, from PC samples.
#pragma once

#include "analyzer/analysis/analysis.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// "kernel gemm, 31.0 % of GPU time (estimate, +- 0.4): 64.0 % of its samples wait for global or local memory, most at
// gemm.cu:87 (waits for: global load at gemm.cu:80); try: …": for at most three kernels with a tenth of the PC samples
// or more. The last sentence is pc_coverage(). Empty without samples.
std::vector<std::string> kernel_line_sentences(const AnalysisInput& input);

}  // namespace prof::analyzer
