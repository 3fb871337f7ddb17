// Ranges and marks in the Chrome trace. Push/pop ranges are on their thread, with Kineto's category of what created
// them. Start/end ranges are async slices, and marks are instants. If ranges of two domains of a thread cross, one of
// the domains is on a track of its own. The slices of one track must nest.
#include "analyzer/output/chrome/chrome_writer.h"
#include "analyzer/output/chrome/counter_members.h"

#include <fmt/format.h>

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

class RangeWriter {
 public:
  explicit RangeWriter(const ChromeContext& context)
      : context_(context), trace_(context.trace), names_(context.trace.labels.size()) {}

  void thread(ThreadId id);
  void start_end(uint64_t pid, Rows rows);

 private:
  void put(const Range& range, const std::string& track, bool mark);
  // `"args":{"domain":"x","payload":1}`, with the members in added_.
  std::string args_of(const Range& range) const;
  void add_detail(const OperatorDetail& detail, ProcessId process, std::string& args) const;
  const CounterRow* counters_of(const Range& range) const {
    if (range.style != RangeStyle::PushPop) return nullptr;  // marks are in a separate table
    return trace_.counters.of_range(static_cast<uint32_t>(&range - trace_.ranges.begin()));
  }
  const std::string& name_of(const Range& range) {
    std::string& name = names_[index(range.label)];
    if (name.empty()) name = json_string(trace_.range_name(range));
    return name;
  }

  const ChromeContext& context_;
  const Trace& trace_;
  std::vector<std::string> names_;  // JSON, by LabelId
  AugmentMembers added_;
};

void add_member(std::string& args, std::string_view key, std::string_view value) {
  if (!args.empty()) args += ',';
  ((((args += '"') += key) += "\":") += value);
}

// Kineto's members. The texts are JSON, unchanged from the trace.
void RangeWriter::add_detail(const OperatorDetail& detail, ProcessId process, std::string& args) const {
  const auto number = [&](std::string_view key, uint64_t value) { add_member(args, key, fmt::format("{}", value)); };
  if (detail.external_id != 0) {
    const bool unique = index(process) == 0 || detail.external_id > UINT32_MAX;
    number("External id",
           unique ? detail.external_id : ChromeIds::correlation(process, static_cast<uint32_t>(detail.external_id)));
  }
  if (detail.sequence >= 0) number("Sequence number", static_cast<uint64_t>(detail.sequence));
  if (detail.forward_thread != 0) number("Fwd thread id", detail.forward_thread);
  for (const auto& [key, text] : {std::pair{"Input Dims", detail.dims},
                                  {"Input type", detail.types},
                                  {"Concrete Inputs", detail.concrete},
                                  {"Call stack", detail.stack}}) {
    if (index(text) != 0) add_member(args, key, trace_.text(text));
  }
  if (detail.flops != 0) number("flops", detail.flops);
  if (index(detail.other) != 0) (args += args.empty() ? "" : ",") += trace_.text(detail.other);
}

