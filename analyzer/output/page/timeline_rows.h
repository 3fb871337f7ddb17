// Which rows has the timeline of a run? For each GPU its idle gaps and its streams; for each thread its ranges by
// depth, its marks, its calls, its states and samples; for each place the memory in use. Spans of a row do not overlap:
// what overlaps gets a row of its own below.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/idle/gap_division.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

enum class RowKind : uint8_t { Gap = 0, Operation = 1, Range = 2, Call = 3, Mark = 4, State = 5, Sample = 6 };

struct TimelineGap {
  int64_t begin_ns = 0, end_ns = 0;
  GapCharge charge{};    // what took most of it
  uint64_t culprit = 0;  // PieceNames::key of its longest piece; 0: none
};

struct TimelineRow {
  RowKind kind{};
  std::string group, name;     // "GPU 0 NVIDIA H200", "stream 7"
  uint32_t level = 0;          // below the first row of that name
  std::vector<uint32_t> rows;  // of Trace::operations, ranges … by kind; of a gap row: of Timeline::gaps
};

struct TimelineMemory {
  std::string group, name;
  std::vector<std::pair<int64_t, int64_t>>
      steps;  // time, bytes in use from then on: the peak of each of many intervals
};

struct Timeline {
  int64_t begin_ns = 0, end_ns = 0;
  std::vector<TimelineRow> rows;
  std::vector<TimelineGap> gaps;
  std::vector<TimelineMemory> memory;
  std::vector<std::string> notes;
};

// `whole_times`: GPU times were not recorded in bursts, so gaps are known.
Timeline timeline_of(const AnalysisInput& input, bool whole_times);

}  // namespace prof::analyzer
