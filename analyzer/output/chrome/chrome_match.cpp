#include "analyzer/output/chrome/chrome_match.h"

#include "analyzer/base/json/json_decimal.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/saturated.h"
#include "analyzer/input/kineto/kineto_category.h"
#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/model/names.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <utility>

namespace prof::analyzer {

namespace {

enum class EventKind { Other, Host, Operation, Range, NoRow };

// The kind of row that the importer creates for this category. An event of an unknown category may be a range. Events
// that describe operations may start and end with one of them.
EventKind kind_of(std::string_view category) {
  switch (kineto_class(category)) {
    case KinetoClass::Kernel:
    case KinetoClass::Copy:
    case KinetoClass::Fill: return EventKind::Operation;
    case KinetoClass::Call: return EventKind::Host;
    case KinetoClass::Operator:
    case KinetoClass::Annotation:
    case KinetoClass::Python:
    case KinetoClass::Overhead: return EventKind::Range;
    case KinetoClass::GpuAnnotation:
    case KinetoClass::Sync:
    case KinetoClass::CounterRange: return EventKind::NoRow;
    default: return EventKind::Other;
  }
}

std::string unescaped(std::string_view json) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (document.HasParseError() || !document.IsString()) return std::string(unquoted(json));
  return {document.GetString(), document.GetStringLength()};
}

// Rows [rows) are sorted by start. Calls test(row) for rows that start at `begin_ns` until it returns true. Returns
// kNone if it never does.
template <class T, class Begin, class Test>
uint32_t search(const Column<T>& table, Rows rows, int64_t begin_ns, Begin begin, Test test) {
  const T* const first = table.begin() + rows.first;
  const T* const last = table.begin() + rows.last;
  const T* at = std::partition_point(first, last, [&](const T& row) { return begin(row) < begin_ns; });
  for (; at != last && begin(*at) == begin_ns; ++at) {
    const auto row = static_cast<uint32_t>(at - table.begin());
    if (test(row)) return row;
  }
  return kNone;
}

int64_t begin_of(const HostEvent& event) { return event.begin_ns; }
int64_t begin_of(const Range& range) { return range.begin_ns; }
int64_t begin_of(const GpuOperation& operation) { return operation.start_ns; }

}  // namespace

// The fields that the row of an event must have.
struct ChromeMatch::Wanted {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool has_end = false;          // a "B" event has none
  bool has_correlation = false;  // without one, the importer's result is not compared
  uint32_t correlation = 0;
  std::string_view name;
};

ChromeMatch::ChromeMatch(const Trace& trace, Rows processes)
    : trace_(trace),
      most_fruitless_(1'000'000 + 4 * (trace.host.size() + trace.operations.size() + trace.ranges.size())),
      host_taken_(trace.host.size()),
      operation_taken_(trace.operations.size()),
      range_taken_(trace.ranges.size()),
      mark_taken_(trace.marks.size()) {
  const auto ours = [&](ProcessId process) {
    return index(process) >= processes.first && index(process) < processes.last;
  };
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (ours(trace.threads[t].process)) threads_.push_back(t);
  }
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    if (trace.streams[s].operations.size() != 0 && ours(trace.process_of(StreamId{s}))) streams_.push_back(s);
  }
  if (processes.size() == 0) return;
  const Process& process = trace.processes[processes.first];
  if (process.clock != kNone) clock_ = &trace.clocks[process.clock];
  const int64_t zero_ns = clock_ == nullptr ? 0 : clock_->zero_ns;
  offset_ns_ = static_cast<int64_t>(trace.start_realtime_ns + static_cast<uint64_t>(zero_ns) -
                                    static_cast<uint64_t>(process.zero_realtime_ns));
}

bool ChromeMatch::moves_times() const {
  return offset_ns_ != 0 || (clock_ != nullptr && clock_->aligned(0) != 0) || (clock_ != nullptr && clock_->drift != 0);
}

bool ChromeMatch::time_ns(std::string_view ts, int64_t& ns) const {
  if (!recorded_ns(ts, ns)) return false;
  ns = aligned(ns);
  return true;
}

bool ChromeMatch::recorded_ns(std::string_view ts, int64_t& ns) const {
  return micros_to_ns(unquoted(ts), ns) == DecimalResult::Ok && !__builtin_sub_overflow(ns, offset_ns_, &ns);
}

ChromeMatch::Track& ChromeMatch::track_of(const EventFields& event) {
  track_key_.assign(event.pid);
  track_key_ += ' ';
  track_key_ += event.tid;
  return tracks_[track_key_];
}

