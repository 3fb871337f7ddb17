#include "analyzer/output/chrome/copied_events.h"

#include "analyzer/base/json/json_decimal.h"
#include "analyzer/base/saturated.h"
#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/output/perfetto/annotation_json.h"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace prof::analyzer {

namespace {

using rapidjson::Value;

// Ids of these arrows are different from those of the model's calls and operations.
constexpr uint64_t kCopiedLaunches = uint64_t{1} << 50, kCopiedFlows = uint64_t{1} << 60,
                   kFoundFlows = uint64_t{1} << 62;
constexpr auto kFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseFullPrecisionFlag;

// A text or, since numbers are read as texts, a number.
std::string_view text_of(const Value& object, const char* name) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd() || !member->value.IsString()) return {};
  return {member->value.GetString(), member->value.GetStringLength()};
}

bool whole_number(std::string_view text, int32_t& number) {
  uint64_t value = 0;
  if (to_uint64(text, value) != DecimalResult::Ok || value > INT32_MAX) return false;
  number = static_cast<int32_t>(value);
  return true;
}

}  // namespace

uint32_t CopiedEvents::track_of(const std::string& pid, const std::string& tid, const std::string& beside) {
  const auto [found, added] = track_numbers_.try_emplace(fmt::format("{}\n{}\n{}", pid, tid, beside), tracks_.size());
  if (added) {
    tracks_.push_back({pid, tid, beside, 0, {}});
    processes_.try_emplace(pid);
  }
  return found->second;
}

void CopiedEvents::add_record(Kind kind, uint32_t track, int64_t begin_ns, int64_t end_ns, std::string_view head,
                              std::string_view arguments) {
  records_.push_back({begin_ns, end_ns, texts_.size(), static_cast<uint32_t>(head.size()),
                      static_cast<uint32_t>(arguments.size()), track, kind});
  (texts_ += head) += arguments;
}

void CopiedEvents::add_flow(bool start, uint32_t track, int64_t time_ns, uint64_t id) {
  records_.push_back({time_ns, time_ns, id, 0, 0, track, start ? Kind::FlowStart : Kind::FlowEnd});
}

void CopiedEvents::flow(bool start, uint64_t id, std::string_view track, int64_t time_ns) {
  rapidjson::Document document;
  const std::string object = fmt::format("{{{}0}}", track);
  document.Parse<kFlags>(object.data(), object.size());
  if (document.HasParseError() || !document.IsObject()) return;
  add_flow(start, track_of(std::string(text_of(document, "pid")), std::string(text_of(document, "tid"))), time_ns,
           kFoundFlows | id);
}

void CopiedEvents::add(std::string_view event, std::string_view args_text, std::string_view members) {
  rapidjson::Document parsed;
  parsed.Parse<kFlags>(event.data(), event.size());
  if (parsed.HasParseError() || !parsed.IsObject()) return;
  const rapidjson::Value& document = parsed;
  const std::string_view phase = text_of(document, "ph");
  const std::string pid(text_of(document, "pid")), tid(text_of(document, "tid"));
  const std::string name(text_of(document, "name")), category(text_of(document, "cat"));
  const auto args = document.FindMember("args");
  const bool has_args = args != document.MemberEnd() && args->value.IsObject();
  if (phase == "M") {
    if (!has_args) return;
    const std::string_view said = text_of(args->value, "name"), labels = text_of(args->value, "labels");
    int32_t sort = 0;
    const bool sorted = whole_number(text_of(args->value, "sort_index"), sort);
    const bool of_process = name.starts_with("process");
    Place& place = of_process ? processes_[pid] : threads_[{pid, tid}];
    if (!said.empty()) place.name = said;
    if (!labels.empty()) place.label = labels;
    if (sorted) place.sort = sort;
    return;
  }
  int64_t begin_ns = 0, duration_ns = 0;
  if (micros_to_ns(text_of(document, "ts"), begin_ns) != DecimalResult::Ok) return;
  if (micros_to_ns(text_of(document, "dur"), duration_ns) != DecimalResult::Ok) duration_ns = 0;
  duration_ns = std::max<int64_t>(duration_ns, 0);
  if (phase == "C") {
    if (!has_args) return;
    for (const auto& member : args->value.GetObject()) {
      if (!member.value.IsString()) continue;
      const std::string unit(member.name.GetString(), member.name.GetStringLength());
      Series& series = counters_[fmt::format("{}\n{}\n{}", pid, name, unit)];
      if (series.values.empty()) series = {pid, name, unit, {}};
      processes_.try_emplace(pid);
      series.values.push_back({begin_ns, std::strtod(member.value.GetString(), nullptr)});
    }
    return;
  }
  if (phase == "s" || phase == "t" || phase == "f") {
    const bool launch = category == "ac2g" || category == "async_cpu_to_gpu" || category == "async";
    const uint64_t number =
        flow_ids_.try_emplace(fmt::format("{}\n{}", category, text_of(document, "id")), flow_ids_.size() + 1)
            .first->second;
    add_flow(phase == "s", track_of(pid, tid), begin_ns, (launch ? kCopiedLaunches : kCopiedFlows) | number);
    return;
  }
  std::string arguments;
  if (has_args) {
    arguments = annotations_of_object(args_text, events_.texts());
  }
  arguments += members;
  const std::string head = events_.slice_head(category, name);
  if (phase == "X" || phase == "B") {
    const uint32_t track = track_of(pid, tid);
    if (phase == "B") tracks_[track].open.push_back(static_cast<uint32_t>(records_.size()));
    add_record(Kind::Slice, track, begin_ns, add_saturated(begin_ns, duration_ns), head, arguments);
  } else if (phase == "E") {
    Track& track = tracks_[track_of(pid, tid)];
    if (track.open.empty()) return;
    Record& begun = records_[track.open.back()];
    begun.end_ns = std::max(begun.begin_ns, begin_ns);
    track.open.pop_back();
  } else if (phase == "i" || phase == "I") {
    add_record(Kind::Instant, track_of(pid, tid), begin_ns, begin_ns, head, arguments);
  } else if (phase == "b" || phase == "e") {
    const std::string key = fmt::format("{}\n{}", category, text_of(document, "id"));
    if (phase == "b") {
      async_[key] = static_cast<uint32_t>(records_.size());
      add_record(Kind::Slice, track_of(pid, tid, category), begin_ns, begin_ns, head, arguments);
    } else if (const auto begun = async_.find(key); begun != async_.end()) {
      records_[begun->second].end_ns = std::max(records_[begun->second].begin_ns, begin_ns);
      async_.erase(begun);
    }
  }
}

