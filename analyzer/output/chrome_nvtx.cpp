// NVTX in the Chrome trace: push/pop ranges on their thread (user_annotation), start/end ranges as async slices, marks as
// instants. A domain whose ranges cross those of another domain of the thread gets a track of its own, since the slices of
// one track must nest.
#include "analyzer/output/chrome_writer.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace prof::analyzer {

namespace {

// `"args":{"domain":"x","payload":1}`
std::string args_of(const Trace& trace, const Range& range) {
  const Label& label = trace.labels[index(range.label)];
  std::string args;
  const auto add = [&](std::string_view key, const std::string& value) {
    args += fmt::format("{}\"{}\":{}", args.empty() ? "" : ",", key, value);
  };
  if (index(label.domain) != 0) add("domain", json_string(trace.text(label.domain)));
  if (label.category != 0) add("category", fmt::format("{}", label.category));
  if (label.has_color) add("color", fmt::format("\"#{:08x}\"", label.color));
  if (range.payload_type != 0) {
    // NVTX's payload types: 1 uint64, 2 int64, 3 double, 4 uint32, 5 int32, 6 float.
    char number[32];
    char* end = nullptr;
    double real = 0;
    float small = 0;
    switch (range.payload_type) {
      case 2: end = put_signed(number, static_cast<int64_t>(range.payload)); break;
      case 3: std::memcpy(&real, &range.payload, sizeof real), end = put_double(number, real); break;
      case 5: end = put_signed(number, static_cast<int32_t>(range.payload)); break;
      case 6:
        std::memcpy(&small, &range.payload, sizeof small), end = put_double(number, static_cast<double>(small));
        break;
      default: end = put_decimal(number, range.payload);
    }
    add("payload", std::string(number, end));
  }
  if (range.unfinished) add("unfinished", "true");
  return "\"args\":{" + args + "}";
}

std::string name_of(const Trace& trace, const Range& range) {
  return json_string(trace.text(trace.labels[index(range.label)].text));
}

// Domains of a thread with a range that neither contains nor is beside the open ones.
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

void write_thread(const ChromeContext& context, ThreadId id) {
  const Trace& trace = context.trace;
  const Thread& thread = trace.thread(id);
  const uint64_t pid = context.ids.process[index(thread.process)];
  const uint64_t own_tid = context.ids.thread[index(id)];
  std::map<StringId, uint64_t> lane_of;
  uint64_t lane = own_tid;
  for (const StringId domain : crossing_domains(trace, thread.ranges)) {
    lane += 1'000'000'000;
    lane_of[domain] = lane;
    context.events.add(fmt::format(
        "{{\"name\":\"thread_name\",\"ph\":\"M\",\"ts\":0.000,\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", pid,
        lane, json_string(fmt::format("thread {} domain {}", thread.tid, trace.text(domain)))));
  }
  const auto put = [&](const Range& range, std::string_view head, std::string_view tail) {
    const auto found = lane_of.find(trace.labels[index(range.label)].domain);
    const std::string track = track_piece(pid, found == lane_of.end() ? own_tid : found->second);
    const std::string name = name_of(trace, range), args = args_of(trace, range);
    char* to = context.events.begin(head.size() + tail.size() + name.size() + track.size() + args.size() + 128);
    to = put_bytes(to, head);
    to = put_bytes(to, name);
    *to++ = ',';
    to = put_bytes(to, track);
    to = put_micros(to, range.begin_ns);
    if (range.style == RangeStyle::PushPop) {
      to = put_bytes(to, ",\"dur\":");
      to = put_micros(to, range.end_ns - range.begin_ns);
    }
    *to++ = ',';
    to = put_bytes(to, args);
    context.events.end(put_bytes(to, tail));
  };
  for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) {
    put(trace.ranges[row], "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":", "}");
  }
  for (uint32_t row = thread.marks.first; row < thread.marks.last; ++row) {
    put(trace.marks[row], "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":", "}");
  }
}

void write_start_end(const ChromeContext& context, uint64_t pid, Rows rows) {
  const Trace& trace = context.trace;
  for (uint32_t row = rows.first; row < rows.last; ++row) {
    const Range& range = trace.ranges[row];
    const std::string common =
        fmt::format("\"cat\":\"nvtx_start_end\",\"id\":{},\"name\":{},{}", row + 1, name_of(trace, range),
                    track_piece(pid, context.ids.thread[index(range.thread)]));
    for (const bool begin : {true, false}) {
      std::string event = fmt::format("{{\"ph\":\"{}\",{}", begin ? 'b' : 'e', common);
      char number[32];
      event.append(number, put_micros(number, begin ? range.begin_ns : range.end_ns));
      if (begin) event += "," + args_of(trace, range);
      context.events.add(event + "}");
    }
  }
}

}  // namespace

void write_chrome_nvtx(const ChromeContext& context) {
  const Trace& trace = context.trace;
  for (uint32_t t = 0; t < trace.threads.size(); ++t) write_thread(context, ThreadId{t});
  for (size_t p = 0; p < trace.processes.size(); ++p) {
    write_start_end(context, context.ids.process[p], trace.processes[p].start_end_ranges);
  }
}

}  // namespace prof::analyzer
