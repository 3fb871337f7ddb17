// A step of the builder: ties the program's own clocks to the log's, and reads their time stamps.
#include "analyzer/input/log/build/stages.h"
#include "preload/format/nvtx_types.h"

namespace prof::analyzer {

namespace {

using format::StampClock;

// Of a clock that the log itself can convert.
std::optional<int64_t> known_ns(const LogInput& input, StampClock clock, int64_t stamp) {
  switch (clock) {
    case StampClock::Tick:
      return near_ns(WideNs{static_cast<int64_t>(input.clock->ns(static_cast<uint64_t>(stamp)))} - input.origin_ns);
    case StampClock::Monotonic: return near_ns(WideNs{stamp} - input.origin_ns);
    case StampClock::Realtime: return near_ns(WideNs{stamp} - input.clock->realtime_offset_ns() - input.origin_ns);
    default: return std::nullopt;
  }
}

}  // namespace

void read_clocks(std::vector<LogInput>& inputs, const std::vector<LogTask>& tasks) {
  const std::vector<std::vector<uint32_t>> of_log = tasks_by_log(inputs.size(), tasks);
  for (size_t i = 0; i < inputs.size(); ++i) {
    LogInput& input = inputs[i];
    if (input.clock_definitions.empty()) continue;
    std::vector<format::NvtxSyncPoint> points;
    for (const uint32_t t : of_log[i])
      points.insert(points.end(), tasks[t].sync_points.begin(), tasks[t].sync_points.end());
    const auto realtime_ns = static_cast<int64_t>(input.file->header().start_realtime_ns);
    const auto known = [&input](StampClock clock, int64_t stamp) { return known_ns(input, clock, stamp); };
    input.clocks = ProgramClocks(input.clock_definitions, points, realtime_ns, known);
  }
}

std::optional<int64_t> stamp_ns(const LogInput& input, StampClock clock, uint64_t stamp) {
  const auto at = static_cast<int64_t>(stamp);
  return clock < StampClock::kFirstProgramClock ? known_ns(input, clock, at) : input.clocks.ns(clock, at);
}

void count_unknown_times(Trace& trace) {
  for (Process& process : trace.processes)  // the recorder counts some itself
    process.count(format::LossCounter::nvtx_times_unknown, process.nvtx_times_unknown);
}

}  // namespace prof::analyzer
