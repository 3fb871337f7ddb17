// Ranges and marks in the Chrome trace. Push/pop ranges are on their thread, with Kineto's category of what created
// them. Start/end ranges are async slices, and marks are instants. If ranges of two domains of a thread cross, one of
// the domains is on a track of its own. The slices of one track must nest.
#include "analyzer/output/chrome/chrome_writer.h"
#include "analyzer/output/chrome/counter_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace prof::analyzer {

namespace {

std::string_view category_of(RangeKind kind) {
  switch (kind) {
    case RangeKind::Nvtx:
    case RangeKind::Annotation: break;
    case RangeKind::Operator: return "cpu_op";
    case RangeKind::Python: return "python_function";
    case RangeKind::Overhead: return "overhead";
  }
  return "user_annotation";
}

// NVTX's payload types: 1 uint64, 2 int64, 3 double, 4 uint32, 5 int32, 6 float.
std::string payload_text(const Range& range) {
  char number[32];
  char* end = nullptr;
  double real = 0;
  float small = 0;
  switch (range.payload_type) {
    case 2: end = put_signed(number, static_cast<int64_t>(range.payload)); break;
    case 3:
      std::memcpy(&real, &range.payload, sizeof real);
      end = put_double(number, real);
      break;
    case 5: end = put_signed(number, static_cast<int32_t>(range.payload)); break;
    case 6:
      std::memcpy(&small, &range.payload, sizeof small);
      end = put_double(number, static_cast<double>(small));
      break;
    default: end = put_decimal(number, range.payload);
  }
  return std::string(number, end);
}

class RangeWriter final : public TrackRows {
 public:
  explicit RangeWriter(const ChromeContext& context)
      : context_(context), trace_(context.trace), heads_(context.trace.labels.size()), members_(context.events) {
    if (context.events.json()) return;
    uses_.resize(trace_.labels.size());
    for (const Range& range : trace_.ranges) {
      uint8_t& uses = uses_[index(range.label)];
      if (uses < 2) ++uses;
    }
  }

  void start(uint32_t id) override;
  void row(uint32_t row) override;
  Rows rows_of(uint32_t thread) const override { return trace_.threads[thread].ranges; }
  Interval interval(uint32_t row) const override {
    const Range& range = trace_.ranges[row];
    return {range.begin_ns, std::max(range.begin_ns, range.end_ns)};
  }
  void mark(uint32_t row);
  void start_end(uint64_t pid, Rows rows);

 private:
  void add_args(const Range& range);
  void add_detail(const OperatorDetail& detail, ProcessId process);
  const CounterRow* counters_of(const Range& range) const {
    if (range.style != RangeStyle::PushPop) return nullptr;  // marks are in a separate table
    return trace_.counters.of_range(static_cast<uint32_t>(&range - trace_.ranges.begin()));
  }
  const std::string& head_of(const Range& range) {
    Head& head = heads_[index(range.label)];
    if (head.text.empty() || head.kind != range.kind)
      head = {context_.events.slice_head(category_of(range.kind), trace_.range_name(range),
                                         !uses_.empty() && uses_[index(range.label)] == 1),
              range.kind};
    return head.text;
  }
  const std::string& track_of(const Range& range) const {
    if (tracks_.empty()) return own_track_;
    const auto found = tracks_.find(trace_.labels[index(range.label)].domain);
    return found == tracks_.end() ? own_track_ : found->second;
  }

