// Events averaged by name: what torch.autograd.profiler's key_averages() makes of its events, of the event tree
// (model/event_tree.h), GPU operations and allocations. Called by the report `ops`; prints nothing.
#pragma once

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/model/event_tree.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// What rows are kept apart beside name and device (`--group-by`).
struct OpGrouping {
  bool shape = false, thread = false, domain = false, node = false;
  uint32_t stack = 0;  // so many innermost frames
};

// Throws std::runtime_error for a word that means nothing.
OpGrouping op_grouping(const std::vector<std::string>& words);

struct OpAverage {
  uint32_t number = 0;  // of its groups in the estimates: OpAverages says which they are
  std::string name;
  bool on_device = false;   // a kernel, copy, memset, or an annotation as the GPU's side shows it
  bool annotation = false;  // the latter: its time is that of operations which have rows of their own
  bool is_async = false;    // start/end ranges: only a total
  bool top_level = true;    // the first of its events is in no other
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
  // Of the row with that number: the GPU time of what it launched itself, of what was launched inside it, of a row on the device.
  static uint32_t self_group(uint32_t number) { return 3 * number; }
  static uint32_t total_group(uint32_t number) { return 3 * number + 1; }
  static uint32_t device_group(uint32_t number) { return 3 * number + 2; }

  std::vector<OpAverage> rows;  // by first event
  int64_t self_cpu_ns = 0;      // of all rows but the profiler's own work, which is inside others' time already
  int64_t self_device_ns = 0;   // of GPU operations, each once
  uint64_t filtered = 0, merged = 0, frames_left_out = 0, overhead_events = 0, annotations = 0;
};

// GPU times also go to the estimates, whose rows are by launch.
OpAverages op_averages(const AnalysisInput& input, const OpGrouping& grouping, Estimates* estimates = nullptr);

}  // namespace prof::analyzer
