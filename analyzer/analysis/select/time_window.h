// Which time windows is a report about (`--window`), cut to the selection? Every report that gives a share names its
// window.
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
//   step       each range "ProfilerStep#N", by start; without these, each range whose name counts the steps of the
//              program (RangeCounters::steps); nvtx:NAME: each range (NVTX or annotation) with that text
//   A..B       moments in the syntax of --from and --to
// --from and --to cut each window, and empty windows are left out. Without GPU operations `gpu` has no window. Throws
// std::runtime_error if the words are unknown or no range has that name.
std::vector<Window> report_windows(const AnalysisInput& input);

// The windows of one process: `gpu` is from the first start to the last end of its own operations, and ranges are those
// of its threads. Empty if there are none.
std::vector<Window> windows_of_process(const AnalysisInput& input, ProcessId process, const std::string& words);

// The union of the windows.
IntervalSet union_of(const std::vector<Window>& windows);

// A header line: "window: gpu, 1.5ms to 2ms (500us)".
std::string window_note(const Window& window);

}  // namespace prof::analyzer
