// Statistics of kernels, copies and memsets by name and what else is asked for. The report is `kernels`; the numbers are here
// for tests and other reports.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/base/statistics.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct KernelGrouping {
  bool shape = false;      // grid and block
  bool device = false;     // (process, device)
  bool stream = false;     // (process, device, context, stream)
  bool operation = false;  // the innermost operator of the framework that launched it
  uint32_t stack = 0;      // so many innermost frames of the launch's call stack
};

struct KernelGroup {
  GpuKind kind{};
  uint32_t example = kNone;     // row of Trace::operations: of any of the group, for its name and shape
  uint32_t stream = kNone;      // row of Trace::streams: of any of the group
  uint32_t operator_label = 0;  // LabelId, where asked for; 0: none
  std::string stack;            // where asked for, innermost frame first
  uint64_t bytes = 0;           // copies and memsets
  uint32_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0;  // the largest of the group
  Statistics durations;
  uint32_t number = 0;  // of the group in the estimates given
};

// Of the operations with a part in one of the windows, each once and whole; by total time, the largest first. Reversed times
// count as 0. O(n) for n operations but for sorting the groups. Operations also go to the estimates, whose rows are by work.
std::vector<KernelGroup> kernel_groups(const AnalysisInput& input, const std::vector<Window>& windows,
                                       const KernelGrouping& grouping, Estimates* estimates = nullptr);

// What shares of time are of: of the selected devices that ran anything, the time in which one did, in windows; the windows' own.
struct DeviceTime {
  int64_t busy_ns = 0, window_ns = 0, devices = 0;
};
DeviceTime device_time(const AnalysisInput& input, const std::vector<Window>& windows);

}  // namespace prof::analyzer
