// Which row of the model was made from this event of the trace? Exact: begin, end, name or correlation id must be those of the row,
// and no row is given twice. Rows are sorted by begin in their thread or stream, so they are searched there; the track an event is
// on tells which thread or stream to try first. Called by chrome_copy for each event.
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
  // Of the processes [first, last), which one file made.
  ChromeMatch(const Trace& trace, Rows processes);

  // A row of a table the analyses know something about, if the event is one. `expected`: its kind says that it should be.
  ChromeRow find(const EventFields& event, bool& expected);

  // The event's own time as time of the model, in ns; false: it has none that can be read.
  bool time_ns(std::string_view ts, int64_t& ns) const;
  // What to add to times of the model to have those of the file.
  int64_t offset_ns() const { return offset_ns_; }

 private:
  struct Wanted;
  struct Track {
    uint32_t thread = kNone, stream = kNone;  // where the last event of the track was found
  };
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
  std::vector<uint32_t> threads_, streams_;  // of the processes
  uint64_t fruitless_ = 0, most_fruitless_;  // searches of places that did not have the row: the cost stays n log n
  std::unordered_map<std::string, Track> tracks_;
  std::string track_key_;
  std::vector<bool> host_taken_, operation_taken_, range_taken_, mark_taken_;
};

}  // namespace prof::analyzer
