// How do the events of a Chrome trace become packets of a Perfetto trace? Its events may be in any order and its arrows
// are events of their own, so all are kept until the last one is known: their encoded arguments, and 40 bytes for each.
// Then each track is sorted by time and written. Called by chrome_copy.cpp for inputs that are Chrome traces.
//
// Phases: X, B and E, i and I, b and e, C, s, t and f. Names of processes and threads are M. Others are not written.
#pragma once

#include "analyzer/output/chrome/event_list.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class CopiedEvents {
 public:
  explicit CopiedEvents(EventList& events) : events_(events) {}

  // `event` and its `args`, an object or empty, are strict JSON. `members`: arguments to add, encoded by EventMembers.
  void add(std::string_view event, std::string_view args, std::string_view members);
  // One end of an arrow that analyses found. `track`: `"pid":1,"tid":2,"ts":` as in the events.
  void flow(bool start, uint64_t id, std::string_view track, int64_t time_ns);
  // Names the processes, so that counters can be added to them.
  void name_processes();
  void write();

 private:
  enum class Kind : uint8_t { Slice, FlowStart, FlowEnd, Instant };
  struct Record {
    int64_t begin_ns, end_ns;
    uint64_t value;  // where the fields are in texts_, or the id of the arrow
    uint32_t head_bytes, argument_bytes;
    uint32_t track;
    Kind kind;
  };
  struct Track {
    std::string pid, tid;  // JSON
    std::string beside;    // name of a track beside that thread, for slices that need not nest
    PacketWriter::TrackNumber number = 0;
    std::vector<uint32_t> open;  // records of B without E
  };
  struct Place {
    std::string name, label;
    int32_t sort = 0;
  };
  struct Value {
    int64_t time_ns;
    double value;
  };
  struct Series {
    std::string pid, name, unit;
    std::vector<Value> values;
  };

  uint32_t track_of(const std::string& pid, const std::string& tid, const std::string& beside = {});
  void add_record(Kind kind, uint32_t track, int64_t begin_ns, int64_t end_ns, std::string_view head,
                  std::string_view arguments);
  void add_flow(bool start, uint32_t track, int64_t time_ns, uint64_t id);
  void write_track(size_t first, size_t last);

  EventList& events_;
  std::vector<Record> records_;
  std::string texts_;
  std::vector<Track> tracks_;
  std::map<std::string, uint32_t> track_numbers_;
  std::map<std::string, Place> processes_;  // by pid
  std::map<std::pair<std::string, std::string>, Place> threads_;
  std::map<std::string, Series> counters_;
  std::unordered_map<std::string, uint64_t> flow_ids_;
  std::unordered_map<std::string, uint32_t> async_;  // records of b without e, by category and id
};

}  // namespace prof::analyzer
