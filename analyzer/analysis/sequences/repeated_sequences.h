// Which sequences of operations repeat on a stream? A loop appears as its body. Used by the report `sequences`.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/select/time_window.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// 2 to 8 operations with the same names in the same order on one stream, without a pause between them. Times are sums
// over `count` occurrences that do not overlap one another.
struct Sequence {
  std::vector<uint32_t> example;  // rows of Trace::operations: the first occurrence
  uint32_t count = 0;
  int64_t gpu_ns = 0;          // duration of its operations
  int64_t gap_ns = 0;          // between its operations, while the stream had nothing to run
  int64_t launch_ns = 0;       // of the calls that launched its operations; a call with several counts once
  uint32_t short_kernels = 0;  // shorter than kShortKernel
};

struct Sequences {
  std::vector<Sequence> found;  // by gap_ns, then launch_ns, the largest first
  uint64_t set_aside = 0;       // occurrences not counted, because there were too many distinct sequences
};

// Finds maximal sequences that occur at least twice: none is a part of a longer one (of up to 8) that occurs as often.
// At least half of the occurrences of each are outside those of better ones, so that a loop appears as its body and not
// shifted. O(n) for n operations, with memory for at most 2^20 distinct sequences per length.
Sequences find_sequences(const AnalysisInput& input, const std::vector<Window>& windows);

}  // namespace prof::analyzer
