// Which record of an event does a call mean that waits for it or asks about it, and on which stream was it made? From the event calls
// of our logs, by the event's handle, in the order in which the host made them: other tools' traces have no handles, their
// synchronisations say it themselves (Trace::syncs). O(n log n) in the event calls.
#pragma once

#include "analyzer/model/call_class.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// A call that names an event: makes a stream wait for it, waits itself, or asks whether it has come. By begin.
struct EventWait {
  uint32_t call = 0;        // row of Trace::host
  bool recorded = false;    // the event was recorded before
  bool captured = false;    // its stream is being captured, or the event stands for a place in a graph: nothing waits
  uint32_t stream = kNone;  // row of Trace::streams on which it was recorded; kNone: not known
  uint32_t record =
      kNone;           // row of Trace::host that recorded it; kNone: not in the log, or it marks a place in a graph
  uint32_t event = 0;  // number of the event in its process, from 1 in the order of first use
};
std::vector<EventWait> event_waits(const Trace& trace, const CallTable& calls);

}  // namespace prof::analyzer
