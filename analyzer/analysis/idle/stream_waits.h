// Which streams had to wait for an event of another stream, for a value in memory, or for a host function, and since
// when? Sources: the synchronisations that CUPTI reported; the event calls of prof's logs (a record of an event, later
// a wait for the same handle); calls that name an address of memory (value_waits.h); calls that name a host function.
// Used by gap_division.cpp and gaps.cpp. O(n log n).
#pragma once

#include "analyzer/model/call_class.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace prof::analyzer {

class StreamWaits {
 public:
  struct Wait {
    int64_t time_ns = 0;     // begin of the call
    uint32_t other = kNone;  // row of Trace::streams that recorded the event or wrote the value; kNone: unknown
    uint32_t call = kNone;   // row of Trace::host
    bool value = false;      // wait for a value in memory
    // Start of the call that recorded the event or wrote the value: it waits for what was launched before. Maximum:
    // unknown.
    int64_t record_ns = std::numeric_limits<int64_t>::max();
  };

  StreamWaits(const Trace& trace, const CallTable& calls);

  // The last wait for an event or a value, and the last host function, that were put on the stream of an operation
  // after the launch of the operation before it and no later than `launch_ns`. Null if there is none.
  struct Before {
    const Wait* wait = nullptr;
    const Wait* function = nullptr;
    int64_t function_ns = 0;  // the host function began no earlier: after its call and after the operation before it
  };
  Before before_operation(uint32_t operation, int64_t launch_ns) const;

  // The end of the operation of another stream for which a wait lasted: the last one that was launched before the
  // record or the write and started before `until_ns`. The minimum if there is none, or if the other stream is unknown.
  int64_t awaited_end_ns(const Wait& wait, int64_t until_ns) const;

  // Whether the last operation of a stream that started before `until_ns` ended after `after_ns`.
  bool ended_after(uint32_t stream, int64_t after_ns, int64_t until_ns) const;

 private:
  void add_calls(const Trace& trace, const CallTable& calls);
  void add_reported(const Trace& trace, const CallTable& calls);
  static const Wait* last_of(const std::vector<Wait>& waits, int64_t after_ns, int64_t until_ns);

  const Trace& trace_;
  std::vector<std::vector<Wait>> waits_, functions_;  // by stream, then by time
};

}  // namespace prof::analyzer
