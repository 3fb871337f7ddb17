// Which row of the model was created from this event of the trace? The match is exact: start, end, name or correlation
// id must be those of the row. No row is returned twice. Rows are sorted by start in their thread or stream, and are
// searched there. The search first tries the thread or stream where the track's last event was found. Called by
// chrome_copy for each event.
#pragma once

#include "analyzer/input/kineto/chrome_text.h"
#include "analyzer/model/trace.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

struct ChromeRow {
  enum class Table : uint8_t { None, Host, Operations, Ranges, Marks } table = Table::None;
  uint32_t row = 0;
};

class ChromeMatch {
 public:
  // Searches the rows of the processes [first, last), which one file created.
  ChromeMatch(const Trace& trace, Rows processes);

  // Returns a row that the analyses know something about, if the event has one. `expected`: whether an event of this
  // kind should have a row.
  ChromeRow find(const EventFields& event, bool& expected);

  // Converts the event's own time to a time of the model, in ns. Returns false if the event has no readable time.
  bool time_ns(std::string_view ts, int64_t& ns) const;
  // The offset to add to times of the model to get those of the file, in ns, if the file is the only input.
  int64_t offset_ns() const { return offset_ns_; }
  // Whether an event's own time differs from its time in the model.
  bool moves_times() const;

 private:
  struct Wanted;
  struct Track {
    uint32_t thread = kNone, stream = kNone;  // where the last event of the track was found
  };
  // The event's time on the recorded clock.
  bool recorded_ns(std::string_view ts, int64_t& ns) const;
  int64_t aligned(int64_t recorded_ns) const { return clock_ == nullptr ? recorded_ns : clock_->aligned(recorded_ns); }
  bool matches_host(uint32_t row, const Wanted& wanted) const;
  bool matches_operation(uint32_t row, const Wanted& wanted) const;
  bool matches_range(const Range& range, const Wanted& wanted) const;
  uint32_t find_host(Track& track, const Wanted& wanted);
  uint32_t find_operation(Track& track, const Wanted& wanted);
  uint32_t find_range(Track& track, const Wanted& wanted);
  uint32_t find_mark(Track& track, const Wanted& wanted);
  template <class Search> uint32_t everywhere(uint32_t& last, const std::vector<uint32_t>& places, Search search_in);
  Track& track_of(const EventFields& event);

  const Trace& trace_;
  int64_t offset_ns_ = 0;
  const HostClock* clock_ = nullptr;         // null: the input has one clock
  std::vector<uint32_t> threads_, streams_;  // of the processes
  uint64_t fruitless_ = 0, most_fruitless_;  // searches without a result; the limit keeps the cost at n log n
  std::unordered_map<std::string, Track> tracks_;
  std::string track_key_;
  std::vector<bool> host_taken_, operation_taken_, range_taken_, mark_taken_;
};

}  // namespace prof::analyzer
