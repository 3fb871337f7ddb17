#include "analyzer/analysis/stream_waits.h"

#include "analyzer/model/recorded_events.h"

#include <algorithm>

namespace prof::analyzer {

StreamWaits::StreamWaits(const Trace& trace, const CallTable& calls) : of_stream_(trace.streams.size()) {
  for (const SyncEvent& sync : trace.syncs) {
    if (sync.kind != SyncKind::StreamWaitEvent || sync.stream == kNone) continue;
    const int64_t time_ns = sync.call != kNone ? trace.host[sync.call].begin_ns : sync.begin_ns;
    of_stream_[sync.stream].push_back({time_ns, sync.waits_for, sync.call});
  }
  for (const EventWait& wait : event_waits(trace, calls)) {
    const HostEvent& event = trace.host[wait.call];
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    if (calls.role(event) == CallRole::StreamWait && stream != kNone)
      of_stream_[stream].push_back({event.begin_ns, wait.stream, wait.call});
  }
  for (std::vector<Wait>& waits : of_stream_) {
    std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.time_ns < b.time_ns; });
  }
}

const StreamWaits::Wait* StreamWaits::last(StreamId stream, int64_t after_ns, int64_t until_ns) const {
  const std::vector<Wait>& waits = of_stream_[index(stream)];
  const auto behind =
      std::partition_point(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.time_ns <= until_ns; });
  if (behind == waits.begin() || behind[-1].time_ns <= after_ns) return nullptr;
  return &behind[-1];
}

}  // namespace prof::analyzer
