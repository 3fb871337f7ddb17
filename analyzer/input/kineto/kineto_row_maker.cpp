#include "analyzer/input/kineto/kineto_row_maker.h"

#include "analyzer/input/kineto/kineto_numbers.h"
#include "analyzer/input/unusable_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace prof::analyzer {

namespace {

// The profiler's own tracks.
bool is_profilers_pid(std::string_view pid) { return pid == "Spans" || pid == "Traces"; }

RangeKind range_kind(KinetoClass meaning) {
  switch (meaning) {
    case KinetoClass::Operator: return RangeKind::Operator;
    case KinetoClass::Python: return RangeKind::Python;
    case KinetoClass::Overhead: return RangeKind::Overhead;
    default: return RangeKind::Annotation;
  }
}

}  // namespace

KinetoRowMaker::KinetoRowMaker(KinetoRows& rows)
    : rows_(rows),
      reader_(rows.made),
      numbering_(rows),
      host_(rows, numbering_),
      gpu_(rows, numbering_),
      counters_(rows, numbering_) {}

void KinetoRowMaker::start_stretch() {
  rows_.clear();
  numbering_.start_stretch();
  counters_.start_stretch();
  last_category_ = {};
  class_ = KinetoClass::Other;
  last_count_ = 0;
}

void KinetoRowMaker::add(char* origin, JsonPlace place, std::span<const JsonPlace> nested, uint64_t offset) {
  KinetoEventReader::Error error;
  if (!reader_.read(origin, place, nested, event_, error)) {
    rows_.tally.damaged(offset + place.begin + error.offset,
                        fmt::format("event skipped, it is no JSON: {}", error.what));
    return;
  }
  if (event_.repaired) rows_.tally.aside(KinetoAside::Repaired);
  count();
  if (event_.escapes && class_ == KinetoClass::Python) repair_path();
  dispatch();
}

// A Python frame is named after its file. If every backslash of a path begins an escape by chance ("torch\nn"), the
// event is JSON, and the path has control characters.
void KinetoRowMaker::repair_path() {
  const std::string path = path_with_backslashes(event_.name);
  if (path.empty()) return;
  event_.name = rows_.made.keep(path);
  if (!event_.repaired) rows_.tally.aside(KinetoAside::Repaired);
}

// Also finds what the category means. Most events have the category of the event before.
void KinetoRowMaker::count() {
  if (event_.cat.empty() || event_.cat != last_category_) {
    last_category_ = event_.cat;
    class_ = kineto_class(event_.cat);
    last_count_ =
        event_.cat.empty() ? rows_.tally.category("ph " + std::string(event_.ph)) : rows_.tally.category(event_.cat);
  }
  rows_.tally.count(last_count_);
}

void KinetoRowMaker::dispatch() {
  const char phase = event_.ph.size() == 1 ? event_.ph[0] : '?';
  switch (phase) {
    case 'X': return complete();
    case 'M': return metadata();
    case 's':
    case 't':
    case 'f': aside(KinetoAside::Flow); return gpu_.add_arrow_end(event_, phase);
    case 'i':
    case 'I':
    case 'R':
    case 'n':
    case 'T':
    case 'p': return instant();
    case 'B': return edge(KinetoEdgeKind::NestedBegin);
    case 'E': return edge(KinetoEdgeKind::NestedEnd);
    case 'b':
    case 'S': return edge(KinetoEdgeKind::AsyncBegin);
    case 'e':
    case 'F': return edge(KinetoEdgeKind::AsyncEnd);
    case 'C': return aside(KinetoAside::Counter);
    case 'N':
    case 'O':
    case 'D':
    case 'P':
    case 'v':
    case 'V':
    case 'c':
    case '(':
    case ')': return aside(KinetoAside::ObjectState);
    default: return aside(KinetoAside::UnknownPhase);
  }
}

bool KinetoRowMaker::times_of(bool with_duration, KinetoTimes& times) {
  if (!read_times(event_, with_duration, rows_.tally, times)) return false;
  rows_.last_ns = std::max({rows_.last_ns, times.begin_ns, times.end_ns});
  return true;
}

