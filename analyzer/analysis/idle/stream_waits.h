// Which streams were made to wait for an event of another one, for a word of memory or for a function of the program, and when?
// From the synchronisations that CUPTI reported, from the event calls of our logs (a record of the event, later a wait for the same
// handle), from the calls that name a word of memory (value_waits.h) and from those that name a function. O(n log n).
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
    uint32_t other = kNone;  // row of Trace::streams that recorded the event or wrote the word; kNone: not known
    uint32_t call = kNone;   // row of Trace::host
    bool value = false;      // for a word of memory
  };

  StreamWaits(const Trace& trace, const CallTable& calls);

  // The last wait for an event or a word that the stream was given in (after, until]; null if there is none.
  const Wait* last(StreamId stream, int64_t after_ns, int64_t until_ns) const {
    return last_of(waits_[index(stream)], after_ns, until_ns);
  }
  // The last function of the program that it was given.
  const Wait* last_function(StreamId stream, int64_t after_ns, int64_t until_ns) const {
    return last_of(functions_[index(stream)], after_ns, until_ns);
  }

 private:
  void add_calls(const Trace& trace, const CallTable& calls);
  static const Wait* last_of(const std::vector<Wait>& waits, int64_t after_ns, int64_t until_ns);

  std::vector<std::vector<Wait>> waits_, functions_;  // by stream, then by time
};

}  // namespace prof::analyzer
