// How does a device's time divide into computation, communication, copies and idle time, in each window? The report is
// `breakdown`. The measurement is declared here for tests and other reports.
#pragma once

#include "analyzer/analysis/select/time_window.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// Which operations are counted, and in which part of the breakdown.
struct BreakdownRules {
  enum class Kernels { Categories, NcclInName, TraceLens, Hta } kernels = Kernels::Categories;
  bool memsets_compute = false;  // else they count with the copies
  bool linked_only = false;      // count only operations whose launch is in the input
  // Count what Holistic Trace Analysis counts: hta_rules.h, and synchronisations with a stream.
  bool events_of_hta = false;
  // Treat all devices of a process as one device.
  bool merge_devices = false;
};

// The quantities of one or several devices in one window. `sum` adds the durations of all operations; everything else
// is a union.
struct Breakdown {
  int64_t window_ns = 0;  // the sum of the windows of all devices
  int64_t busy_ns = 0, compute_ns = 0, communication_ns = 0, memory_ns = 0;
  int64_t exposed_communication_ns = 0;  // while nothing computes
  int64_t exposed_memory_ns = 0;         // while nothing computes or communicates
  uint64_t operations = 0, kernels = 0, unlinked = 0;
  int64_t sum_ns = 0, kernel_sum_ns = 0, unlinked_sum_ns = 0;
  int64_t linked_busy_ns = 0;  // of operations whose launch is in the input

  int64_t idle_ns() const { return window_ns - busy_ns; }
  int64_t hidden_communication_ns() const { return communication_ns - exposed_communication_ns; }
  Breakdown& operator+=(const Breakdown& other);
};

struct DeviceBreakdown {
  uint32_t process = 0;               // row of Trace::processes
  uint32_t device = kNone;            // row of Trace::devices; kNone: all of the process
  int64_t first_ns = 0, last_ns = 0;  // first start and last end of its operations
  std::vector<Breakdown> windows;     // in the order of the argument `windows`
};

// Returns one element per device that has selected operations, in order of Trace::devices. O(n log n) for n operations.
std::vector<DeviceBreakdown> break_down(const AnalysisInput& input, const std::vector<Window>& windows,
                                        const BreakdownRules& rules);

}  // namespace prof::analyzer
