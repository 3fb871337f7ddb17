// What did a call of a log make wait for what? The kinds are those of CUPTI's record of synchronisations, which a log has none of: it has
// the calls themselves, with their streams and the handles of events. Used by the Chrome trace, whose readers look for such
// records (Kineto's cuda_sync).
//
// Of no kind are calls that failed or never returned, calls inside another one, waits under capture, waits for a
// record that the log does not have, of a stream for its own work, and of what has done no work that the log saw.
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
  uint32_t stream = kNone;     // row of Trace::streams that waits, or is waited for; kNone: events, contexts
  uint32_t record_on = kNone;  // likewise, on which the event was recorded; kNone: it is about no event
  uint32_t record = kNone;     // row of Trace::host that recorded it
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
  mutable std::unordered_map<HandleKey, std::optional<CallSync>, HandleHash> contexts_;  // asked about before
};

}  // namespace prof::analyzer
