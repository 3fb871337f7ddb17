// Statistics of kernels, copies and memsets by name and by other requested keys. The report is `kernels`. The
// statistics are declared here for tests and other reports.
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
  uint32_t stack = 0;      // number of innermost frames of the launch's call stack
};

struct KernelGroup {
  GpuKind kind{};
  uint32_t example = kNone;     // row of Trace::operations: any of the group, for its name and shape
  uint32_t stream = kNone;      // row of Trace::streams: any of the group
  uint32_t operator_label = 0;  // LabelId, if requested; 0: none
  std::string stack;            // if requested, innermost frame first
  uint64_t bytes = 0;           // copies and memsets
  uint32_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0;  // the largest of the group
  Statistics durations;
  uint32_t number = 0;  // number of the group in the estimates
};

// Groups the operations that overlap one of the windows. Each operation counts once, with its whole duration. The group
// with the largest total time is first. Negative durations count as 0. O(n) for n operations, plus the sort of the
// groups. Operations are also added to the estimates (RowsAre::ByWork).
std::vector<KernelGroup> kernel_groups(const AnalysisInput& input, const std::vector<Window>& windows,
                                       const KernelGrouping& grouping, Estimates* estimates = nullptr);

// The denominators of shares of time. `busy_ns`: the busy time inside the windows, summed over the selected devices
// that have operations. `window_ns`: the length of the windows.
struct DeviceTime {
  int64_t busy_ns = 0, window_ns = 0, devices = 0;
};
DeviceTime device_time(const AnalysisInput& input, const std::vector<Window>& windows);

}  // namespace prof::analyzer
