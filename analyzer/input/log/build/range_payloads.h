// Payloads that are recorded before their NVTX event become values of that event's range. Part of the third step of the
// builder.
#pragma once

#include "analyzer/input/log/build/stages.h"

#include <vector>

namespace prof::analyzer {

class RangePayloads {
 public:
  explicit RangePayloads(Trace& trace) : trace_(trace) {}

  void add(const RecordedPayload& payload) { pending_.push_back(&payload); }

  // The payloads that were recorded before the event of `thread` at `tick`, as a row of Trace::payloads; 0: none.
  // Payloads of a lost event are unread.
  uint32_t take(uint64_t tick, const LogInput& input, ThreadId thread);
  void leave_unread(const LogInput& input);

  // Adds values to a range at its end (0: none).
  void extend(Range& range, uint32_t values);
  // Adds the path of the range's scope as a value, if the log has it.
  void add_scope(Range& range, const LogInput& input, format::DomainId domain, uint64_t scope);

 private:
  uint32_t add_row(uint32_t first);

  Trace& trace_;
  ScopePaths scopes_{trace_};
  std::vector<const RecordedPayload*> pending_;  // of the next event
};

}  // namespace prof::analyzer
