#include "analyzer/analysis/stream_waits.h"

#include <algorithm>
#include <map>
#include <utility>

namespace prof::analyzer {

StreamWaits::StreamWaits(const Trace& trace, const CallRoles& roles) : of_stream_(trace.streams.size()) {
  for (const SyncEvent& sync : trace.syncs) {
    if (sync.kind != SyncKind::StreamWaitEvent || sync.stream == kNone) continue;
    const int64_t time_ns = sync.call != kNone ? trace.host[sync.call].begin_ns : sync.begin_ns;
    of_stream_[sync.stream].push_back({time_ns, sync.waits_for, sync.call});
  }
  std::vector<uint32_t> calls;
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    const CallRole role = roles.of(event);
    if ((role == CallRole::StreamWait || role == CallRole::EventRecord) && index(event.stream) != 0)
      calls.push_back(row);
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [&](uint32_t a, uint32_t b) { return trace.host[a].begin_ns < trace.host[b].begin_ns; });
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> recorded_on;  // (process, event) -> stream
  for (const uint32_t row : calls) {
    const HostEvent& event = trace.host[row];
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    const std::pair<uint32_t, uint64_t> key{index(trace.thread(event.thread).process), event.subject};
    if (roles.of(event) == CallRole::EventRecord) {
      recorded_on[key] = stream;
    } else if (stream != kNone) {
      const auto found = recorded_on.find(key);
      of_stream_[stream].push_back({event.begin_ns, found == recorded_on.end() ? kNone : found->second, row});
    }
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
