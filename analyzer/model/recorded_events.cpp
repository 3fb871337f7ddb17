#include "analyzer/model/recorded_events.h"

#include <algorithm>
#include <map>
#include <utility>

namespace prof::analyzer {

std::vector<EventWait> event_waits(const Trace& trace, const CallTable& calls) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    if (event.kind() != HostKind::Call || event.subject == 0) continue;
    const CallRole role = calls.role(event);
    if (role == CallRole::EventRecord || role == CallRole::StreamWait || role == CallRole::Synchronize)
      rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return trace.host[a].begin_ns < trace.host[b].begin_ns; });
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> recorded_on;  // (process, event) -> stream
  std::vector<EventWait> waits;
  for (const uint32_t row : rows) {
    const HostEvent& event = trace.host[row];
    const std::pair<uint32_t, uint64_t> key{index(trace.thread(event.thread).process), event.subject};
    if (calls.role(event) == CallRole::EventRecord) {
      recorded_on[key] = trace.host_streams[index(event.stream)].stream;
      continue;
    }
    const auto found = recorded_on.find(key);
    const bool recorded = found != recorded_on.end();
    waits.push_back({row, recorded, recorded ? found->second : kNone});
  }
  return waits;
}

}  // namespace prof::analyzer
