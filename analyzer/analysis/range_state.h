// What is unusual about how a range was opened and closed, and how many closings had no range? Printed in tables of
// ranges.
#pragma once

#include "analyzer/model/trace.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

namespace prof::analyzer {

// "unfinished", "closed by thread 43, closed again" …. Empty if the range was opened and closed in order on one
// thread.
inline std::string range_state(const Trace& trace, const Range& range) {
  std::string state;
  const auto add = [&](std::string_view text) { (state += state.empty() ? "" : ", ") += text; };
  if (range.unfinished) add(range.closed_early ? "unfinished, ended with its caller or thread" : "unfinished");
  if (range.crosses) add("closed out of order");
  if (range.other_thread) {
    const auto by = trace.ended_by.find(static_cast<uint32_t>(&range - trace.ranges.begin()));
    if (by != trace.ended_by.end()) add(fmt::format("closed by thread {}", trace.thread(by->second).tid));
  }
  if (range.ended_again) add("closed again");
  if (range.deferred) add("submitted later");
  return state;
}

// The name of the category, or its number if it has no name; empty: no category.
inline std::string category_text(const Trace& trace, const Label& label) {
  if (label.category == 0) return {};
  return index(label.category_name) != 0 ? std::string(trace.text(label.category_name))
                                         : fmt::format("{}", label.category);
}

// The values of an extended payload as "name=value, …", or the plain number; empty: no payload.
inline std::string payload_text(const Trace& trace, const Range& range) {
  if (range.kind != RangeKind::Nvtx || range.payload_type == 0) return {};
  std::string text;
  if (range.payload_type == kExtendedPayload) {
    const Rows values = trace.payload_of(range);
    for (uint32_t i = values.first; i < values.last; ++i) {
      const PayloadValue& value = trace.payload_values[i];
      text += fmt::format("{}{}={}", i == values.first ? "" : ", ", trace.text(value.name), trace.text(value.json));
    }
    return text;
  }
  float small = 0;
  double real = 0;
  switch (range.payload_type) {
    case 2: return fmt::format("{}", static_cast<int64_t>(range.payload));
    case 3: std::memcpy(&real, &range.payload, sizeof real); return fmt::format("{}", real);
    case 5: return fmt::format("{}", static_cast<int32_t>(range.payload));
    case 6: std::memcpy(&small, &range.payload, sizeof small); return fmt::format("{}", small);
    default: return fmt::format("{}", range.payload);
  }
}

// Adds a note to a report that sums the times of ranges: some end only where their caller or thread did.
inline void note_open_ranges(const Trace& trace, std::vector<std::string>& notes) {
  uint64_t early = 0;
  for (const Process& process : trace.processes) early += process.coverage.ranges_closed_early;
  if (early != 0) notes.push_back(fmt::format("ranges without an end, ended with their caller or thread: {}", early));
}

// Adds one note per kind of closing that fits no range, and one for payloads that could not be read.
inline void note_nvtx_oddities(const Trace& trace, std::vector<std::string>& notes) {
  const auto note = [&](uint64_t Process::*counter, std::string_view what) {
    uint64_t count = 0;
    for (const Process& process : trace.processes) count += process.*counter;
    if (count != 0) notes.push_back(fmt::format("{}: {}", what, count));
  };
#define PROF_NVTX_COUNTER(name, text) note(&Process::name, text);
#include "analyzer/model/coverage.def"
#undef PROF_NVTX_COUNTER
}

}  // namespace prof::analyzer
