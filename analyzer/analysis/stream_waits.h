// Which streams were made to wait for an event of another one, and when? From the synchronisations that CUPTI reported, and
// from the event calls of our logs (a record of the event, later a wait for the same handle). O(n log n).
#pragma once

#include "analyzer/model/call_class.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

class StreamWaits {
 public:
  struct Wait {
    int64_t time_ns = 0;     // the call was entered
    uint32_t other = kNone;  // row of Trace::streams on which the event was recorded; kNone: not known
    uint32_t call = kNone;   // row of Trace::host
  };

  StreamWaits(const Trace& trace, const CallTable& calls);

  // The last wait that the stream was given in (after, until]; null if there is none.
  const Wait* last(StreamId stream, int64_t after_ns, int64_t until_ns) const;

 private:
  std::vector<std::vector<Wait>> of_stream_;  // by time
};

}  // namespace prof::analyzer
