// Why was a device idle? Every stretch of a window in which no operation runs on a device, with its cause, and with the
// call, range and thread that made the next launch late. One model for the reports idle and idle-gaps, the critical path
// and the augmented trace. Definitions: docs/reports/idle.md.
//
//            gap.begin          launch entered        gap.end
//   GPU  ████|                        :                 |████ operation
//   host ──────── late: host_ns ──────| launch latency ─|
//
// The longer of the two parts is the cause: a late host if it is the first, else the launch. O(n log n).
#pragma once

#include "analyzer/analysis/selection.h"
#include "analyzer/analysis/views.h"
#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class GapCause : uint8_t {
#define PROF_GAP_CAUSE(name, text, meaning) name,
#include "analyzer/analysis/idle/gap_causes.def"
#undef PROF_GAP_CAUSE
  kCount
};
inline constexpr size_t kGapCauses = static_cast<size_t>(GapCause::kCount);
std::string_view gap_cause_text(GapCause cause);
std::string_view gap_cause_meaning(GapCause cause);

// The host was late: it had not entered the launch for the longer part of the gap.
inline bool host_late(GapCause cause) { return cause <= GapCause::Outside; }

// 72 bytes.
struct Gap {
  int64_t begin_ns = 0, end_ns = 0;  // the whole gap, also where the window cuts it
  int64_t host_ns = 0;               // until the launch of the next operation was entered
  DeviceId device{};                 // the first DeviceId of that physical GPU
  uint32_t operation = kNone;        // row of Trace::operations that ended it; kNone: none came
  uint32_t previous = kNone;         // row of the operation that ended last before it; kNone: none had run
  uint32_t launch = kNone;           // row of Trace::host: the launch of `operation`
  uint32_t thread = kNone;           // that made the launch
  uint32_t call = kNone;  // culprit: row of Trace::host, what held the thread, or the launch itself; kNone: no call
  uint32_t range =
      kNone;  // culprit: row of Trace::ranges, where the thread was for most of host_ns, else at the launch
  GapCause cause = GapCause::NoMoreWork;
  int64_t duration_ns() const { return end_ns - begin_ns; }
};

// The gaps of the selected streams of every physical GPU that overlap the window, by device, then by time. Before its first
// operation and after its last a device is idle from and to the edge of the window. A list of threads in the selection
// keeps the gaps that end with a launch of theirs, ranges those that end with an operation of theirs.
std::vector<Gap> find_gaps(const Trace& trace, const Views& views, const Selection& selection, const Interval& window);

// The simpler classes that need nothing but launches: Unlinked; HostWait, launch entered at or after the gap's begin; Short,
// below 30 us; Other.
enum class GapClass : uint8_t { Unlinked, HostWait, Short, Other };
GapClass gap_class(const Trace& trace, const Gap& gap);

// "ProfilerStep#3/aten::add": the ranges around the culprit range, Python's left out; Python's own name for a Python range.
std::string range_text(const Trace& trace, uint32_t range);

}  // namespace prof::analyzer
