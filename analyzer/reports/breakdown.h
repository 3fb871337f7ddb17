// How a device's time divides into computing, communicating, copying and idling, in each window. The report is `breakdown`;
// what is measured is here for tests and other reports.
#pragma once

#include "analyzer/analysis/select/time_window.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// What counts as what, and which operations count at all.
struct BreakdownRules {
  enum class Communication { Categories, NcclInName, Hta } communication = Communication::Categories;
  bool memsets_compute = false;  // else they count with the copies
  // Only operations launched inside an operator of the framework.
  bool in_operators_only = false;
  // All devices of a process as if they were one.
  bool merge_devices = false;
};

// Of one device, or of several, in one window. `sum` counts every operation for itself; everything else is a union.
struct Breakdown {
  int64_t window_ns = 0;  // of several devices: once each
  int64_t busy_ns = 0, compute_ns = 0, communication_ns = 0, memory_ns = 0;
  int64_t exposed_communication_ns = 0;  // while nothing computes
  int64_t exposed_memory_ns = 0;         // while nothing computes or communicates
  uint64_t operations = 0, kernels = 0, unlinked = 0;
  int64_t sum_ns = 0, kernel_sum_ns = 0, unlinked_sum_ns = 0;
  int64_t linked_busy_ns = 0;  // of the operations whose launch is in the input

  int64_t idle_ns() const { return window_ns - busy_ns; }
  int64_t hidden_communication_ns() const { return communication_ns - exposed_communication_ns; }
  Breakdown& operator+=(const Breakdown& other);
};

struct DeviceBreakdown {
  uint32_t process = 0;               // row of Trace::processes
  uint32_t device = kNone;            // row of Trace::devices; kNone: all of the process
  int64_t first_ns = 0, last_ns = 0;  // its own first start and last end
  std::vector<Breakdown> windows;     // as `windows` given
};

// One per device with operations that are selected, in order of Trace::devices. O(n log n) for n operations.
std::vector<DeviceBreakdown> break_down(const AnalysisInput& input, const std::vector<Window>& windows,
                                        const BreakdownRules& rules);

}  // namespace prof::analyzer
