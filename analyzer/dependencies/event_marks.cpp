#include "analyzer/dependencies/event_marks.h"

namespace prof::analyzer {

void EventMarks::begin_capture(uint32_t stream) {
  captures_.push_back({stream});
  capture_of_[stream] = static_cast<uint32_t>(captures_.size());
}

// The call that ends an invalidated capture returns an error, but it ends the capture.
void EventMarks::end_capture(uint32_t stream) {
  const auto capture = capture_of_.find(stream);
  if (capture == capture_of_.end()) return;
  for (const uint32_t member : std::exchange(captures_[capture->second - 1], {})) capture_of_.erase(member);
}

void EventMarks::record(HandleKey event, uint32_t stream, uint32_t operation) {
  const auto capture = capture_of_.find(stream);
  events_[event] = capture == capture_of_.end() ? Mark{operation, 0, true} : Mark{kNone, capture->second, true};
}

EventMarks::Wait EventMarks::wait(HandleKey event, uint32_t stream) {
  const auto found = events_.find(event);
  if (found == events_.end() || !found->second.known) return Wait::Unknown;
  const uint32_t capture = found->second.capture;
  if (capture == 0) return captures(stream) ? Wait::Unknown : Wait::ForOperation;  // at each launch of a graph
  if (captures_[capture - 1].empty()) return Wait::Unknown;
  if (capture_of_.emplace(stream, capture).second) captures_[capture - 1].push_back(stream);
  return Wait::OfCapture;
}

bool EventMarks::find(HandleKey event, uint32_t& operation) const {
  const auto found = events_.find(event);
  if (found == events_.end()) return false;
  operation = found->second.operation;
  return true;
}

}  // namespace prof::analyzer
