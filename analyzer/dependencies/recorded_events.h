// Which record of an event does a call refer to that waits for it or queries it, and on which stream was it made? Found
// in the event calls of prof's logs by the event's handle, in the order in which the host made them. Other tools'
// traces have no handles; their synchronisation records name it (Trace::syncs). O(n log n) in the event calls.
#pragma once

#include "analyzer/model/call_class.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// A call that names an event: it makes a stream wait for it, waits itself, or queries it. Ordered by start.
struct EventWait {
  uint32_t call = 0;        // row of Trace::host
  bool recorded = false;    // the event was recorded before
  bool captured = false;    // the call's stream is being captured, or the event is a position in a graph: nothing waits
  uint32_t stream = kNone;  // row of Trace::streams on which it was recorded; kNone: unknown
  uint32_t record =
      kNone;           // row of Trace::host that recorded it; kNone: not in the log, or it is a position in a graph
  uint32_t event = 0;  // number of the event in its process, from 1 in order of first use
};
std::vector<EventWait> event_waits(const Trace& trace, const CallTable& calls);

}  // namespace prof::analyzer
