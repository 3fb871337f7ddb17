// What must end before an event is complete, when something waits for it, and which streams are being captured? Found
// by the handles of a log, call by call in the order in which the host made them. During capture an event is a position
// in a graph and orders nothing else. An external event is recorded by each launch of its graph, and an event of a
// context covers all streams in it: what these two wait for is unknown. Used by awaited_events.h.
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

  // `stream` is any number that identifies a stream.
  void begin_capture(uint32_t stream);
  void end_capture(uint32_t stream);
  bool captures(uint32_t stream) const { return capture_of_.contains(stream); }

  // `operation` is the stream's latest operation; kNone: it has none.
  void record(HandleKey event, uint32_t stream, uint32_t operation);
  void record_unknown(HandleKey event) { events_[event] = {kNone, 0, false}; }

  // A stream that waits for an event of a capture joins the capture.
  Wait wait(HandleKey event, uint32_t stream);
  // False: the event's record is not in the log. kNone: no operation must end, or it is unknown.
  bool find(HandleKey event, uint32_t& operation) const;

 private:
  struct Mark {
    uint32_t operation = kNone;
    uint32_t capture = 0;  // 0: none
    bool known = true;
  };
  std::unordered_map<HandleKey, Mark, HandleHash> events_;
  std::unordered_map<uint32_t, uint32_t> capture_of_;  // streams that take part in a capture
  std::vector<std::vector<uint32_t>> captures_;        // streams of each capture; empty: it has ended
};

}  // namespace prof::analyzer
