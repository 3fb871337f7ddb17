#include "analyzer/output/chrome/event_list.h"

#include "analyzer/base/saturated.h"
#include "analyzer/output/chrome/copied_events.h"
#include "analyzer/output/perfetto/annotation_json.h"
#include "analyzer/output/perfetto/perfetto_fields.h"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace prof::analyzer {

namespace {

constexpr std::string_view kKeyTexts[] = {
#define PROF_AUGMENT(name, key, events, meaning) key,
#include "analyzer/output/chrome/augment_keys.def"
#undef PROF_AUGMENT
    "",
#define PROF_EVENT_KEY(name, key) key,
#include "analyzer/output/chrome/event_keys.def"
#undef PROF_EVENT_KEY
};
static_assert(std::size(kKeyTexts) == static_cast<size_t>(EventKey::kCount));

// A piece of a Perfetto trace that names a track.
std::string track_text(PacketWriter::TrackNumber track) {
  std::string piece("#");  // those of copied events start with a quote
  return piece.append(reinterpret_cast<const char*>(&track), sizeof track);
}
PacketWriter::TrackNumber track_number(std::string_view piece) {
  PacketWriter::TrackNumber track = 0;
  std::memcpy(&track, piece.data() + 1, sizeof track);
  return track;
}

int32_t bounded(uint64_t number) {
  return static_cast<int32_t>(std::min<uint64_t>(number, std::numeric_limits<int32_t>::max()));
}

constexpr double kExactReals = 9007199254740992;  // 2^53: all whole numbers below are exact

char* append_varint(char* to, uint64_t value) { return to + protozero::add_varint_to_buffer(to, value); }

}  // namespace

EventList::EventList(Sink& sink, TraceForm form) : sink_(sink) {
  if (form == TraceForm::Json) return;
  packets_ = std::make_unique<PacketWriter>(sink);
  texts_ = std::make_unique<InternedTexts>(*packets_);
}

std::string EventList::text(std::string_view text) {
  return json() ? json_string(text) : texts_->annotation_text(readable_utf8(text));
}

std::string EventList::key(std::string_view name) {
  return json() ? json_string(name) + ':' : texts_->annotation_name(readable_utf8(name));
}

const std::string& EventList::make_key(EventKey key) {
  const std::string_view text = kKeyTexts[static_cast<size_t>(key)];
  std::string& piece = keys_[static_cast<size_t>(key)];
  if (json()) return piece = fmt::format("\"{}\":", text);
  const bool micros = text.ends_with("(us)");
  return piece = texts_->annotation_name(micros ? std::string(text.substr(0, text.size() - 4)) + "(ns)"
                                                : std::string(text));
}

std::string EventList::slice_head(std::string_view category, std::string_view name, bool once) {
  if (json()) return fmt::format("{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},", category, json_string(name));
  if (once) {
    std::string head = texts_->category(category);
    protozero::pbf_writer(head).add_string(perfetto::event::kPlainName, readable_utf8(name));
    return head;
  }
  return texts_->category(category) + texts_->name(readable_utf8(name));
}

std::string EventList::instant_head(std::string_view category, std::string_view name, bool scope_first) {
  if (!json()) return texts_->category(category) + texts_->name(readable_utf8(name));
  return scope_first
             ? fmt::format("{{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"{}\",\"name\":{},", category, json_string(name))
             : fmt::format("{{\"ph\":\"i\",\"cat\":\"{}\",\"s\":\"t\",\"name\":{},", category, json_string(name));
}

PacketWriter::Parent EventList::parent_of(std::string_view pid) const {
  const auto found = parents_.find(pid);
  return found == parents_.end() ? 0 : found->second;
}

std::string EventList::track(uint64_t pid, uint64_t tid) {
  if (json()) return fmt::format("\"pid\":{},\"tid\":{},\"ts\":", pid, tid);
  PacketWriter::TrackNumber& track = tracks_[{pid, tid}];
  if (track == 0) track = packets_->add_track(parent_of(fmt::format("{}", pid)), fmt::format("tid {}", tid), 0);
  return track_text(track);
}

void EventList::name_process(uint64_t pid, std::string_view name, std::string_view label, uint64_t sort,
                             std::optional<uint64_t> owner) {
  if (json()) {
    const auto row = [&](const char* what, const std::string& args) {
      add(fmt::format("{{\"name\":\"{}\",\"ph\":\"M\",\"ts\":0.000,\"pid\":{},\"tid\":0,\"args\":{{{}}}}}", what, pid,
                      args));
    };
    row("process_name", "\"name\":" + json_string(name));
    row("process_labels", "\"labels\":" + json_string(label));
    row("process_sort_index", fmt::format("\"sort_index\":{}", sort));
    return;
  }
  events_ += 3;
  const PacketWriter::Parent parent = owner ? parent_of(fmt::format("{}", *owner)) : 0;
  const std::string readable = readable_utf8(name);
  parents_[fmt::format("{}", pid)] = owner ? packets_->add_group(parent, readable, bounded(sort))
                                           : packets_->add_process(bounded(pid), readable, bounded(sort));
}

