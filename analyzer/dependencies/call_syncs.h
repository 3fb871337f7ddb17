// What did a call of a log make wait, and for what? The kinds are those of CUPTI's synchronisation records. A log has
// no such records: it has the calls, with their streams and the handles of events. Used by the Chrome trace, whose
// readers expect such records (Kineto's cuda_sync).
//
// These calls have no kind: calls that failed or never returned, calls inside other calls, waits during capture, waits
// for a record that the log does not have, waits of a stream for itself, and waits for streams or contexts without
// operations in the log.
#pragma once

#include "analyzer/dependencies/event_marks.h"
#include "analyzer/dependencies/recorded_events.h"
#include "analyzer/model/call_class.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

struct CallSync {
  SyncKind kind{};
  DeviceId device{};
  uint32_t context = 0;        // CUPTI's number
  uint32_t stream = kNone;     // row of Trace::streams that waits or is waited for; kNone: events, contexts
  uint32_t record_on = kNone;  // row of Trace::streams where the event was recorded; kNone: no event
  uint32_t record = kNone;     // row of Trace::host that recorded the event
  uint32_t event = 0;          // EventWait::event
};

class CallSyncs {
 public:
  explicit CallSyncs(const Trace& trace);

  // Of a row of Trace::host.
  std::optional<CallSync> of(uint32_t call) const;

 private:
  const EventWait* wait_of(uint32_t call) const;
  std::optional<CallSync> of_stream(SyncKind kind, uint32_t stream) const;
  std::optional<CallSync> of_event(uint32_t call) const;
  std::optional<CallSync> of_context(HandleKey context) const;

  const Trace& trace_;
  CallTable calls_;
  std::vector<EventWait> waits_;                                                         // by call
  mutable std::unordered_map<HandleKey, std::optional<CallSync>, HandleHash> contexts_;  // results of earlier queries
};

}  // namespace prof::analyzer
