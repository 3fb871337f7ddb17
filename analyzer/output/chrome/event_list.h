// In which form are the events of a trace written? As JSON of a Chrome trace or as packets of a Perfetto trace. What
// the events are is decided once, by the files chrome_*.cpp, which call this class for both forms.
//
// Events consist of ready-made pieces with numbers between them. A piece is the encoded form of a text: a JSON string,
// or the field that refers to interned data. Each is made once, and for each event only bytes are copied.
//
// Differences of the forms:
//   JSON       an arrow is two events of its own, times are microseconds with three decimals
//   Perfetto   an arrow belongs to its slices, times are integer nanoseconds. So a member "… (us)" is "… (ns)"
#pragma once

#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/output/perfetto/interned_texts.h"
#include "analyzer/output/perfetto/packet_writer.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class TraceForm : uint8_t { Json, Perfetto };

// A member of an event. The first ones are those that analyses add.
enum class EventKey : uint8_t {
#define PROF_AUGMENT(name, key, events, meaning) name,
#include "analyzer/output/chrome/augment_keys.def"
#undef PROF_AUGMENT
  kAugmentKeys,
#define PROF_EVENT_KEY(name, key) name,
#include "analyzer/output/chrome/event_keys.def"
#undef PROF_EVENT_KEY
  kCount
};
static_assert(static_cast<size_t>(EventKey::kAugmentKeys) <= 64);

// One bit per key of augment_keys.def.
using AugmentKeys = uint64_t;
constexpr AugmentKeys bit(EventKey key) {
  return key < EventKey::kAugmentKeys ? AugmentKeys{1} << static_cast<size_t>(key) : 0;
}

class EventMembers;
class CopiedEvents;

// The arrows that start and end at a slice. In JSON they are events of their own (EventList::flow()).
struct SliceFlows {
  uint64_t launch = 0;    // the id that a launch shares with its operations; 0: none
  bool launched = false;  // it ends here, else it starts here
  std::vector<uint64_t> out, in, in_at_end;
  void clear() {
    launch = 0;
    launched = false;
    out.clear();
    in.clear();
    in_at_end.clear();
  }
};

class EventList {
 public:
  EventList(Sink& sink, TraceForm form);
  EventList(const EventList&) = delete;
  EventList& operator=(const EventList&) = delete;

  bool json() const { return !packets_; }

  // Pieces.
  std::string text(std::string_view text);  // value of a member
  std::string key(std::string_view name);   // name of a member, for those that event_keys.def does not have
  const std::string& key(EventKey key) { return keys_[static_cast<size_t>(key)].empty() ? make_key(key) : key_of(key); }
  // The start of slices of this category and name: `{"ph":"X","cat":"kernel","name":"f",`.
  // `once`: no other slice has it, so the name is not interned.
  std::string slice_head(std::string_view category, std::string_view name, bool once = false);
  std::string instant_head(std::string_view category, std::string_view name, bool scope_first);
  // The place of events: `"pid":1,"tid":2,"ts":`. A track without a name has to be named or used by later events.
  std::string track(uint64_t pid, uint64_t tid);

  // Names and places of processes and tracks. A GPU is below a process (`owner`), which is named before.
  void name_process(uint64_t pid, std::string_view name, std::string_view label, uint64_t sort,
                    std::optional<uint64_t> owner = {});
  enum class TrackKind : uint8_t { Thread, Other };
  void name_track(uint64_t pid, uint64_t tid, std::string_view name, std::optional<uint64_t> sort,
                  TrackKind kind = TrackKind::Other);

  struct SliceLook {
    bool failure = false;
    uint32_t frame = 0;  // of the table of stack frames
    bool has_args = true;
  };
  void slice(std::string_view head, std::string_view track, int64_t begin_ns, int64_t duration_ns,
             const EventMembers& members, const SliceFlows* flows, SliceLook look);
  void slice(std::string_view head, std::string_view track, int64_t begin_ns, int64_t duration_ns,
             const EventMembers& members) {
    slice(head, track, begin_ns, duration_ns, members, nullptr, {});
  }
  void instant(std::string_view head, std::string_view track, int64_t time_ns, const EventMembers& members);
  // A slice that need not nest with others of its track. `id` is JSON.
  void async(std::string_view category, std::string_view id, std::string_view name, uint64_t pid, uint64_t tid,
             int64_t begin_ns, int64_t end_ns, const EventMembers* members);
  // One end of an arrow. A Perfetto trace has it in the slice.
  void launch_flow(bool start, uint64_t id, std::string_view track, int64_t time_ns);
  void flow(bool start, uint64_t id, std::string_view category, std::string_view track, int64_t time_ns);