void EventList::name_track(uint64_t pid, uint64_t tid, std::string_view name, std::optional<uint64_t> sort,
                           TrackKind kind) {
  if (json()) {
    const auto row = [&](const char* what, const std::string& args) {
      add(fmt::format("{{\"name\":\"{}\",\"ph\":\"M\",\"ts\":0.000,\"pid\":{},\"tid\":{},\"args\":{{{}}}}}", what, pid,
                      tid, args));
    };
    row("thread_name", "\"name\":" + json_string(name));
    if (sort) row("thread_sort_index", fmt::format("\"sort_index\":{}", *sort));
    return;
  }
  const std::string readable = readable_utf8(name);
  const PacketWriter::Parent parent = parent_of(fmt::format("{}", pid));
  PacketWriter::TrackNumber& track = tracks_[{pid, tid}];
  if (track != 0) return;
  events_ += sort ? 2 : 1;
  // Thread 0 is the idle thread to readers.
  const bool thread = kind == TrackKind::Thread && tid != 0 && tid <= INT32_MAX && pid <= INT32_MAX;
  track = thread ? packets_->add_thread(parent, bounded(pid), bounded(tid), readable, bounded(sort.value_or(0)))
                 : packets_->add_track(parent, readable, bounded(sort.value_or(0)));
}

void EventList::slice(std::string_view head, std::string_view track, int64_t begin_ns, int64_t duration_ns,
                      const EventMembers& members, const SliceFlows* flows, SliceLook look) {
  const std::string_view args = members.text();
  if (json()) {
    char* to = begin(head.size() + track.size() + args.size() + 192);
    to = put_micros(put_bytes(put_bytes(to, head), track), begin_ns);
    to = put_micros(put_bytes(to, ",\"dur\":"), duration_ns);
    if (look.failure) to = put_bytes(to, ",\"cname\":\"terrible\"");
    if (look.frame != 0) to = put_decimal(put_bytes(to, ",\"sf\":"), look.frame);
    to = put_bytes(put_bytes(to, ",\"args\":{"), args);
    end(put_bytes(to, "}}"));
    return;
  }
  ++events_;
  packet_slice(track_number(track), begin_ns, add_saturated(begin_ns, duration_ns), head, args, flows);
}

void EventList::packet_slice(PacketWriter::TrackNumber track, int64_t begin_ns, int64_t end_ns, std::string_view head,
                             std::string_view members, const SliceFlows* flows) {
  flow_fields_.clear();
  std::vector<uint64_t> at_end;
  if (flows != nullptr) {
    protozero::pbf_writer writer(flow_fields_);
    if (flows->launch != 0) {
      char bytes[16];
      char* to = append_varint(append_varint(bytes, perfetto::event::kLegacyBindId << 3), flows->launch);
      to = append_varint(append_varint(to, perfetto::event::kLegacyFlowDirection << 3),
                         flows->launched ? perfetto::event::kFlowIn : perfetto::event::kFlowOut);
      writer.add_message(perfetto::event::kLegacy, bytes, static_cast<size_t>(to - bytes));
    }
    for (const uint64_t flow : flows->out) writer.add_fixed64(perfetto::event::kFlow, flow);
    for (const uint64_t flow : flows->in) writer.add_fixed64(perfetto::event::kFlowEnd, flow);
    at_end = flows->in_at_end;
  }
  packets_->slice(track, begin_ns, end_ns, {head, flow_fields_, members}, std::move(at_end));
}

void EventList::instant(std::string_view head, std::string_view track, int64_t time_ns, const EventMembers& members) {
  const std::string_view args = members.text();
  if (json()) {
    char* to = begin(head.size() + track.size() + args.size() + 64);
    to = put_micros(put_bytes(put_bytes(to, head), track), time_ns);
    end(put_bytes(put_bytes(put_bytes(to, ",\"args\":{"), args), "}}"));
    return;
  }
  ++events_;
  packets_->instant(track_number(track), time_ns, {head, {}, args});
}

