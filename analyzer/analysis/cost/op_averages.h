// What does torch.autograd.profiler's key_averages() show for the events of the event tree (model/event_tree.h), GPU
// operations and allocations? Events averaged by name. Called by the report `ops`; prints nothing.
#pragma once

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/model/event_tree.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// What separates rows besides name and device (`--group-by`).
struct OpGrouping {
  bool shape = false, thread = false, domain = false, node = false;
  uint32_t stack = 0;  // number of innermost frames
};

// Throws std::runtime_error for an unknown word.
OpGrouping op_grouping(const std::vector<std::string>& words);

struct OpAverage {
  uint32_t number = 0;  // of its groups in the estimates: see OpAverages
  std::string name;
  bool on_device = false;   // a kernel, copy or memset, or an annotation on the GPU side
  bool annotation = false;  // an annotation: its time is the time of operations with rows of their own
  bool overhead = false;    // the profiler's own work: in no operator, and not in the total of self CPU time
  bool is_async = false;    // a start/end range: it has only a total
  bool top_level = true;    // the first event is in no other event
  std::string shapes, domain;
  std::vector<std::string> stack;
  uint32_t process = 0, thread = kNone;  // of the first event
  uint64_t count = 0, flops = 0;
  int64_t self_cpu_ns = 0, cpu_ns = 0, self_device_ns = 0, device_ns = 0;
  int64_t min_ns = INT64_MAX, max_ns = 0;  // of one event's total CPU time; on_device: of its device time
  MemoryUse self_memory, memory;
  int64_t first_begin_ns = INT64_MAX, first_end_ns = 0;  // of the first event
};

struct OpAverages {
  // Groups of the row with that number: GPU time that it launched itself, that was launched inside it, and of a row on
  // the device.
  static uint32_t self_group(uint32_t number) { return 3 * number; }
  static uint32_t total_group(uint32_t number) { return 3 * number + 1; }
  static uint32_t device_group(uint32_t number) { return 3 * number + 2; }

  std::vector<OpAverage> rows;  // ordered by first event
  int64_t self_cpu_ns = 0;      // of all rows except profiler overhead, which other rows contain
  int64_t self_device_ns = 0;   // of GPU operations, each counted once
  uint64_t filtered = 0, merged = 0, frames_left_out = 0, overhead_events = 0, annotations = 0;
};

// If `estimates` is given, GPU times are also added to it. Its rows are by launch.
OpAverages op_averages(const AnalysisInput& input, const OpGrouping& grouping, Estimates* estimates = nullptr);

}  // namespace prof::analyzer
