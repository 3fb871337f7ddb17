// How complete is the recording? The counts of the coverage line that ends every report. Filled by correlation.cpp and
// launch_coverage.cpp for logs, by import.cpp for other inputs.
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

enum class UnusableTime : uint8_t {
#define PROF_UNUSABLE_TIME(name, text) name,
#include "analyzer/model/coverage.def"
#undef PROF_UNUSABLE_TIME
  kCount
};

enum class StackGap : uint8_t {
#define PROF_STACK_GAP(name, flags, text) name,
#include "analyzer/model/coverage.def"
#undef PROF_STACK_GAP
  kCount  // complete
};

struct Coverage {
  uint64_t launches = 0;
  uint64_t launches_with_gpu_time = 0;
  uint64_t launches_without[static_cast<size_t>(LaunchReason::kCount)] = {};
  uint64_t batch_copies = 0;          // copies in batches whose launch has GPU time
  uint64_t batch_copies_missing = 0;  // at most this many of them have no GPU copy: bytes are missing too
  uint64_t operations = 0;
  uint64_t operations_linked = 0;
  uint64_t operations_without[static_cast<size_t>(OperationReason::kCount)] = {};
  // GPU operations that are not in the model because of their times; they are not in `operations`.
  uint64_t operations_unusable[static_cast<size_t>(UnusableTime::kCount)] = {};
  uint64_t events_not_timed = 0;     // calls, ranges and marks that are not in the model because they have no time
  uint64_t ranges_closed_early = 0;  // ranges without an end that end where their caller or thread ended
  bool stacks = false;               // call stacks were recorded
  uint64_t launches_with_stack = 0;  // with at least one frame
  uint64_t launches_stack_gap[static_cast<size_t>(StackGap::kCount)] = {};
  uint64_t start_threads = 0;          // threads with calls that passed through while the recorder started
  uint64_t start_calls = 0;            // these calls
  uint64_t start_most_ns = 0;          // the longest time, of one thread, from such a call to its first record
  uint64_t overwritten_blocks = 0;     // of a ring, intentionally
  uint64_t overwritten_records = 0;    // records in these blocks
  uint64_t before_horizon = 0;         // calls and GPU operations that remain by chance; not imported
  uint64_t ranges_begun_before = 0;    // NVTX ranges that end in the window and whose start was overwritten
  uint64_t operations_reversed = 0;    // GPU records that end before their start: kept unchanged
  uint64_t counters_of_launches = 0;   // launches with values of hardware counters
  uint64_t counters_of_ranges = 0;     // NVTX ranges with such values
  uint64_t counters_unplaced = 0;      // values that a trace does not assign to a launch
  uint64_t counters_timed = 0;         // GPU operations that were created from such values
  uint64_t counters_unmatched = 0;     // values whose launch or range is missing
  uint64_t counters_again = 0;         // values for something that has values already: not imported
  uint64_t counters_unreadable = 0;    // values of lost sets, or of another length than their set
  uint64_t counters_without_time = 0;  // launches whose values have no time
  uint64_t samples = 0;                // of hardware counters
  uint64_t samples_unreadable =
      0;  // of lost sets, of another form than their set, or with a time before the previous sample
  int64_t samples_missing_ns = 0;  // between samples of a GPU, and after the last
  uint64_t host_samples = 0;
  uint64_t host_samples_unplaced = 0;     // of threads that the log does not have
  uint64_t pc_samples = 0;                // of instructions; the next three are parts of it, disjoint
  uint64_t pc_samples_placed = 0;         // with their function and offset
  uint64_t pc_samples_dropped = 0;        // by the hardware
  uint64_t pc_samples_non_user = 0;       // of kernels that are not the program's
  uint64_t pc_samples_without_cubin = 0;  // of the placed ones: no cubin was kept, so there are offsets only
  uint64_t pc_samples_unreadable = 0;     // records: of lost contexts, or with lists that do not fit
  uint64_t operations_before_launch = 0;  // GPU start before the start of the launch: a clock inversion

  void add(const Coverage& other);
};

// "launches 120000, with GPU time 119998 (pending 2); GPU operations 120010, with launch 119998, internal 12; lost
// records 0"
// then, if call stacks were recorded, "launches with stack 119990 (cut at PROF_STACK_DEPTH 3)",
// if a ring was overwritten "overwritten on purpose 45000 records in 300 blocks, before the horizon and left out 12",
// if PROF_DEVICES excluded GPUs "not recorded by PROF_DEVICES=1: launches 206, GPU operations 205",
// if host samples were not taken as requested, the reason,
// if PROF_BUDGET limited GPU times, the share that it cost, and that GPU times are those of bursts,
// if calls were lost while the recorder started, "before_ready 7000 (7 threads, at most 0.120 ms)",
// then each other counter of the process that is not 0 and means loss or less exactness, and damage of the log.
std::string coverage_line(const Process& process);

// The same, summed over all processes of the model.
std::string coverage_line(const Trace& trace);

}  // namespace prof::analyzer
