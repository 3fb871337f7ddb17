#include "analyzer/dependencies/recorded_events.h"

#include "analyzer/dependencies/event_marks.h"

#include <algorithm>
#include <unordered_map>

namespace prof::analyzer {

namespace {

class EventCalls {
 public:
  EventCalls(const Trace& trace, const CallTable& calls) : trace_(trace), calls_(calls) {}

  std::vector<EventWait> run() {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < trace_.host.size(); ++row) {
      if (concerns_events(trace_.host[row])) rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t a, uint32_t b) { return trace_.host[a].begin_ns < trace_.host[b].begin_ns; });
    for (const uint32_t row : rows) call(row);
    return std::move(waits_);
  }

 private:
  bool concerns_events(const HostEvent& event) const {
    if (event.kind() != HostKind::Call) return false;
    const CallTraits traits = calls_.of(event);
    if (traits.begins_capture || traits.ends_capture) return true;
    return event.subject != 0 && (traits.role == CallRole::EventRecord || traits.role == CallRole::StreamWait ||
                                  traits.role == CallRole::Synchronize || traits.asks_event);
  }

  // A number for each stream: the GPU's stream if it is known, else the handle's own number.
  uint32_t stream_number(const HostEvent& event) const {
    const uint32_t stream = trace_.host_streams[index(event.stream)].stream;
    return stream != kNone ? stream : static_cast<uint32_t>(trace_.streams.size()) + index(event.stream);
  }

  void call(uint32_t row) {
    const HostEvent& event = trace_.host[row];
    const CallTraits traits = calls_.of(event);
    const uint32_t stream = stream_number(event);
    if (traits.begins_capture) {
      if (event.result() == 0) marks_.begin_capture(stream);
      return;
    }
    if (traits.ends_capture) return marks_.end_capture(stream);
    const HandleKey key{index(trace_.thread(event.thread).process), event.subject};
    if (traits.role == CallRole::EventRecord) {
      marks_.record(key, stream, row);
      recorded_on_[key] = trace_.host_streams[index(event.stream)].stream;
      return;
    }
    EventWait& wait = waits_.emplace_back();
    wait.call = row;
    if (const auto on = recorded_on_.find(key); on != recorded_on_.end()) {
      wait.recorded = true;
      wait.stream = on->second;
    }
    marks_.find(key, wait.record);
    if (traits.role == CallRole::StreamWait)
      wait.captured = marks_.wait(key, stream) == EventMarks::Wait::OfCapture || marks_.captures(stream);
    const auto [number, added] = numbers_.try_emplace(key, last_[key.process] + 1);
    if (added) ++last_[key.process];
    wait.event = number->second;
  }

  const Trace& trace_;
  const CallTable& calls_;
  EventMarks marks_;  // of the record of an event: the row of the call
  std::unordered_map<HandleKey, uint32_t, HandleHash> recorded_on_;
  std::unordered_map<HandleKey, uint32_t, HandleHash> numbers_;
  std::unordered_map<uint32_t, uint32_t> last_;  // by process: the latest number
  std::vector<EventWait> waits_;
};

}  // namespace

std::vector<EventWait> event_waits(const Trace& trace, const CallTable& calls) {
  return EventCalls(trace, calls).run();
}

}  // namespace prof::analyzer
