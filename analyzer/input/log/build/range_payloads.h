// Payloads that stand before the NVTX event they belong to, as values of that event's range. Third step of the builder.
#pragma once

#include "analyzer/input/log/build/stages.h"

#include <vector>

namespace prof::analyzer {

class RangePayloads {
 public:
  explicit RangePayloads(Trace& trace) : trace_(trace) {}

  void add(const RecordedPayload& payload) { pending_.push_back(&payload); }

  // The payloads that stood before the event of `thread` at `tick`, as a row of Trace::payloads; 0: none. Those of an event that is lost are unread.
  uint32_t take(uint64_t tick, const LogInput& input, ThreadId thread);
  void leave_unread(const LogInput& input);

  // A range gets more values at its end (0: none).
  void extend(Range& range, uint32_t values);
  // The path of its scope as one more value, if the log tells it.
  void add_scope(Range& range, const LogInput& input, format::DomainId domain, uint64_t scope);

 private:
  uint32_t add_row(uint32_t first);

  Trace& trace_;
  ScopePaths scopes_{trace_};
  std::vector<const RecordedPayload*> pending_;  // of the event that comes next
};

}  // namespace prof::analyzer