std::string RangeWriter::args_of(const Range& range) const {
  const Label& label = trace_.labels[index(range.label)];
  std::string args;
  if (index(label.domain) != 0) add_member(args, "domain", json_string(trace_.text(label.domain)));
  if (label.category != 0) add_member(args, "category", fmt::format("{}", label.category));
  if (index(label.category_name) != 0) add_member(args, "category name", json_string(trace_.text(label.category_name)));
  if (label.has_color) add_member(args, "color", fmt::format("\"#{:08x}\"", label.color));
  if (range.kind == RangeKind::Nvtx && range.payload_type != 0 && range.payload_type != kExtendedPayload)
    add_member(args, "payload", payload_text(range));
  if (const Rows values = trace_.payload_of(range); values.size() != 0) {
    std::string members(1, '{');
    for (uint32_t i = values.first; i < values.last; ++i) {
      const PayloadValue& value = trace_.payload_values[i];
      if (i != values.first) members += ',';
      ((members += json_string(trace_.text(value.name))) += ':') += trace_.text(value.json);
    }
    add_member(args, "payload", members += '}');
  }
  if (const OperatorDetail* const detail = trace_.detail(range)) {
    add_detail(*detail, trace_.thread(range.thread).process, args);
  }
  if (!trace_.counters.ranges.empty()) {
    std::string counted;
    const CounterRow* const row = counters_of(range);
    if (row != nullptr && trace_.counters.sets[row->set].device != kNone)
      counted += fmt::format(",\"device\":{}", trace_.counters.sets[row->set].device);
    append_counter_members(trace_, row, counted);
    if (!counted.empty()) args.append(counted, args.empty() ? 1 : 0);
  }
  if (range.unfinished) add_member(args, "unfinished", "true");
  if (range.crosses) add_member(args, "closed out of order", "true");
  if (range.ended_again) add_member(args, "closed again", "true");
  if (range.deferred) add_member(args, "submitted later", "true");
  if (range.other_thread) {
    const auto by = trace_.ended_by.find(static_cast<uint32_t>(&range - trace_.ranges.begin()));
    if (by != trace_.ended_by.end())
      add_member(args, "closed by thread", fmt::format("{}", trace_.thread(by->second).tid));
  }
  if (!added_.text().empty()) (args += args.empty() ? "" : ",") += added_.text();
  return "\"args\":{" + args + "}";
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

void RangeWriter::put(const Range& range, const std::string& track, bool mark) {
  const std::string head = mark ? "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":"
                                : fmt::format("{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":", category_of(range.kind));
  const std::string& name = name_of(range);
  const std::string args = args_of(range);
  char* to = context_.events.begin(head.size() + name.size() + track.size() + args.size() + 128);
  to = put_bytes(put_bytes(to, head), name);
  *to++ = ',';
  to = put_micros(put_bytes(to, track), range.begin_ns);
  if (!mark) to = put_micros(put_bytes(to, ",\"dur\":"), std::max<int64_t>(range.end_ns - range.begin_ns, 0));
  *to++ = ',';
  context_.events.end(put_bytes(put_bytes(to, args), "}"));
}

void RangeWriter::thread(ThreadId id) {
  const Thread& thread = trace_.thread(id);
  const uint64_t pid = context_.ids.process[index(thread.process)];
  const uint64_t own_tid = context_.ids.thread[index(id)];
  std::map<StringId, std::string> track_of;
  const std::string own_track = track_piece(pid, own_tid);
  uint64_t lane = own_tid;
  for (const StringId domain : crossing_domains(trace_, thread.ranges)) {
    lane += 1'000'000'000;
    track_of[domain] = track_piece(pid, lane);
    context_.events.add(fmt::format(
        "{{\"name\":\"thread_name\",\"ph\":\"M\",\"ts\":0.000,\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", pid,
        lane, json_string(fmt::format("thread {} domain {}", thread.tid, trace_.text(domain)))));
  }
  const auto track = [&](const Range& range) -> const std::string& {
    const auto found = track_of.find(trace_.labels[index(range.label)].domain);
    return found == track_of.end() ? own_track : found->second;
  };
  for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) {
    added_.clear();
    if (context_.augment != nullptr) context_.augment->range(row, added_);
    put(trace_.ranges[row], track(trace_.ranges[row]), false);
  }
  for (uint32_t row = thread.marks.first; row < thread.marks.last; ++row) {
    added_.clear();
    if (context_.augment != nullptr) context_.augment->mark(row, added_);
    put(trace_.marks[row], track(trace_.marks[row]), true);
  }
}

void RangeWriter::start_end(uint64_t pid, Rows rows) {
  for (uint32_t row = rows.first; row < rows.last; ++row) {
    const Range& range = trace_.ranges[row];
    added_.clear();
    if (context_.augment != nullptr) context_.augment->range(row, added_);
    const std::string common = fmt::format("\"cat\":\"nvtx_start_end\",\"id\":{},\"name\":{},{}", row + 1,
                                           name_of(range), track_piece(pid, context_.ids.thread[index(range.thread)]));
    for (const bool begin : {true, false}) {
      std::string event = fmt::format("{{\"ph\":\"{}\",{}", begin ? 'b' : 'e', common);
      char number[32];
      event.append(number, put_micros(number, begin ? range.begin_ns : range.end_ns));
      if (begin) (event += ',') += args_of(range);
      context_.events.add(event + "}");
    }
  }
}

}  // namespace

void write_chrome_ranges(const ChromeContext& context) {
  const Trace& trace = context.trace;
  RangeWriter writer(context);
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (context.writes(trace.threads[t].process)) writer.thread(ThreadId{t});
  }
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (context.writes(ProcessId{p})) writer.start_end(context.ids.process[p], trace.processes[p].start_end_ranges);
  }
}

}  // namespace prof::analyzer