void CopiedEvents::name_processes() {
  PacketWriter& packets = events_.packets();
  for (const auto& [pid, place] : processes_) {
    if (events_.parent_of(pid) != 0) continue;
    std::string name = place.name.empty() ? pid : place.name;
    if (!place.label.empty() && name.find(place.label) == std::string::npos)
      name = fmt::format("{} ({})", name, place.label);
    int32_t number = 0;
    events_.add_parent(pid, whole_number(pid, number) ? packets.add_process(number, readable_utf8(name), place.sort)
                                                      : packets.add_group(0, readable_utf8(name), place.sort));
  }
}

void CopiedEvents::write() {
  name_processes();
  PacketWriter& packets = events_.packets();
  for (Track& track : tracks_) {
    const PacketWriter::Parent parent = events_.parent_of(track.pid);
    const Place& place = threads_[{track.pid, track.tid}];
    const std::string name = readable_utf8(fmt::format("{}{}{}", place.name.empty() ? "tid " + track.tid : place.name,
                                                       track.beside.empty() ? "" : " ", track.beside));
    int32_t pid = 0, tid = 0;
    const bool thread =
        track.beside.empty() && whole_number(track.pid, pid) && whole_number(track.tid, tid) && tid != 0;
    track.number =
        thread ? packets.add_thread(parent, pid, tid, name, place.sort) : packets.add_track(parent, name, place.sort);
  }
  // Slices before the arrows of the same moment, the longer one first.
  std::stable_sort(records_.begin(), records_.end(), [](const Record& a, const Record& b) {
    return std::tuple(a.track, a.begin_ns, a.kind, b.end_ns) < std::tuple(b.track, b.begin_ns, b.kind, a.end_ns);
  });
  for (size_t first = 0, last = 0; first < records_.size(); first = last) {
    while (last < records_.size() && records_[last].track == records_[first].track) ++last;
    write_track(first, last);
  }
  for (auto& [key, series] : counters_) {
    std::stable_sort(series.values.begin(), series.values.end(),
                     [](const Value& a, const Value& b) { return a.time_ns < b.time_ns; });
    EventList::Counter counter = events_.counter(series.pid, series.name, series.unit);
    for (const Value& value : series.values) events_.real(counter, value.time_ns, value.value);
  }
  records_.clear();
  counters_.clear();
}

// An arrow belongs to the innermost slice that was open at its moment, or ended last before it.
void CopiedEvents::write_track(size_t first, size_t last) {
  std::unordered_map<size_t, SliceFlows> flows;
  std::vector<size_t> open;
  for (size_t i = first; i < last; ++i) {
    const Record& record = records_[i];
    if (record.kind == Kind::Slice) {
      while (!open.empty() && records_[open.back()].end_ns <= record.begin_ns) open.pop_back();
      open.push_back(i);
    } else if (record.kind != Kind::Instant && !open.empty()) {
      SliceFlows& of = flows[open.back()];
      const bool start = record.kind == Kind::FlowStart;
      const bool inside = record.begin_ns > records_[open.back()].begin_ns;
      if (!start && inside) {
        of.in_at_end.push_back(record.value);  // its start may be later than that of the slice
      } else if ((record.value & kCopiedLaunches) != 0 && of.launch == 0) {
        of.launch = record.value;
        of.launched = !start;
      } else {
        (start ? of.out : of.in).push_back(record.value);
      }
    }
  }
  for (size_t i = first; i < last; ++i) {
    const Record& record = records_[i];
    if (record.kind != Kind::Slice && record.kind != Kind::Instant) continue;
    const std::string_view text =
        std::string_view(texts_).substr(record.value, record.head_bytes + record.argument_bytes);
    const std::string_view head = text.substr(0, record.head_bytes), arguments = text.substr(record.head_bytes);
    const auto found = flows.find(i);
    if (record.kind == Kind::Slice) {
      events_.packet_slice(tracks_[record.track].number, record.begin_ns, record.end_ns, head, arguments,
                           found == flows.end() ? nullptr : &found->second);
    } else {
      events_.packets().instant(tracks_[record.track].number, record.begin_ns, {head, {}, arguments});
    }
  }
}

}  // namespace prof::analyzer