  // The ranges of a label are nearly always of one kind.
  struct Head {
    std::string text;
    RangeKind kind{};
  };
  const ChromeContext& context_;
  const Trace& trace_;
  std::vector<Head> heads_;                 // by LabelId
  std::vector<uint8_t> uses_;               // by LabelId: 0, 1 or more; not of JSON
  std::vector<std::string> mark_heads_;     // by LabelId; empty: no mark yet
  std::string own_track_;                   // of the current thread
  std::map<StringId, std::string> tracks_;  // those of its domains that have their own
  EventMembers members_;
};

// Kineto's members. The texts are JSON, unchanged from the trace.
void RangeWriter::add_detail(const OperatorDetail& detail, ProcessId process) {
  if (detail.external_id != 0) {
    const bool unique = index(process) == 0 || detail.external_id > UINT32_MAX;
    members_.add_count(
        EventKey::ExternalId,
        unique ? detail.external_id : ChromeIds::correlation(process, static_cast<uint32_t>(detail.external_id)));
  }
  if (detail.sequence >= 0) members_.add_signed(EventKey::SequenceNumber, detail.sequence);
  if (detail.forward_thread != 0) members_.add_count(EventKey::ForwardThread, detail.forward_thread);
  for (const auto& [key, text] : {std::pair{EventKey::InputDims, detail.dims},
                                  {EventKey::InputType, detail.types},
                                  {EventKey::ConcreteInputs, detail.concrete},
                                  {EventKey::CallStack, detail.stack}}) {
    if (index(text) != 0) members_.add_json(key, trace_.text(text));
  }
  if (detail.flops != 0) members_.add_count(EventKey::Flops, detail.flops);
  if (index(detail.other) != 0) members_.add_json_members(trace_.text(detail.other));
}

void RangeWriter::add_args(const Range& range) {
  EventList& events = context_.events;
  const Label& label = trace_.labels[index(range.label)];
  if (index(label.domain) != 0) members_.add_text(EventKey::Domain, events.text(trace_.text(label.domain)));
  if (label.category != 0) members_.add_count(EventKey::NvtxCategory, label.category);
  if (index(label.category_name) != 0)
    members_.add_text(EventKey::NvtxCategoryName, events.text(trace_.text(label.category_name)));
  if (label.has_color) members_.add_text(EventKey::Color, events.text(fmt::format("#{:08x}", label.color)));
  if (range.kind == RangeKind::Nvtx && range.payload_type != 0 && range.payload_type != kExtendedPayload)
    members_.add_json(EventKey::Payload, payload_text(range));
  if (const Rows values = trace_.payload_of(range); values.size() != 0) {
    std::string members(1, '{');
    for (uint32_t i = values.first; i < values.last; ++i) {
      const PayloadValue& value = trace_.payload_values[i];
      if (i != values.first) members += ',';
      ((members += json_string(trace_.text(value.name))) += ':') += trace_.text(value.json);
    }
    members_.add_json(EventKey::Payload, members += '}');
  }
  if (const OperatorDetail* const detail = trace_.detail(range))
    add_detail(*detail, trace_.thread(range.thread).process);
  if (!trace_.counters.ranges.empty()) {
    const CounterRow* const row = counters_of(range);
    if (row != nullptr && trace_.counters.sets[row->set].device != kNone)
      members_.add_count(EventKey::Device, trace_.counters.sets[row->set].device);
    add_counter_members(trace_, row, events, members_);
  }
  if (range.unfinished) members_.add_true(EventKey::Unfinished);
  if (range.crosses) members_.add_true(EventKey::ClosedOutOfOrder);
  if (range.ended_again) members_.add_true(EventKey::ClosedAgain);
  if (range.deferred) members_.add_true(EventKey::SubmittedLater);
  if (range.other_thread) {
    const auto by = trace_.ended_by.find(static_cast<uint32_t>(&range - trace_.ranges.begin()));
    if (by != trace_.ended_by.end()) members_.add_count(EventKey::ClosedByThread, trace_.thread(by->second).tid);
  }
}

// Finds the domains of a thread with a range that overlaps an open range without being nested in it.
std::set<StringId> crossing_domains(const Trace& trace, Rows rows) {
  std::set<StringId> crossing;
  std::vector<uint32_t> open;
  for (uint32_t row = rows.first; row < rows.last; ++row) {
    const Range& range = trace.ranges[row];
    while (!open.empty() && trace.ranges[open.back()].end_ns <= range.begin_ns) open.pop_back();
    const StringId domain = trace.labels[index(range.label)].domain;
    if (index(domain) != 0 && !open.empty() && trace.ranges[open.back()].end_ns < range.end_ns) {
      crossing.insert(domain);
    } else if (index(domain) == 0) {
      for (const uint32_t outer : open) {
        if (trace.ranges[outer].end_ns < range.end_ns)
          crossing.insert(trace.labels[index(trace.ranges[outer].label)].domain);
      }
    }
    open.push_back(row);
  }
  return crossing;
}

void RangeWriter::start(uint32_t id) {
  const Thread& thread = trace_.threads[id];
  const uint64_t pid = context_.ids.process[index(thread.process)];
  own_track_ = context_.events.track(pid, context_.ids.thread[id]);
  tracks_.clear();
  uint64_t lane = context_.ids.thread[id];
  for (const StringId domain : crossing_domains(trace_, thread.ranges)) {
    lane += 1'000'000'000;
    context_.events.name_track(pid, lane, fmt::format("thread {} domain {}", thread.tid, trace_.text(domain)), {});
    tracks_[domain] = context_.events.track(pid, lane);
  }
}

void RangeWriter::row(uint32_t row) {
  if (!context_.selects_range(row)) return;
  const Range& range = trace_.ranges[row];
  members_.clear();
  add_args(range);
  if (context_.augment != nullptr) context_.augment->range(row, members_);
  context_.events.slice(head_of(range), track_of(range), range.begin_ns,
                        std::max<int64_t>(range.end_ns - range.begin_ns, 0), members_,
                        context_.flows == nullptr ? nullptr : context_.flows->find(SliceFlowTable::Of::Range, row), {});
}

void RangeWriter::mark(uint32_t row) {
  const Range& mark = trace_.marks[row];
  if (!context_.selects_moment(mark.thread, mark.begin_ns)) return;
  members_.clear();
  add_args(mark);
  if (context_.augment != nullptr) context_.augment->mark(row, members_);
  if (mark_heads_.empty()) mark_heads_.resize(trace_.labels.size());
  std::string& head = mark_heads_[index(mark.label)];
  if (head.empty()) head = context_.events.instant_head("cpu_instant_event", trace_.range_name(mark), true);
  context_.events.instant(head, track_of(mark), mark.begin_ns, members_);
}

void RangeWriter::start_end(uint64_t pid, Rows rows) {
  for (uint32_t row = rows.first; row < rows.last; ++row) {
    const Range& range = trace_.ranges[row];
    if (!context_.selects_range(row)) continue;
    members_.clear();
    add_args(range);
    if (context_.augment != nullptr) context_.augment->range(row, members_);
    context_.events.async("nvtx_start_end", fmt::format("{}", row + 1), trace_.range_name(range), pid,
                          context_.ids.thread[index(range.thread)], range.begin_ns, range.end_ns, &members_);
  }
}

}  // namespace

std::unique_ptr<TrackRows> range_rows(const ChromeContext& context) { return std::make_unique<RangeWriter>(context); }

void write_chrome_ranges(const ChromeContext& context) {
  const Trace& trace = context.trace;
  RangeWriter writer(context);
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const Thread& thread = trace.threads[t];
    if (!context.writes(thread.process)) continue;
    writer.start(t);
    if (context.events.json()) {
      for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) writer.row(row);
    }
    for (uint32_t row = thread.marks.first; row < thread.marks.last; ++row) writer.mark(row);
  }
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (context.writes(ProcessId{p})) writer.start_end(context.ids.process[p], trace.processes[p].start_end_ranges);
  }
}

}  // namespace prof::analyzer
