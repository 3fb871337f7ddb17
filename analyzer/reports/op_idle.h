// What are the queue depth, idle time and starved time of one op on one GPU? Used by op-idle and op-idle-trace.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/idle/device_idle.h"
#include "analyzer/analysis/idle/torch_queue_depth.h"

#include <cstdint>
#include <unordered_map>

namespace prof::analyzer {

struct OpIdle {
  uint32_t range = 0;    // row of Trace::ranges
  uint32_t gpu = kNone;  // index of the GPU; kNone with the reference's definitions: one number over all GPUs
  uint32_t waiting = 0;  // operations that were waiting when the op started
  uint32_t outstanding = 0;
  int64_t inside_ns = 0;   // time of the op inside the windows; for the reference, its duration
  int64_t idle_ns = 0;     // the part of inside_ns in which the GPU was idle
  int64_t charged_ns = 0;  // idle time of the GPU that its division charges to the op; the reference has no such number
  int64_t starved_ns = 0;  // the part of idle_ns in which nothing was waiting; the reference has no such number
};

// Calls visit(OpIdle, const DeviceIdle* or null) for every op of the selected threads that overlaps the windows, GPU by
// GPU. Returns a description of what the numbers cover, for the notes.
template <class Visit> std::string for_each_op(const AnalysisInput& input, Visit&& visit);

struct OpWindows {
  IntervalSet inside;
  std::string note;
};
OpWindows op_windows(const AnalysisInput& input);

// The idle time inside the windows that gap_division.h charges to the innermost op around the work of the host. By
// charged_key(); ops without such time are missing. The launch after a gap may come from any thread or range.
std::unordered_map<uint64_t, int64_t> charged_idle(const AnalysisInput& input, const IntervalSet& inside);
inline uint64_t charged_key(DeviceId device, uint32_t range) { return uint64_t{index(device)} << 32 | range; }

template <class Visit> std::string for_each_op(const AnalysisInput& input, Visit&& visit) {
  const Trace& trace = input.trace;
  const auto wanted = [&](uint32_t row) {
    const Range& range = trace.ranges[row];
    return is_op(range) && input.selection.nvtx.has_range(row) &&
           input.selection.has_thread(trace.thread(range.thread));
  };
  if (input.options.definitions == Definitions::Reference) {
    const TorchQueueDepth queue(trace, input.views);
    for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
      const Range& range = trace.ranges[row];
      if (!wanted(row) || !TorchQueueDepth::is_event(range)) continue;
      if (!input.selection.in_window(range.begin_ns, range.end_ns)) continue;
      OpIdle op;
      op.range = row;
      op.waiting = op.outstanding = queue.depth_at(row);
      op.inside_ns = std::max<int64_t>(0, range.end_ns - range.begin_ns);
      op.idle_ns = queue.idle().overlap_ns(range.begin_ns, range.end_ns);
      visit(op, static_cast<const DeviceIdle*>(nullptr));
    }
    return "definitions of torch.profiler._utils: one depth over all streams and devices; idle: nothing in the queue";
  }
  const OpWindows windows = op_windows(input);
  const std::vector<std::unique_ptr<DeviceIdle>> devices = idle_of_devices(input, windows.inside);
  const std::unordered_map<uint64_t, int64_t> charged = charged_idle(input, windows.inside);
  for (uint32_t d = 0; d < devices.size(); ++d) {
    const DeviceIdle& device = *devices[d];
    for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
      const Range& range = trace.ranges[row];
      if (!wanted(row) || !device.serves(range.thread)) continue;
      OpIdle op;
      op.inside_ns = device.inside().overlap_ns(range.begin_ns, range.end_ns);
      if (op.inside_ns == 0) continue;
      const DepthStep depth = device.depth_at(range.begin_ns);
      op.range = row;
      op.gpu = d;
      op.waiting = depth.waiting;
      op.outstanding = depth.outstanding;
      op.idle_ns = device.idle().overlap_ns(range.begin_ns, range.end_ns);
      const auto of_op = charged.find(charged_key(device.device(), row));
      op.charged_ns = of_op == charged.end() ? 0 : of_op->second;
      op.starved_ns = device.starved().overlap_ns(range.begin_ns, range.end_ns);
      visit(op, &device);
    }
  }
  return windows.note;
}

}  // namespace prof::analyzer