// Async slices of a category have a track next to the one that they belong to.
PacketWriter::TrackNumber EventList::async_track(uint64_t pid, uint64_t tid, std::string_view category) {
  const PacketWriter::TrackNumber beside = track_number(track(pid, tid));
  PacketWriter::TrackNumber& of = async_[{beside, std::string(category)}];
  if (of == 0) of = packets_->add_track_beside(beside, category);
  return of;
}

void EventList::async(std::string_view category, std::string_view id, std::string_view name, uint64_t pid, uint64_t tid,
                      int64_t begin_ns, int64_t end_ns, const EventMembers* members) {
  if (!json()) {
    events_ += 2;
    packets_->slice(async_track(pid, tid, category), begin_ns, std::max(begin_ns, end_ns),
                    {texts_->category(category) + texts_->name(readable_utf8(name)),
                     {},
                     members != nullptr ? members->text() : std::string_view()});
    return;
  }
  const std::string common =
      fmt::format("\"cat\":\"{}\",\"id\":{},\"name\":{},{}", category, id, json_string(name), track(pid, tid));
  for (const bool first : {true, false}) {
    std::string event = fmt::format("{{\"ph\":\"{}\",{}", first ? 'b' : 'e', common);
    char number[32];
    event.append(number, put_micros(number, first ? begin_ns : end_ns));
    if (first && members != nullptr) ((event += ",\"args\":{") += members->text()) += '}';
    add(event += '}');
  }
}

void EventList::launch_flow(bool start, uint64_t id, std::string_view track, int64_t time_ns) {
  if (!json()) {
    ++events_;
    return;
  }
  char* to = begin(track.size() + 128);
  to = put_decimal(put_bytes(to, start ? "{\"ph\":\"s\",\"id\":" : "{\"ph\":\"f\",\"id\":"), id);
  *to++ = ',';
  to = put_micros(put_bytes(to, track), time_ns);
  end(put_bytes(to,
                start ? ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}" : ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"}"));
}

void EventList::flow(bool start, uint64_t id, std::string_view category, std::string_view track, int64_t time_ns) {
  if (!json()) {
    ++events_;
    if (copied_ != nullptr && track.starts_with('"')) copied_->flow(start, id, track, time_ns);
    return;
  }
  char* to = begin(track.size() + 2 * category.size() + 128);
  to = put_decimal(put_bytes(to, start ? "{\"ph\":\"s\",\"id\":" : "{\"ph\":\"f\",\"bp\":\"e\",\"id\":"), id);
  to = put_bytes(put_bytes(put_bytes(to, ",\"cat\":\""), category), "\",\"name\":\"");
  to = put_bytes(put_bytes(put_bytes(to, category), "\","), track);
  end(put_bytes(put_micros(to, time_ns), "}"));
}

EventList::Counter EventList::counter(std::string_view pid, std::string_view name, std::string_view unit) {
  if (!json()) return {readable_utf8(name), readable_utf8(unit), parent_of(pid)};
  return {fmt::format("{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"tid\":0,\"ts\":", json_string(name), pid),
          fmt::format(",\"args\":{{{}:", json_string(unit))};
}

PacketWriter::TrackNumber EventList::track_of(Counter& counter) {
  ++events_;
  if (counter.track == 0) counter.track = packets_->add_counter(counter.parent, counter.head, counter.value);
  return counter.track;
}

template <class PutValue> void EventList::put_counter(const Counter& counter, int64_t time_ns, PutValue put_value) {
  char* to = begin(counter.head.size() + counter.value.size() + 96);
  to = put_micros(put_bytes(to, counter.head), time_ns);
  to = put_value(put_bytes(to, counter.value));
  end(put_bytes(to, "}}"));
}

void EventList::count(Counter& counter, int64_t time_ns, uint64_t value) {
  if (json()) {
    put_counter(counter, time_ns, [&](char* to) { return put_decimal(to, value); });
    return;
  }
  packets_->count(track_of(counter), time_ns, static_cast<int64_t>(value));
}

void EventList::real(Counter& counter, int64_t time_ns, double value) {
  if (json()) {
    put_counter(counter, time_ns, [&](char* to) { return put_double(to, value); });
    return;
  }
  if (std::trunc(value) == value && std::abs(value) < kExactReals) {
    packets_->count(track_of(counter), time_ns, static_cast<int64_t>(value));  // shorter
  } else {
    packets_->real(track_of(counter), time_ns, value);
  }
}

void EventList::tenths(Counter& counter, int64_t time_ns, uint64_t value) {
  if (!json()) {
    real(counter, time_ns, static_cast<double>(value) / 10);
    return;
  }
  put_counter(counter, time_ns, [&](char* to) {
    to = put_decimal(to, value / 10);
    *to++ = '.';
    *to++ = static_cast<char>('0' + value % 10);
    return to;
  });
}

