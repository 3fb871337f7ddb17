// The stretches of time a report is about (`--window`), cut to the selection. Every report that gives a share says of which.
#pragma once

#include "analyzer/analysis/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct Window {
  std::string label;  // "gpu", "run", "ProfilerStep#3", "forward#2", "10ms..20ms"
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t length_ns() const { return end_ns - begin_ns; }
};

//   gpu        first start to last end of the GPU operations of all devices of the input: one window
//   run        first to last event: one window
//   step       each range "ProfilerStep#N", by begin; nvtx:NAME: each range (NVTX or annotation) of that text
//   A..B       moments as --from and --to take them
// --from and --to cut each window; empty ones are left out. Throws std::runtime_error if the words mean nothing or no range
// has that name. No GPU operation: `gpu` is no window at all.
std::vector<Window> report_windows(const AnalysisInput& input);

// The time in any of the windows.
IntervalSet union_of(const std::vector<Window>& windows);

// "window: gpu, 1.5ms to 2ms (500us)": a header line.
std::string window_note(const Window& window);

}  // namespace prof::analyzer
