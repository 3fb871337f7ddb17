// How are slices, instants, counters and tracks written as packets of a Perfetto trace? The caller gives the encoded
// names, flows and arguments of an event (interned_texts.h); this class knows tracks, clocks and sequences.
//
//   sequence 1   all slices and instants; texts are interned here
//   sequence 2   render stages of GPUs, with names of their own
//   sequence 3…  one per counter track
//
// Small packets are the aim. Each track has a clock of its own that counts from the track's previous event
// (`is_incremental`), as long as its sequence has clocks left. A sequence has a default track and clock, and only
// events of other tracks name theirs. Slices become a packet for their begin and one for their end. The ends of a
// track's open slices are kept until their time has come, so the caller gives the slices of a track in the order of
// their begin, the outer one first. A slice that does not nest, or comes too late, is on an extra lane of its track.
#pragma once

#include "analyzer/base/sink.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

class PacketWriter {
 public:
  explicit PacketWriter(Sink& sink);

  // What is above a track: a process, or a group of tracks below a process. Its number; 0: none.
  using Parent = uint32_t;
  using TrackNumber = uint32_t;
  Parent add_process(int32_t pid, std::string_view name, int32_t sort);
  Parent add_group(Parent parent, std::string_view name, int32_t sort);
  TrackNumber add_thread(Parent process, int32_t pid, int32_t tid, std::string_view name, int32_t sort);
  TrackNumber add_track(Parent parent, std::string_view name, int32_t sort);
  // Under the same parent, after the other one.
  TrackNumber add_track_beside(TrackNumber track, std::string_view name);
  TrackNumber add_counter(Parent parent, std::string_view name, std::string_view unit);

  // `fields`: encoded fields of TrackEvent, in pieces. `end_flows`: flows that end where the slice ends.
  struct Fields {
    std::string_view head, flows, arguments;
  };
  void slice(TrackNumber track, int64_t begin_ns, int64_t end_ns, const Fields& fields,
             std::vector<uint64_t> end_flows = {});
  void instant(TrackNumber track, int64_t time_ns, const Fields& fields);
  void count(TrackNumber track, int64_t time_ns, int64_t value);
  void real(TrackNumber track, int64_t time_ns, double value);

  // A packet without a time, of the sequence of slices: interned data.
  void interned_data(std::string_view entry);

  // The sequence of render stages. An event of a queue comes not before the previous one.
  void stage_data(std::string_view entry);
  uint32_t add_queue();
  void stage(uint32_t queue, int64_t time_ns, std::string_view event);

  // Ends every open slice.
  void finish();

 private:
  static constexpr uint32_t kSlices = 1, kStages = 2;
  struct Clock {
    uint8_t id = 0;  // 0: absolute times only
    int64_t last_ns = 0;
  };
  struct Sequence {
    uint64_t track = 0;  // the defaults
    uint8_t clock = 0;
    uint8_t next_clock = 64;
    uint64_t last_track = 0;  // of the last packets
    uint8_t last_clock = 0;
    uint32_t repeated = 0;
  };
  struct Open {
    int64_t end_ns;
    std::vector<uint64_t> flows;
  };
  struct Track {
    uint64_t uuid;
    uint32_t sequence;
    Clock clock, instants;
    std::vector<Open> open;  // outermost first
    TrackNumber next_lane = 0;
    Parent parent = 0;
    std::string name;  // for its extra lanes
    int32_t sort = 0;
  };

  void start_sequence(uint32_t sequence);
  Clock new_clock(uint32_t sequence);
  void set_defaults(uint32_t sequence, uint64_t track, uint8_t clock);
  void describe(const std::string& descriptor);
  TrackNumber new_track(Track track);
  void put_message(uint32_t sequence, uint32_t field, std::string_view message);
  void put_timed(uint32_t sequence, Clock& clock, int64_t time_ns, uint32_t field,
                 std::initializer_list<std::string_view> body);
  void put_event(Track& track, Clock& clock, int64_t time_ns, uint32_t type, const Fields& fields);
  void end_until(Track& track, int64_t time_ns);
  bool fits(Track& track, int64_t begin_ns, int64_t end_ns);
  TrackNumber lane_for(TrackNumber track, int64_t begin_ns, int64_t end_ns);

  Sink& sink_;
  uint64_t last_uuid_ = 0;
  std::vector<Sequence> sequences_;  // by number
  std::deque<Track> tracks_;
  std::vector<Clock> queues_;
  bool stages_started_ = false;
  std::vector<uint64_t> parents_{0};  // uuids
  std::string scratch_;
};

}  // namespace prof::analyzer
