// How often does each run of 2 to 8 operations occur on a stream? Sequences of n operations are named by pairs of numbers of
// their first and last n − 1 operations, length by length: exact, without comparing them, and a sequence can only be frequent
// if both its parts are.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/select/time_window.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

inline constexpr uint32_t kShortestSequence = 2, kLongestSequence = 8;
inline constexpr int64_t kSequencePause = 1'000'000;  // ns without work on the stream end a sequence
inline constexpr int64_t kShortKernel = 10'000;       // ns
inline constexpr uint32_t kLeastSequenceCount = 2;    // those that occur less often do not repeat

// All operations looked at, stream by stream; `name` kNone stands between streams and where a stream paused.
struct SequencePositions {
  struct Sums {  // of everything before
    int64_t gpu_ns = 0, gap_ns = 0, launch_ns = 0;
    uint64_t short_kernels = 0;
  };
  std::vector<uint32_t> name;
  std::vector<uint32_t> row;
  std::vector<Sums> before;        // gap_ns: the one before position i is in before[i + 1]
  std::vector<uint8_t> is_kernel;  // by name
};

struct CountedSequence {
  uint64_t key = 0;
  uint32_t count = 0;
  uint32_t end = 0;  // of the last occurrence counted
  uint32_t first = 0;
  bool covered = false;  // by a longer one that occurs as often
  int64_t gpu_ns = 0, gap_ns = 0, launch_ns = 0;
  uint64_t short_kernels = 0;
};

// A sequence that may be worth a row.
struct SequenceCandidate {
  uint32_t length = 0;
  CountedSequence counted;
};

struct SequenceCounts {
  SequencePositions positions;
  std::vector<SequenceCandidate> candidates;  // those with the longest gaps first
  uint64_t set_aside = 0;                     // occurrences not looked at, because too many sequences were distinct
};

// Those that occur at least twice and more often than any longer one that they are part of, of each length the 512 with the
// longest gaps. Their times are sums over occurrences that do not overlap one another. O(n) for n operations.
SequenceCounts count_sequences(const AnalysisInput& input, const std::vector<Window>& windows);

}  // namespace prof::analyzer
