// Which operation must end before an event is complete, when something waits for the event? Found by the event's handle
// (prof's logs) or by CUPTI's report of the wait (other tools' traces). All calls must be passed in the order in which
// the host made them. Used by dependencies.cpp, which knows what each stream ran last: `latest(stream)` is the row of
// its latest launched operation, kNone if there is none.
#pragma once

#include "analyzer/dependencies/event_marks.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace prof::analyzer {

class AwaitedEvents {
 public:
  explicit AwaitedEvents(const Trace& trace);

  // CUPTI's report of the wait of the call in that row of Trace::host; null: none.
  const SyncEvent* reported(uint32_t call) const {
    const auto found = reported_.find(call);
    return found == reported_.end() ? nullptr : &trace_.syncs[found->second];
  }

  // A call that records an event into `stream`, which is any number that identifies a stream; kNone: unknown stream.
  template <class Latest> void record(uint32_t row, const HostEvent& call, uint32_t stream, const Latest& latest) {
    if (call.subject != 0) {
      const bool known = stream != kNone && !events_of_graphs_.contains(row);
      if (known) {
        marks_.record(event_of(call), stream, latest(stream));
      } else {
        marks_.record_unknown(event_of(call));
      }
    }
    if (call.correlation == 0 || records_.empty()) return;
    const auto asked = records_.find(record_key(call, call.correlation));
    if (asked == records_.end()) return;
    asked->second.operation = latest(asked->second.stream);
    asked->second.made = true;
  }

  void begin_capture(uint32_t stream) { marks_.begin_capture(stream); }
  void end_capture(uint32_t stream) { marks_.end_capture(stream); }

  // A call of a log that makes `stream` wait for an event.
  EventMarks::Wait wait(const HostEvent& call, uint32_t stream) { return marks_.wait(event_of(call), stream); }

  // The operation that must end before the event is complete that the call waits for. kNone: there is none, or it is
  // unknown.
  template <class Latest> uint32_t operation(uint32_t row, const HostEvent& call, const Latest& latest) const {
    if (uint32_t operation = kNone; call.subject != 0 && marks_.find(event_of(call), operation)) return operation;
    const SyncEvent* const sync = reported(row);
    if (sync == nullptr) return kNone;
    const auto record = records_.find(record_key(call, sync->record_correlation));
    if (sync->record_correlation != 0 && record != records_.end() && record->second.made)
      return record->second.operation;
    // The record of the event is not in the trace. It was made now at the latest.
    return sync->waits_for == kNone ? kNone : latest(sync->waits_for);
  }

 private:
  struct Record {
    uint32_t stream = kNone;  // where the event was recorded
    uint32_t operation = kNone;
    bool made = false;
  };

  uint32_t process_of(const HostEvent& call) const { return index(trace_.thread(call.thread).process); }
  HandleKey event_of(const HostEvent& call) const { return {process_of(call), call.subject}; }
  uint64_t record_key(const HostEvent& call, uint32_t correlation) const {
    return uint64_t{process_of(call)} << 32 | correlation;
  }

  const Trace& trace_;
  std::unordered_map<uint32_t, uint32_t> reported_;  // row of a call -> row of Trace::syncs
  std::unordered_map<uint64_t, Record> records_;     // process, correlation of the call that recorded an event
  std::unordered_set<uint32_t> events_of_graphs_;    // rows of calls that created an event record node
  EventMarks marks_;
};

}  // namespace prof::analyzer
