// How complete the recording is: the counts behind the coverage line that ends every report. Filled by correlation.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace prof::analyzer {

struct Trace;
struct Process;

enum class LaunchReason : uint8_t {
#define PROF_LAUNCH_REASON(name, text) name,
#include "analyzer/model/coverage.def"
#undef PROF_LAUNCH_REASON
  kCount
};

enum class OperationReason : uint8_t {
#define PROF_OPERATION_REASON(name, text) name,
#include "analyzer/model/coverage.def"
#undef PROF_OPERATION_REASON
  kCount
};

enum class StackGap : uint8_t {
#define PROF_STACK_GAP(name, flags, text) name,
#include "analyzer/model/coverage.def"
#undef PROF_STACK_GAP
  kCount  // it is whole
};

struct Coverage {
  uint64_t launches = 0;
  uint64_t launches_with_gpu_time = 0;
  uint64_t launches_without[static_cast<size_t>(LaunchReason::kCount)] = {};
  uint64_t batch_copies = 0;          // that batches asked for whose launch has GPU time
  uint64_t batch_copies_missing = 0;  // of these without a GPU copy, where bytes are missing too: at most so many
  uint64_t operations = 0;
  uint64_t operations_linked = 0;
  uint64_t operations_without[static_cast<size_t>(OperationReason::kCount)] = {};
  bool stacks = false;               // call stacks were recorded
  uint64_t launches_with_stack = 0;  // with at least one frame
  uint64_t launches_stack_gap[static_cast<size_t>(StackGap::kCount)] = {};
  uint64_t overwritten_blocks = 0;     // of a ring, on purpose
  uint64_t overwritten_records = 0;    // that were in them
  uint64_t before_horizon = 0;         // calls and GPU operations that are there by chance, and left out
  uint64_t ranges_begun_before = 0;    // NVTX ranges that end in the window and whose beginning was overwritten
  uint64_t operations_reversed = 0;    // GPU records whose end lies before their start: kept as they are
  uint64_t counters_of_launches = 0;   // launches with values of hardware counters
  uint64_t counters_of_ranges = 0;     // NVTX ranges with such values
  uint64_t counters_unplaced = 0;      // values that a trace does not give to any launch
  uint64_t counters_timed = 0;         // GPU operations that were made of such values
  uint64_t counters_unmatched = 0;     // values whose launch or range is not there
  uint64_t counters_again = 0;         // values of what has values already: left out
  uint64_t counters_unreadable = 0;    // values of sets that are lost, or of another length than their set
  uint64_t counters_without_time = 0;  // launches without a time in their values
  uint64_t samples = 0;                // of hardware counters
  uint64_t samples_unreadable =
      0;  // of sets that are lost, of another form than their set, or from before the one before
  int64_t samples_missing_ns = 0;         // between samples of a GPU, and behind the last
  uint64_t operations_before_launch = 0;  // GPU start before the launch was entered: a clock inversion

  void add(const Coverage& other);
};

// "launches 120000, with GPU time 119998 (pending 2); GPU operations 120010, with launch 119998, internal 12; lost records 0"
// then, where call stacks were recorded, "launches with stack 119990 (cut at PROF_STACK_DEPTH 3)",
// where a ring was written over "overwritten on purpose 45000 records in 300 blocks, before the horizon and left out 12",
// where PROF_DEVICES left GPUs out "not recorded by PROF_DEVICES=1: launches 206, GPU operations 205",
// where PROF_BUDGET left GPU times out, what share it cost and that GPU times are those of bursts,
// followed by each counter of the process that is not 0 and means loss or less exactness, and by damage of the log.
std::string coverage_line(const Process& process);

// The same, summed over all processes of the model.
std::string coverage_line(const Trace& trace);

}  // namespace prof::analyzer