// An event with a duration: first what is of no use here, whatever its times are.
void KinetoRowMaker::complete() {
  switch (class_) {
    case KinetoClass::ProfilerSpan: return aside(KinetoAside::ProfilerSpan);
    case KinetoClass::EventRecord: return aside(KinetoAside::EventRecord);
    case KinetoClass::Flow: return aside(KinetoAside::Flow);
    default: break;
  }
  if (is_profilers_pid(event_.pid)) return aside(KinetoAside::ProfilerSpan);
  KinetoTimes times;
  const bool operation = class_ == KinetoClass::Kernel || class_ == KinetoClass::Copy || class_ == KinetoClass::Fill;
  if (!times_of(true, times)) return;
  // An operation without a duration is not timed.
  if (operation && !times.with_duration) times.begin_ns = times.end_ns = kNotTimedNs;
  timed(times);
}

// Work of a device that is not known here. What names its stream is an operation; of the rest, the last event decides.
void KinetoRowMaker::foreign(const KinetoTimes& times) {
  if (!times.with_duration) return aside(KinetoAside::ForeignSkipped);
  if (!event_.has(KinetoArgument::StreamNumber)) return host_.add_foreign_range(event_, times);
  aside(KinetoAside::ForeignOperation);
  gpu_.add_foreign_operation(event_, times);
}

void KinetoRowMaker::timed(const KinetoTimes& times) {
  switch (class_) {
    case KinetoClass::Kernel:
      gpu_.add_operation(event_, times, GpuKind::Kernel);
      return counters_.add_to_operation(event_);
    case KinetoClass::Copy: return gpu_.add_operation(event_, times, GpuKind::Copy);
    case KinetoClass::Fill: return gpu_.add_operation(event_, times, GpuKind::Fill);
    case KinetoClass::CounterRange:
      // A trace that prof wrote has the values in the events of their kernels too.
      if (event_.has(KinetoArgument::CountedKernel)) return aside(KinetoAside::CounterCopy);
      return counters_.add_event(event_, times.begin_ns);
    default: break;
  }
  KinetoTimes forward = times;
  if (times.end_ns < times.begin_ns) {
    aside(KinetoAside::NegativeDuration);
    forward.end_ns = times.begin_ns;
  }
  switch (class_) {
    case KinetoClass::Call: return host_.add_call(event_, forward);
    case KinetoClass::Sync: return gpu_.add_sync(event_, forward);
    case KinetoClass::GpuAnnotation: return gpu_.add_annotation(event_, forward);
    case KinetoClass::Foreign: return foreign(forward);
    case KinetoClass::Other:
      // Host events name no stream beside the id of a launch or the number of a device.
      if (!event_.cat.empty() && event_.has(KinetoArgument::StreamNumber) &&
          (event_.has(KinetoArgument::Correlation) || event_.has(KinetoArgument::DeviceOrdinal)))
        return foreign(forward);
      if (event_.has(KinetoArgument::Correlation) && is_runtime_category(event_.cat))
        return host_.add_call(event_, forward);
      [[fallthrough]];
    default: host_.add_range(event_, forward, range_kind(class_)); return counters_.add_to_range(event_);
  }
}

void KinetoRowMaker::edge(KinetoEdgeKind edge) {
  KinetoTimes times;
  if (times_of(false, times)) host_.add_edge(event_, times.begin_ns, edge, range_kind(class_));
}

void KinetoRowMaker::instant() {
  if (is_profilers_pid(event_.pid) || (event_.has_pid && event_.pid.empty())) return aside(KinetoAside::ProfilerSpan);
  KinetoTimes times;
  if (!times_of(false, times)) return;
  if (event_.name == "[memory]") return host_.add_memory(event_, times.begin_ns);
  host_.add_mark(event_, times.begin_ns);
}

void KinetoRowMaker::metadata() {
  const bool of_thread = event_.name == "thread_name", labels = event_.name == "process_labels";
  if ((!of_thread && !labels && event_.name != "process_name") || is_profilers_pid(event_.pid))
    return aside(KinetoAside::OtherMetadata);
  if (labels) aside(KinetoAside::OtherMetadata);  // only whether they are those of a device matters
  KinetoName row;
  row.track.pid = numbering_.text(event_.pid);
  row.track.tid = numbering_.text(event_.tid);
  row.name = numbering_.text(event_[labels ? KinetoArgument::Labels : KinetoArgument::Name]);
  row.of = of_thread ? KinetoNamed::Thread : labels ? KinetoNamed::Labels : KinetoNamed::Process;
  rows_.names.push_back(row);
}

}  // namespace prof::analyzer
