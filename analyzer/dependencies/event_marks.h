// What does an event stand for when something waits for it, and which streams are being captured? By the handles of a log, call after
// call in the order in which the host made them. Under capture an event marks a place in a graph and orders nothing else; an
// external one is recorded by each launch of its graph, one of a context stands for all streams in it: what those stand for is
// not known. Used by awaited_events.h.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

// A handle of a process.
struct HandleKey {
  uint32_t process;
  uint64_t handle;
  bool operator==(const HandleKey&) const = default;
};
struct HandleHash {
  size_t operator()(const HandleKey& key) const {
    return (key.handle ^ uint64_t{key.process} << 48) * 0x9e3779b97f4a7c15 >> 8;
  }
};

class EventMarks {
 public:
  enum class Wait : uint8_t { ForOperation, OfCapture, Unknown };

  // `stream` is any number that names one stream.
  void begin_capture(uint32_t stream);
  void end_capture(uint32_t stream);
  bool captures(uint32_t stream) const { return capture_of_.contains(stream); }

  // The stream's latest operation is `operation`; kNone: it has run none.
  void record(HandleKey event, uint32_t stream, uint32_t operation);
  void record_unknown(HandleKey event) { events_[event] = {kNone, 0, false}; }

  // A stream that waits for an event of a capture takes part in it.
  Wait wait(HandleKey event, uint32_t stream);
  // False: the event's record is not in the log. kNone: it stands for nothing, or that is not known.
  bool find(HandleKey event, uint32_t& operation) const;

 private:
  struct Mark {
    uint32_t operation = kNone;
    uint32_t capture = 0;  // 0: none
    bool known = true;
  };
  std::unordered_map<HandleKey, Mark, HandleHash> events_;
  std::unordered_map<uint32_t, uint32_t> capture_of_;  // streams that take part in one
  std::vector<std::vector<uint32_t>> captures_;        // streams of each; empty: it has ended
};

}  // namespace prof::analyzer