// Starts a member: JSON `"key":`, or the head of an annotation whose value has `value_bytes`.
char* EventMembers::open(std::string_view key, size_t value_bytes) {
  char* to = room(key.size() + value_bytes + 16);
  if (events_.json()) {
    if (size_ != 0) *to++ = ',';
  } else {
    to = append_varint(to, perfetto::event::kAnnotation << 3 | 2);
    to = append_varint(to, key.size() + value_bytes);
  }
  return put_bytes(to, key);
}

void EventMembers::add_field(std::string_view key, std::string_view field) {
  end(put_bytes(open(key, field.size()), field));
}

void EventMembers::add_count(EventKey key, uint64_t count) {
  if (!is_new(key)) return;
  const std::string& piece = events_.key(key);
  if (events_.json()) {
    end(put_decimal(open(piece, 24), count));
  } else {
    put_count(piece, count);
  }
}

void EventMembers::put_count(std::string_view piece, uint64_t count) {
  const auto bytes = static_cast<size_t>(protozero::length_of_varint(count));
  char* const to = append_varint(open(piece, bytes + 1), perfetto::annotation::kUint << 3);
  end(append_varint(to, count));
}

void EventMembers::add_signed(EventKey key, int64_t value) {
  if (value >= 0) {
    add_count(key, static_cast<uint64_t>(value));
  } else if (is_new(key) && events_.json()) {
    end(put_signed(open(events_.key(key), 24), value));
  } else if (is_new(key)) {
    char* const to = append_varint(open(events_.key(key), 11), perfetto::annotation::kInt << 3);
    end(append_varint(to, static_cast<uint64_t>(value)));
  }
}

void EventMembers::add_micros(EventKey key, int64_t ns) {
  if (!events_.json()) {
    add_signed(key, ns);
  } else if (is_new(key)) {
    end(put_micros(open(events_.key(key), 32), ns));
  }
}

void EventMembers::add_double(std::string_view key_piece, double value, EventKey key) {
  if (!is_new(key)) return;
  if (events_.json()) {
    end(put_double(open(key_piece, 32), value));
    return;
  }
  if (value >= 0 && value < kExactReals && std::trunc(value) == value) {  // shorter, and as in JSON
    put_count(key_piece, static_cast<uint64_t>(value));
    return;
  }
  char* to = append_varint(open(key_piece, 9), perfetto::annotation::kDouble << 3 | 1);
  std::memcpy(to, &value, sizeof value);
  end(to + sizeof value);
}

void EventMembers::add_real(EventKey key, double value, int digits) {
  if (!std::isfinite(value) || !is_new(key)) return;
  const std::string text = fmt::format("{:.{}g}", value, digits);
  if (events_.json()) {
    end(put_bytes(open(events_.key(key), text.size()), text));
  } else {
    add_double(key, std::strtod(text.c_str(), nullptr));
  }
}

void EventMembers::add_text(EventKey key, std::string_view piece) {
  if (is_new(key)) add_field(events_.key(key), piece);
}

void EventMembers::add_true(EventKey key) {
  static constexpr char kTrue[] = {perfetto::annotation::kBool << 3, 1};
  if (is_new(key)) add_field(events_.key(key), events_.json() ? "true" : std::string_view(kTrue, sizeof kTrue));
}

void EventMembers::add_sizes(EventKey key, const uint32_t (&sizes)[3]) {
  const std::string text = fmt::format("[{},{},{}]", sizes[0], sizes[1], sizes[2]);
  add_json(key, text);
}

void EventMembers::add_json(EventKey key, std::string_view json) {
  if (!is_new(key)) return;
  add_field(events_.key(key), events_.json() ? std::string(json) : annotation_of_json(json, events_.texts()));
}

void EventMembers::add_key_json(std::string_view name, std::string_view json) {
  add_field(events_.key(name), events_.json() ? std::string(json) : annotation_of_json(json, events_.texts()));
}

std::string EventMembers::encoded(std::string_view members) const {
  return events_.json() ? std::string(members) : annotations_of_members(members, events_.texts());
}

void EventMembers::add_json_members(std::string_view members) {
  if (events_.json()) {
    append(members);
  } else {
    append(encoded(members));
  }
}

void EventMembers::append(std::string_view members) {
  if (members.empty()) return;
  char* to = room(members.size() + 1);
  if (size_ != 0 && events_.json()) *to++ = ',';
  end(put_bytes(to, members));
}

}  // namespace prof::analyzer
