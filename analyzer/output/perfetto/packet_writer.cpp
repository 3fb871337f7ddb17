#include "analyzer/output/perfetto/packet_writer.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/output/perfetto/perfetto_fields.h"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <utility>

namespace prof::analyzer {

using namespace perfetto;  // NOLINT: names of fields
using protozero::pbf_writer;

namespace {

// After so many packets in a row of one track and clock, these become the defaults of the sequence.
constexpr uint32_t kRepeated = 8;
constexpr size_t kMostHead = 64;  // bytes of a packet before its event

char* put_varint(char* to, uint64_t value) { return to + protozero::add_varint_to_buffer(to, value); }
char* put_number(char* to, Field field, uint64_t value) { return put_varint(put_varint(to, field << 3), value); }
char* put_length(char* to, Field field, size_t bytes) { return put_varint(put_varint(to, field << 3 | 2), bytes); }

}  // namespace

PacketWriter::PacketWriter(Sink& sink) : sink_(sink), sequences_(kStages + 1) { start_sequence(kSlices); }

void PacketWriter::interned_data(std::string_view entry) { put_message(kSlices, packet::kInternedData, entry); }

void PacketWriter::start_sequence(uint32_t sequence) {
  std::string text;
  pbf_writer writer(text);
  writer.add_uint32(packet::kSequence, sequence);
  writer.add_uint32(packet::kSequenceFlags, packet::kStateCleared);
  writer.add_bool(packet::kFirstOnSequence, true);
  std::string outer;
  pbf_writer(outer).add_message(trace::kPacket, text);
  sink_.write(outer);
}

// A sequence has 64 clocks. Without one, every event has its absolute time.
PacketWriter::Clock PacketWriter::new_clock(uint32_t sequence) {
  Sequence& of = sequences_[sequence];
  if (of.next_clock > snapshot::kLastOwnClock) return {};
  const uint8_t id = of.next_clock++;
  std::string text;
  {
    pbf_writer writer(text);
    for (const bool own : {false, true}) {
      pbf_writer clock(writer, snapshot::kClocks);
      clock.add_uint32(snapshot::kClockId, own ? id : snapshot::kBootTime);
      clock.add_uint64(snapshot::kTime, 0);
      if (own) clock.add_bool(snapshot::kIncremental, true);
    }
  }
  put_message(sequence, packet::kClockSnapshot, text);
  return {id, 0};
}

void PacketWriter::set_defaults(uint32_t sequence, uint64_t track, uint8_t clock) {
  Sequence& of = sequences_[sequence];
  of.track = track;
  of.clock = clock;
  std::string text;
  {
    pbf_writer writer(text);
    if (track != 0) {
      pbf_writer event(writer, defaults::kTrackEvent);
      event.add_uint64(defaults::kTrack, track);
    }
    writer.add_uint32(defaults::kClock, clock != 0 ? clock : snapshot::kBootTime);
  }
  put_message(sequence, packet::kDefaults, text);
}

void PacketWriter::put_message(uint32_t sequence, uint32_t field, std::string_view message) {
  char head[kMostHead];
  char* to = put_number(head, packet::kSequence, sequence);
  to = put_length(to, field, message.size());
  const std::string_view before(head, static_cast<size_t>(to - head));
  to = put_length(sink_.room(message.size() + 2 * kMostHead), trace::kPacket, before.size() + message.size());
  sink_.filled(put_bytes(put_bytes(to, before), message));
}

void PacketWriter::describe(const std::string& descriptor) {
  put_message(kSlices, packet::kTrackDescriptor, descriptor);
}

PacketWriter::Parent PacketWriter::add_process(int32_t pid, std::string_view name, int32_t sort) {
  std::string text;
  {
    pbf_writer writer(text);
    writer.add_uint64(descriptor::kUuid, ++last_uuid_);
    pbf_writer process(writer, descriptor::kProcess);
    process.add_int32(descriptor::kProcessPid, pid);
    process.add_int32(descriptor::kProcessSort, sort);
    process.add_string(descriptor::kProcessName, name.data(), name.size());
    process.commit();
    writer.add_uint32(descriptor::kChildOrdering, descriptor::kExplicit);
  }
  describe(text);
  parents_.push_back(last_uuid_);
  return static_cast<Parent>(parents_.size() - 1);
}

PacketWriter::Parent PacketWriter::add_group(Parent parent, std::string_view name, int32_t sort) {
  std::string text;
  pbf_writer writer(text);
  writer.add_uint64(descriptor::kUuid, ++last_uuid_);
  writer.add_string(descriptor::kName, name.data(), name.size());
  if (parent != 0) writer.add_uint64(descriptor::kParent, parents_[parent]);
  writer.add_uint32(descriptor::kChildOrdering, descriptor::kExplicit);
  writer.add_int32(descriptor::kRank, sort);
  writer.add_uint32(descriptor::kMerge, descriptor::kMergeNever);
  describe(text);
  parents_.push_back(last_uuid_);
  return static_cast<Parent>(parents_.size() - 1);
}

PacketWriter::TrackNumber PacketWriter::new_track(Track track) {
  if (track.sequence == kSlices) track.clock = new_clock(kSlices);
  tracks_.push_back(std::move(track));
  return static_cast<TrackNumber>(tracks_.size());
}

PacketWriter::TrackNumber PacketWriter::add_thread(Parent process, int32_t pid, int32_t tid, std::string_view name,
                                                   int32_t sort) {
  std::string text;
  {
    pbf_writer writer(text);
    writer.add_uint64(descriptor::kUuid, ++last_uuid_);
    if (process != 0) writer.add_uint64(descriptor::kParent, parents_[process]);
    pbf_writer thread(writer, descriptor::kThread);
    thread.add_int32(descriptor::kThreadPid, pid);
    thread.add_int32(descriptor::kThreadTid, tid);
    thread.add_int32(descriptor::kThreadSort, sort);
    thread.add_string(descriptor::kThreadName, name.data(), name.size());
  }
  describe(text);
  return new_track({last_uuid_, kSlices, {}, {}, {}, 0, process, std::string(name), sort});
}

PacketWriter::TrackNumber PacketWriter::add_track(Parent parent, std::string_view name, int32_t sort) {
  std::string text;
  pbf_writer writer(text);
  writer.add_uint64(descriptor::kUuid, ++last_uuid_);
  writer.add_string(descriptor::kName, name.data(), name.size());
  if (parent != 0) writer.add_uint64(descriptor::kParent, parents_[parent]);
  writer.add_int32(descriptor::kRank, sort);
  writer.add_uint32(descriptor::kMerge, descriptor::kMergeNever);
  describe(text);
  return new_track({last_uuid_, kSlices, {}, {}, {}, 0, parent, std::string(name), sort});
}

PacketWriter::TrackNumber PacketWriter::add_track_beside(TrackNumber track, std::string_view name) {
  const Track& of = tracks_[track - 1];
  return add_track(of.parent, fmt::format("{} {}", of.name, name), of.sort);
}

PacketWriter::TrackNumber PacketWriter::add_counter(Parent parent, std::string_view name, std::string_view unit) {
  std::string text;
  {
    pbf_writer writer(text);
    writer.add_uint64(descriptor::kUuid, ++last_uuid_);
    writer.add_string(descriptor::kName, name.data(), name.size());
    if (parent != 0) writer.add_uint64(descriptor::kParent, parents_[parent]);
    pbf_writer counter(writer, descriptor::kCounter);
    if (unit == "bytes") {
      counter.add_enum(descriptor::kCounterUnit, descriptor::kBytes);
    } else {
      counter.add_string(descriptor::kCounterUnitName, unit.data(), unit.size());
    }
    counter.commit();
    writer.add_uint32(descriptor::kMerge, descriptor::kMergeNever);
  }
  describe(text);
  const auto sequence = static_cast<uint32_t>(sequences_.size());
  sequences_.emplace_back();
  start_sequence(sequence);
  const TrackNumber track = new_track({last_uuid_, sequence, new_clock(sequence), {}, {}, 0, parent, {}, 0});
  set_defaults(sequence, last_uuid_, tracks_.back().clock.id);
  return track;
}

void PacketWriter::put_timed(uint32_t sequence, Clock& clock, int64_t time_ns, uint32_t field,
                             std::initializer_list<std::string_view> body) {
  const Sequence& of = sequences_[sequence];
  size_t size = 0;
  for (const std::string_view piece : body) size += piece.size();
  char head[kMostHead];
  char* to = head;
  const bool relative = clock.id != 0 && time_ns >= clock.last_ns;
  const uint8_t used = relative ? clock.id : 0;
  to = put_number(to, packet::kTimestamp, static_cast<uint64_t>(relative ? time_ns - clock.last_ns : time_ns));
  clock.last_ns = std::max(clock.last_ns, time_ns);
  to = put_number(to, packet::kSequence, sequence);
  if (used != of.clock) to = put_number(to, packet::kClock, used != 0 ? used : snapshot::kBootTime);
  to = put_length(to, field, size);
  const std::string_view before(head, static_cast<size_t>(to - head));
  to = put_length(sink_.room(size + 2 * kMostHead), trace::kPacket, before.size() + size);
  to = put_bytes(to, before);
  for (const std::string_view piece : body) {
    if (!piece.empty()) to = put_bytes(to, piece);
  }
  sink_.filled(to);
}

void PacketWriter::put_event(Track& track, Clock& clock, int64_t time_ns, uint32_t type, const Fields& fields) {
  Sequence& of = sequences_[track.sequence];
  if (of.track != track.uuid || of.clock != clock.id) {
    const bool again = of.last_track == track.uuid && of.last_clock == clock.id;
    of.repeated = again ? of.repeated + 1 : 0;
    of.last_track = track.uuid;
    of.last_clock = clock.id;
    if (of.repeated >= kRepeated) set_defaults(track.sequence, track.uuid, clock.id);
  }
  char start[32];
  char* to = put_number(start, event::kType, type);
  if (of.track != track.uuid) to = put_number(to, event::kTrack, track.uuid);
  put_timed(track.sequence, clock, time_ns, packet::kTrackEvent,
            {{start, static_cast<size_t>(to - start)}, fields.head, fields.flows, fields.arguments});
}

void PacketWriter::end_until(Track& track, int64_t time_ns) {
  while (!track.open.empty() && track.open.back().end_ns <= time_ns) {
    const Open& open = track.open.back();
    scratch_.clear();
    if (!open.flows.empty()) {
      pbf_writer writer(scratch_);
      for (const uint64_t flow : open.flows) writer.add_fixed64(event::kFlowEnd, flow);
    }
    put_event(track, track.clock, open.end_ns, event::kEnd, {{}, scratch_, {}});
    track.open.pop_back();
  }
}

bool PacketWriter::fits(Track& track, int64_t begin_ns, int64_t end_ns) {
  end_until(track, begin_ns);
  return begin_ns >= track.clock.last_ns && (track.open.empty() || track.open.back().end_ns >= end_ns);
}

PacketWriter::TrackNumber PacketWriter::lane_for(TrackNumber track, int64_t begin_ns, int64_t end_ns) {
  while (!fits(tracks_[track - 1], begin_ns, end_ns)) {
    if (tracks_[track - 1].next_lane == 0) {
      const TrackNumber lane = add_track_beside(track, "overlap");
      tracks_[track - 1].next_lane = lane;
    }
    track = tracks_[track - 1].next_lane;
  }
  return track;
}

void PacketWriter::slice(TrackNumber track, int64_t begin_ns, int64_t end_ns, const Fields& fields,
                         std::vector<uint64_t> end_flows) {
  end_ns = std::max(begin_ns, end_ns);
  Track& on = tracks_[lane_for(track, begin_ns, end_ns) - 1];
  put_event(on, on.clock, begin_ns, event::kBegin, fields);
  on.open.push_back({end_ns, std::move(end_flows)});
}

void PacketWriter::instant(TrackNumber track, int64_t time_ns, const Fields& fields) {
  Track& on = tracks_[track - 1];
  if (on.instants.id == 0 && on.clock.id != 0) on.instants = new_clock(on.sequence);
  put_event(on, on.instants, time_ns, event::kInstant, fields);
}

void PacketWriter::count(TrackNumber track, int64_t time_ns, int64_t value) {
  Track& on = tracks_[track - 1];
  char field[16];
  const char* const to = put_number(field, event::kCounter, static_cast<uint64_t>(value));
  put_event(on, on.clock, time_ns, event::kCounterType, {{field, static_cast<size_t>(to - field)}, {}, {}});
}

void PacketWriter::real(TrackNumber track, int64_t time_ns, double value) {
  Track& on = tracks_[track - 1];
  scratch_.clear();
  pbf_writer(scratch_).add_double(event::kRealCounter, value);
  put_event(on, on.clock, time_ns, event::kCounterType, {scratch_, {}, {}});
}

void PacketWriter::stage_data(std::string_view entry) {
  if (!std::exchange(stages_started_, true)) start_sequence(kStages);
  put_message(kStages, packet::kInternedData, entry);
}

uint32_t PacketWriter::add_queue() {
  if (!std::exchange(stages_started_, true)) start_sequence(kStages);
  queues_.push_back(new_clock(kStages));
  return static_cast<uint32_t>(queues_.size() - 1);
}

void PacketWriter::stage(uint32_t queue, int64_t time_ns, std::string_view event) {
  Clock& clock = queues_[queue];
  if (sequences_[kStages].clock != clock.id) set_defaults(kStages, 0, clock.id);
  put_timed(kStages, clock, time_ns, packet::kRenderStage, {event});
}

void PacketWriter::finish() {
  for (Track& track : tracks_) end_until(track, INT64_MAX);
}

}  // namespace prof::analyzer
