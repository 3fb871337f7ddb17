// See full_queue_waits.h.
#include "analyzer/dependencies/full_queue_waits.h"

#include "analyzer/dependencies/long_launches.h"

#include <algorithm>

namespace prof::analyzer {

FullQueueWaits::FullQueueWaits(const Trace& trace) : trace_(trace) {
  for (const Stream& stream : trace.streams) finished_.push_back(stream.operations.first);
}

// A launch into a full queue waits for the last operation that ended before the launch returned.
void FullQueueWaits::launch(uint32_t row, uint32_t stream, uint32_t launched) {
  const HostEvent& event = trace_.host[row];
  const Rows rows = trace_.streams[stream].operations;
  uint32_t& finished = finished_[stream];
  while (finished < rows.last && end_of(finished) <= event.begin_ns) ++finished;
  if (launched == kNone || launched < finished) return;
  if (launched + 1 - finished < kQueueFullFrom) return;
  uint32_t last = finished;
  for (uint32_t step = 1u << 12; step != 0; step >>= 1) {  // ends increase: at most 8,191 rows ahead
    if (step < rows.last - last && end_of(last + step) <= event.end_ns) last += step;
  }
  if (last < rows.last && end_of(last) > event.begin_ns && end_of(last) <= event.end_ns) met_.push_back({row, last});
}

void FullQueueWaits::find_waits(Dependencies& to) const {
  if (met_.empty()) return;
  std::vector<bool> wanted(trace_.apis.size());
  for (const Wait& wait : met_) wanted[trace_.host[wait.waiter].api()] = true;
  const LongLaunches launches(trace_, wanted);
  for (const Wait& wait : met_) {
    if (!launches.is_long(trace_.host[wait.waiter])) continue;
    to.blocked_launches.push_back(wait.waiter);
    to.of_calls.push_back(wait);
  }
  std::sort(to.blocked_launches.begin(), to.blocked_launches.end());
}

}  // namespace prof::analyzer