  // A counter. `pid` is JSON. It exists in the trace once it has a value.
  struct Counter {
    std::string head, value;          // JSON: before and after the time; Perfetto: name and unit
    PacketWriter::Parent parent = 0;  // Perfetto
    PacketWriter::TrackNumber track = 0;
  };
  Counter counter(std::string_view pid, std::string_view name, std::string_view unit);
  void count(Counter& counter, int64_t time_ns, uint64_t value);
  void real(Counter& counter, int64_t time_ns, double value);
  void tenths(Counter& counter, int64_t time_ns, uint64_t value);  // with one decimal: 123 is 12.3

  uint64_t events() const { return events_; }
  void finish() {
    if (packets_) packets_->finish();
  }

  // For code that writes JSON by itself: room for an event of at most `bytes`. Write the text there, then pass its end
  // to end().
  char* begin(size_t bytes) { return put_bytes(sink_.room(bytes + 2), separator()); }
  void end(const char* to) {
    sink_.filled(to);
    ++events_;
  }
  void add(std::string_view event) { end(put_bytes(begin(event.size()), event)); }
  // The separator before the next event, and the number of events so far.
  std::string_view separator() const { return events_ != 0 ? ",\n" : "\n"; }
  void follow(uint64_t events) { events_ = events; }
  Sink& sink() { return sink_; }

  // Only in a Perfetto trace.
  PacketWriter& packets() { return *packets_; }
  InternedTexts& texts() { return *texts_; }
  PacketWriter::Parent parent_of(std::string_view pid) const;
  void add_parent(const std::string& pid, PacketWriter::Parent parent) { parents_[pid] = parent; }
  void packet_slice(PacketWriter::TrackNumber track, int64_t begin_ns, int64_t end_ns, std::string_view head,
                    std::string_view members, const SliceFlows* flows);
  // Arrows between copied events go to them, because they have to be part of their slices.
  void set_copied(CopiedEvents* copied) { copied_ = copied; }

 private:
  const std::string& key_of(EventKey key) const { return keys_[static_cast<size_t>(key)]; }
  const std::string& make_key(EventKey key);
  PacketWriter::TrackNumber async_track(uint64_t pid, uint64_t tid, std::string_view category);
  PacketWriter::TrackNumber track_of(Counter& counter);
  template <class PutValue> void put_counter(const Counter& counter, int64_t time_ns, PutValue put_value);

  Sink& sink_;
  uint64_t events_ = 0;
  std::array<std::string, static_cast<size_t>(EventKey::kCount)> keys_;
  std::unique_ptr<PacketWriter> packets_;
  std::unique_ptr<InternedTexts> texts_;
  std::map<std::string, PacketWriter::Parent, std::less<>> parents_;           // by pid
  std::map<std::pair<uint64_t, uint64_t>, PacketWriter::TrackNumber> tracks_;  // by pid, tid
  std::map<std::pair<PacketWriter::TrackNumber, std::string>, PacketWriter::TrackNumber> async_;
  std::string flow_fields_;
  CopiedEvents* copied_ = nullptr;
};

// Members of an event's args, in the form of the list.
class EventMembers {
 public:
  explicit EventMembers(EventList& events) : events_(events), bytes_(4096) {}

  // Members in `present` already exist in the event. They are kept and not added again.
  void clear(AugmentKeys present = 0) {
    size_ = 0;
    present_ = present;
  }
  void add_micros(EventKey key, int64_t ns);
  void add_count(EventKey key, uint64_t count);
  void add_signed(EventKey key, int64_t value);
  void add_double(EventKey key, double value) { add_double(events_.key(key), value, key); }
  void add_double(std::string_view key_piece, double value) { add_double(key_piece, value, EventKey::kCount); }
  void add_real(EventKey key, double value, int digits);  // significant digits; adds only finite values
  void add_text(EventKey key, std::string_view piece);    // piece: of EventList::text()
  void add_true(EventKey key);
  void add_sizes(EventKey key, const uint32_t (&sizes)[3]);
  // Values that are JSON, of any type.
  void add_json(EventKey key, std::string_view json);
  void add_json_members(std::string_view members);  // "a":1,"b":[]
  void add_key_json(std::string_view name, std::string_view json);
  void add_key_text(std::string_view name, std::string_view piece) { add_field(events_.key(name), piece); }
  // The same in the form of the list, for append().
  std::string encoded(std::string_view members) const;
  // Members that were encoded before.
  void append(std::string_view members);

  bool empty() const { return size_ == 0; }
  std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  char* room(size_t bytes) {
    if (bytes_.size() - size_ < bytes) bytes_.resize(2 * bytes_.size() + bytes);
    return bytes_.data() + size_;
  }
  bool is_new(EventKey key) const { return (present_ & bit(key)) == 0; }
  void end(const char* to) { size_ = static_cast<size_t>(to - bytes_.data()); }
  char* open(std::string_view key, size_t value_bytes);
  void add_field(std::string_view key, std::string_view field);
  void put_count(std::string_view piece, uint64_t count);
  void add_double(std::string_view key_piece, double value, EventKey key);

  EventList& events_;
  std::vector<char> bytes_;
  size_t size_ = 0;
  AugmentKeys present_ = 0;
};

}  // namespace prof::analyzer
