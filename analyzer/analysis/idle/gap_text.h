// How do tables name a device, and the culprit of a gap with one cause (gaps.h)? Called by reports about idle time.
#pragma once

#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/model/event_names.h"

#include <string>
#include <string_view>

namespace prof::analyzer {

// The culprit as one name to group by: the call if a call made the launch late, else the range without the numbers that
// make its text unique. Empty if nothing is known.
inline std::string_view culprit_name(const Trace& trace, const EventNames& names, const Gap& gap) {
  switch (gap.cause) {
    case GapCause::Python:
    case GapCause::Operator: return gap.range == kNone ? "" : names.text(names.of(trace.ranges[gap.range]));
    case GapCause::OtherThread:
    case GapCause::Outside:
    case GapCause::Profiler:
    case GapCause::Unlinked:
    case GapCause::NoMoreWork: return {};
    default: return gap.call == kNone ? "" : names.text(names.of(trace.host[gap.call]));
  }
}

// The note of a report that has time of `unknown wait` or `outside any call`.
inline constexpr std::string_view kSilentThreads =
    "threads without a recorded call or range are not in the input, and whether there are any is not known: a wait for "
    "one of them is an unknown wait, or outside any call";
constexpr bool may_wait_for_silent_threads(GapPart part) {
  return part == GapPart::UnknownWait || part == GapPart::Outside;
}

// "NVIDIA H200 (0)"; "0" if the device has no name.
inline std::string device_text(const Device& device) {
  if (device.name.empty()) return std::to_string(device.ordinal);
  return device.name + " (" + std::to_string(device.ordinal) + ")";
}

}  // namespace prof::analyzer
