// How often does each sequence of 2 to 8 operations occur on a stream? A sequence of n operations is identified by the
// pair of numbers of its first and its last n − 1 operations, length by length. This is exact without comparing
// operations, and only sequences whose two parts are frequent are counted.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/select/time_window.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

inline constexpr uint32_t kShortestSequence = 2, kLongestSequence = 8;
inline constexpr int64_t kSequencePause = 1'000'000;  // ns; a longer pause of the stream ends a sequence
inline constexpr int64_t kShortKernel = 10'000;       // ns
inline constexpr uint32_t kLeastSequenceCount = 2;    // sequences with fewer occurrences do not repeat

// All counted operations by stream. An entry with `name` kNone separates streams, and marks pauses of a stream.
struct SequencePositions {
  struct Sums {  // of all earlier positions
    int64_t gpu_ns = 0, gap_ns = 0, launch_ns = 0;
    uint64_t short_kernels = 0;
  };
  std::vector<uint32_t> name;
  std::vector<uint32_t> row;
  std::vector<Sums> before;        // the gap before position i is in before[i + 1].gap_ns
  std::vector<uint8_t> is_kernel;  // by name
};

struct CountedSequence {
  uint64_t key = 0;
  uint32_t count = 0;
  uint32_t end = 0;  // end of the last counted occurrence
  uint32_t first = 0;
  bool covered = false;  // a longer sequence contains it and occurs as often
  int64_t gpu_ns = 0, gap_ns = 0, launch_ns = 0;
  uint64_t short_kernels = 0;
};

// A sequence that may become a row.
struct SequenceCandidate {
  uint32_t length = 0;
  CountedSequence counted;
};

struct SequenceCounts {
  SequencePositions positions;
  std::vector<SequenceCandidate> candidates;  // those with the longest gaps first
  uint64_t set_aside = 0;                     // occurrences not counted: too many distinct sequences
};

// Counts sequences that occur at least twice, and more often than any longer sequence that contains them; per length
// the 512 with the longest gaps. Times are sums over occurrences that do not overlap one another. O(n) for n
// operations.
SequenceCounts count_sequences(const AnalysisInput& input, const std::vector<Window>& windows);

}  // namespace prof::analyzer
