// On which stream was the event recorded last that a call waits for? From the event calls of our logs, by the event's handle: other
// tools' traces have no handles, their synchronisations say it themselves (Trace::syncs). O(n log n) in the event calls.
#pragma once

#include "analyzer/model/call_class.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// A call that names an event: makes a stream wait for it, or waits itself. By begin.
struct EventWait {
  uint32_t call = 0;        // row of Trace::host
  bool recorded = false;    // the event was recorded before
  uint32_t stream = kNone;  // row of Trace::streams on which; kNone: not known
};
std::vector<EventWait> event_waits(const Trace& trace, const CallTable& calls);

}  // namespace prof::analyzer