ChromeRow ChromeMatch::find(const EventFields& event, bool& expected) {
  expected = false;
  const std::string_view phase = unquoted(event.phase);
  const bool complete = phase == "X", begin = phase == "B", mark = phase == "i" || phase == "I";
  if (!complete && !begin && !mark) return {};
  const EventKind kind = kind_of(unquoted(event.category));
  if (kind == EventKind::NoRow && !mark) return {};
  expected = complete && kind != EventKind::Other;
  Wanted wanted;
  if (!recorded_ns(event.ts, wanted.begin_ns)) return {};
  wanted.has_end = complete;
  int64_t duration_ns = 0;
  if (complete && micros_to_ns(unquoted(event.duration), duration_ns) != DecimalResult::Ok) duration_ns = 0;
  // Only operations may end before their start.
  wanted.end_ns =
      add_saturated(wanted.begin_ns, kind == EventKind::Operation ? duration_ns : std::max<int64_t>(duration_ns, 0));
  wanted.begin_ns = aligned(wanted.begin_ns), wanted.end_ns = aligned(wanted.end_ns);
  uint64_t correlation = 0;
  if (to_uint64(unquoted(event.correlation), correlation) != DecimalResult::Ok) correlation = 0;
  wanted.has_correlation = !event.correlation.empty();
  wanted.correlation = static_cast<uint32_t>(correlation);
  wanted.name = unquoted(event.name);
  std::string plain;
  if (wanted.name.find('\\') != std::string_view::npos) wanted.name = plain = unescaped(event.name);
  if (!plain.empty() && kineto_class(unquoted(event.category)) == KinetoClass::Python) {
    if (std::string path = path_with_backslashes(plain); !path.empty()) wanted.name = plain = std::move(path);
  }

  Track& track = track_of(event);
  using Row = ChromeRow::Table;
  const auto found = [](Row table, uint32_t row) { return row == kNone ? ChromeRow{} : ChromeRow{table, row}; };
  if (mark) return found(Row::Marks, find_mark(track, wanted));
  switch (kind) {
    case EventKind::Operation: return found(Row::Operations, find_operation(track, wanted));
    case EventKind::Host: return found(Row::Host, find_host(track, wanted));
    case EventKind::Range: return found(Row::Ranges, find_range(track, wanted));
    case EventKind::NoRow:
    case EventKind::Other: break;
  }
  // Traces of XLA have no categories. The importer decides by the track.
  if (const uint32_t row = find_range(track, wanted); row != kNone) return {Row::Ranges, row};
  if (const uint32_t row = find_operation(track, wanted); row != kNone) return {Row::Operations, row};
  return found(Row::Host, find_host(track, wanted));
}

template <class Search>
uint32_t ChromeMatch::everywhere(uint32_t& last, const std::vector<uint32_t>& places, Search search_in) {
  if (last != kNone) {
    const uint32_t row = search_in(last);
    if (row != kNone) return row;
  }
  if (fruitless_ > most_fruitless_) return kNone;
  for (const uint32_t place : places) {
    const uint32_t row = place == last ? kNone : search_in(place);
    if (row != kNone) {
      last = place;
      return row;
    }
    ++fruitless_;
  }
  return kNone;
}

bool ChromeMatch::matches_host(uint32_t row, const Wanted& wanted) const {
  const HostEvent& event = trace_.host[row];
  return !host_taken_[row] && (!wanted.has_end || event.end_ns == wanted.end_ns) &&
         (!wanted.has_correlation || event.correlation == wanted.correlation) && trace_.api_name(event) == wanted.name;
}

bool ChromeMatch::matches_operation(uint32_t row, const Wanted& wanted) const {
  const GpuOperation& operation = trace_.operations[row];
  if (operation_taken_[row] || (wanted.has_end && operation.end_ns != wanted.end_ns) ||
      (wanted.has_correlation && operation.correlation != wanted.correlation))
    return false;
  return wanted.correlation != 0 || !operation.has_kernel() ||
         trace_.text(trace_.kernels[operation.detail].name) == wanted.name;
}

bool ChromeMatch::matches_range(const Range& range, const Wanted& wanted) const {
  return (!wanted.has_end || range.end_ns == wanted.end_ns) && trace_.range_name(range) == wanted.name;
}

uint32_t ChromeMatch::find_host(Track& track, const Wanted& wanted) {
  const uint32_t row = everywhere(track.thread, threads_, [&](uint32_t thread) {
    return search(
        trace_.host, trace_.threads[thread].host, wanted.begin_ns, [](const HostEvent& e) { return begin_of(e); },
        [&](uint32_t r) { return matches_host(r, wanted); });
  });
  if (row != kNone) host_taken_[row] = true;
  return row;
}

uint32_t ChromeMatch::find_operation(Track& track, const Wanted& wanted) {
  const uint32_t row = everywhere(track.stream, streams_, [&](uint32_t stream) {
    return search(
        trace_.operations, trace_.streams[stream].operations, wanted.begin_ns,
        [](const GpuOperation& o) { return begin_of(o); }, [&](uint32_t r) { return matches_operation(r, wanted); });
  });
  if (row != kNone) operation_taken_[row] = true;
  return row;
}

uint32_t ChromeMatch::find_range(Track& track, const Wanted& wanted) {
  const auto in = [&](Rows rows) {
    return search(
        trace_.ranges, rows, wanted.begin_ns, [](const Range& r) { return begin_of(r); },
        [&](uint32_t r) { return !range_taken_[r] && matches_range(trace_.ranges[r], wanted); });
  };
  const uint32_t row =
      everywhere(track.thread, threads_, [&](uint32_t thread) { return in(trace_.threads[thread].ranges); });
  if (row != kNone) range_taken_[row] = true;
  return row;
}

uint32_t ChromeMatch::find_mark(Track& track, const Wanted& wanted) {
  const uint32_t row = everywhere(track.thread, threads_, [&](uint32_t thread) {
    return search(
        trace_.marks, trace_.threads[thread].marks, wanted.begin_ns, [](const Range& r) { return begin_of(r); },
        [&](uint32_t r) { return !mark_taken_[r] && trace_.range_name(trace_.marks[r]) == wanted.name; });
  });
  if (row != kNone) mark_taken_[row] = true;
  return row;
}

}  // namespace prof::analyzer
