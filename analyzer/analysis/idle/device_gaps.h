// When did no operation run on a device, and which launch ended that time? Finds the gaps of each physical GPU in order
// of time. Used by gap_division.h, which divides them, and by gaps.h, which gives each one cause.
//
//            gap.begin          launch entered        gap.end
//   GPU  ████|                        :                 |████ operation
//   host ────────── host_ns ──────────|── device's part ─|
#pragma once

#include "analyzer/analysis/gpu_order.h"
#include "analyzer/analysis/selection.h"
#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace prof::analyzer {

struct DeviceGap {
  int64_t begin_ns = 0, end_ns = 0;  // the whole gap, even where the window cuts it
  int64_t host_ns = 0;               // until the launch of the next operation was entered
  DeviceId device{};                 // the first DeviceId of that physical GPU
  uint32_t operation = kNone;        // row of Trace::operations that ended the gap; kNone: none
  uint32_t previous = kNone;         // row of the operation that ended last before the gap; kNone: none
  uint32_t launch = kNone;           // row of Trace::host: the launch of `operation`
  uint32_t thread = kNone;           // thread that made the launch
  int64_t duration_ns() const { return end_ns - begin_ns; }
  int64_t launched_ns() const { return begin_ns + host_ns; }
};

// Calls next_gpu() before the first gap of each physical GPU, and visit(DeviceGap) for the gaps that overlap the
// window, of the selected streams, by device, then by time. A device is idle from the start of the window to its first
// operation, and from its last operation to the end of the window. Selected threads keep gaps that end with one of
// their launches, selected ranges those that end with one of their operations.
template <class NextGpu, class Visit>
void each_device_gap(const Trace& trace, const Selection& selection, const Interval& window, NextGpu&& next_gpu,
                     Visit&& visit) {
  if (window.end_ns <= window.begin_ns) return;
  const auto selected = [&](const Stream& stream) { return selection.has_stream(trace, stream); };
  for (const auto& of_gpu : streams_by_gpu(trace, selected)) {
    next_gpu();
    int64_t covered_ns = std::numeric_limits<int64_t>::min();
    uint32_t previous = kNone;
    const auto add = [&](int64_t end_ns, uint32_t operation) {
      DeviceGap gap;
      gap.begin_ns = previous == kNone ? window.begin_ns : covered_ns;
      gap.end_ns = end_ns;
      if (gap.end_ns <= gap.begin_ns || gap.end_ns <= window.begin_ns || gap.begin_ns >= window.end_ns) return;
      gap.device = of_gpu.first;
      gap.operation = operation;
      gap.previous = previous;
      if (operation != kNone) gap.launch = trace.operations[operation].launch;
      if (gap.launch != kNone) {
        const HostEvent& launch = trace.host[gap.launch];
        gap.thread = index(launch.thread);
        gap.host_ns = std::clamp(launch.begin_ns, gap.begin_ns, gap.end_ns) - gap.begin_ns;
      }
      if (!selection.threads.empty() && (gap.thread == kNone || !selection.has_thread(trace.threads[gap.thread])))
        return;
      if (operation == kNone ? !selection.nvtx.given() : selection.nvtx.has_operation(operation)) visit(gap);
    };
    in_order_of_start(trace, of_gpu.second, [&](uint32_t row) {
      const GpuOperation& operation = trace.operations[row];
      if (operation.start_ns > covered_ns) add(operation.start_ns, row);
      const int64_t end_ns = std::max(operation.start_ns, operation.end_ns);  // a reversed operation has no duration
      if (previous == kNone || end_ns > covered_ns) {
        covered_ns = end_ns;
        previous = row;
      }
    });
    add(window.end_ns, kNone);
  }
}

}  // namespace prof::analyzer
