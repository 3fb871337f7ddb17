// Which row does an event of a trace become, and which events become none? What goes into a row: kineto_row_fields.cpp.
#include "analyzer/input/kineto/kineto_rows.h"

#include "analyzer/base/json/json_decimal.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr size_t kMostCounts = 256;  // distinct categories told one by one
constexpr size_t kMostDamage = 64;   // damaged events of a stretch told one by one

bool is_text_of_profiler(std::string_view pid) { return pid == "Spans" || pid == "Traces"; }

}  // namespace

void KinetoRows::clear() {
  texts.clear();
  texts.add("");
  made.clear();
  tracks.clear(), streams.clear(), kernels.clear(), names.clear(), labels.clear();
  host.clear(), host_external.clear(), operations.clear(), operation_external.clear();
  ranges.clear(), marks.clear(), details.clear(), memory.clear(), syncs.clear(), gpu_annotations.clear(), edges.clear();
  flows.clear();
  counted.clear(), counter_values.clear();
  counts.clear(), damage.clear();
  std::fill(std::begin(aside), std::end(aside), 0);
  damaged = 0;
  last_ns = INT64_MIN;
}

void KinetoRowMaker::start_stretch() {
  rows_.clear();
  last_category_ = last_pid_ = last_tid_ = {};
  last_pid_text_ = last_tid_text_ = last_metrics_text_ = 0;
  last_metrics_.clear();
  class_ = KinetoClass::Other;
  last_count_ = 0;
  last_track_ = last_stream_ = UINT32_MAX;
  track_of_.clear();
  label_of_.clear();
  kernel_of_.clear();
  stream_of_.clear();
}

void KinetoRowMaker::add(char* origin, JsonPlace place, std::span<const JsonPlace> nested, uint64_t offset) {
  KinetoEventReader::Error error;
  if (!reader_.read(origin, place, nested, event_, error)) {
    ++rows_.damaged;
    if (rows_.damage.size() < kMostDamage) {
      rows_.damage.push_back(
          {offset + place.begin + error.offset, fmt::format("event set aside, it is no JSON: {}", error.what)});
    }
    return;
  }
  dispatch();
}

// Also finds what the category means.
void KinetoRowMaker::count() {
  std::vector<KinetoCount>& counts = rows_.counts;
  if (!event_.cat.empty() && event_.cat == last_category_) {
    ++counts[last_count_].events;
    return;
  }
  last_category_ = event_.cat;
  class_ = kineto_class(event_.cat);
  const std::string name = event_.cat.empty() ? "ph " + std::string(event_.ph) : std::string(event_.cat);
  last_count_ = static_cast<size_t>(
      std::find_if(counts.begin(), counts.end(), [&](const KinetoCount& c) { return c.category == name; }) -
      counts.begin());
  if (last_count_ == counts.size()) {
    if (counts.size() == kMostCounts) {
      --last_count_;
    } else {
      counts.push_back({counts.size() + 1 == kMostCounts ? "others" : name, 0});
    }
  }
  ++counts[last_count_].events;
}

bool KinetoRowMaker::of_profiler() const {
  return is_text_of_profiler(event_.pid) || (event_.has_pid && event_.pid.empty());
}

void KinetoRowMaker::dispatch() {
  count();
  const char phase = event_.ph.size() == 1 ? event_.ph[0] : '?';
  switch (phase) {
    case 'X': return complete();
    case 'M': return metadata();
    case 's':
    case 't':
    case 'f': return flow(phase);
    case 'i':
    case 'I':
    case 'R': return instant();
    case 'B':
    case 'E': return edge(phase);
    case 'b':
    case 'S': return async('b');
    case 'e':
    case 'F': return async('e');
    case 'n':
    case 'T':
    case 'p': return instant();
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

bool KinetoRowMaker::take_times(bool with_duration) {
  const DecimalResult result = event_.has_ts ? micros_to_ns(event_.ts, begin_ns_) : DecimalResult::NotANumber;
  if (result != DecimalResult::Ok) {
    aside(result == DecimalResult::OutOfRange ? KinetoAside::FarTime : KinetoAside::NoTime);
    return false;
  }
  end_ns_ = begin_ns_;
  if (with_duration) {
    int64_t duration = 0;
    const DecimalResult length = event_.has_dur ? micros_to_ns(event_.dur, duration) : DecimalResult::NotANumber;
    if (length == DecimalResult::NotANumber) aside(KinetoAside::NoDuration);
    end_ns_ = begin_ns_ + duration;  // both are below 2^62
    constexpr int64_t kFar = int64_t{1} << 62;
    if (length == DecimalResult::OutOfRange || end_ns_ >= kFar || end_ns_ <= -kFar) {
      aside(KinetoAside::FarTime);
      return false;
    }
  }
  rows_.last_ns = std::max({rows_.last_ns, begin_ns_, end_ns_});
  return true;
}

void KinetoRowMaker::complete() {
  switch (class_) {
    case KinetoClass::ProfilerSpan: return aside(KinetoAside::ProfilerSpan);
    case KinetoClass::EventRecord: return aside(KinetoAside::EventRecord);
    case KinetoClass::Flow: return aside(KinetoAside::Flow);
    default: break;
  }
  if (is_text_of_profiler(event_.pid)) return aside(KinetoAside::ProfilerSpan);
  if (!take_times(true)) return;
  switch (class_) {
    case KinetoClass::Kernel: return operation(GpuKind::Kernel);
    case KinetoClass::Copy: return operation(GpuKind::Copy);
    case KinetoClass::Fill: return operation(GpuKind::Fill);
    case KinetoClass::CounterRange:
      if (event_.has(KinetoArgument::CountedKernel)) return aside(KinetoAside::CounterCopy);  // of a trace of ours
      return counted(KinetoCounted::Own, 0);
    default: break;
  }
  if (end_ns_ < begin_ns_) {
    aside(KinetoAside::NegativeDuration);
    end_ns_ = begin_ns_;
  }
  switch (class_) {
    case KinetoClass::Call: return call();
    case KinetoClass::Sync: return sync();
    case KinetoClass::GpuAnnotation: return gpu_annotation();
    case KinetoClass::Operator: return range(RangeKind::Operator);
    case KinetoClass::Python: return range(RangeKind::Python);
    case KinetoClass::Overhead: return range(RangeKind::Overhead);
    default: return range(RangeKind::Annotation);
  }
}

void KinetoRowMaker::metadata() {
  const bool thread = event_.name == "thread_name";
  if (!thread && event_.name != "process_name") return aside(KinetoAside::OtherMetadata);
  if (is_text_of_profiler(event_.pid)) return aside(KinetoAside::OtherMetadata);
  KinetoName row;
  row.track = {text(event_.pid), text(event_.tid)};
  row.of_thread = thread;
  row.name = text(event_[KinetoArgument::Name]);
  rows_.names.push_back(row);
}

}  // namespace prof::analyzer
