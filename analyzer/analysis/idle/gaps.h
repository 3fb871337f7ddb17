// Why was a device idle? A gap is an interval of a window in which no operation runs on a device. It has a cause, and
// the call, range and thread that made the next launch late. Used by the reports idle and idle-gaps, the critical path
// and the augmented trace. Definitions: docs/reports/idle.md.
//
//            gap.begin          launch entered        gap.end
//   GPU  ████|                        :                 |████ operation
//   host ──────── late: host_ns ──────| launch latency ─|
//
// The longer of the two intervals decides: a late host if it is the first, else the launch. O(n log n).
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

// Whether the host was late: for the longer part of the gap it had not begun the launch.
inline bool host_late(GapCause cause) { return cause <= GapCause::Outside; }

// 72 bytes.
struct Gap {
  int64_t begin_ns = 0, end_ns = 0;  // the whole gap, even where the window cuts it
  int64_t host_ns = 0;               // until the launch of the next operation began
  DeviceId device{};                 // the first DeviceId of that physical GPU
  uint32_t operation = kNone;        // row of Trace::operations that ended the gap; kNone: none
  uint32_t previous = kNone;         // row of the operation that ended last before the gap; kNone: none
  uint32_t launch = kNone;           // row of Trace::host: the launch of `operation`
  uint32_t thread = kNone;           // thread that made the launch
  uint32_t call = kNone;  // culprit: row of Trace::host, a call that blocked the thread or the launch; kNone: no call
  uint32_t range =
      kNone;  // culprit: row of Trace::ranges, the range with most of host_ns, else that of the launch; kNone: none
  GapCause cause = GapCause::NoMoreWork;
  int64_t duration_ns() const { return end_ns - begin_ns; }
};

// The gaps that overlap the window, of the selected streams of every physical GPU, by device, then by time. A device is
// idle from the start of the window to its first operation, and from its last operation to the end of the window.
// Selected threads keep gaps that end with one of their launches, selected ranges those that end with one of their
// operations.
std::vector<Gap> find_gaps(const Trace& trace, const Views& views, const Selection& selection, const Interval& window);

// Simpler classes that depend on launches only. HostWait: the launch began at or after the start of the gap. Short:
// below 30 us.
enum class GapClass : uint8_t { Unlinked, HostWait, Short, Other };
GapClass gap_class(const Trace& trace, const Gap& gap);

// "ProfilerStep#3/aten::add": the ranges around the culprit range, without Python's. For a Python range its own name.
std::string range_text(const Trace& trace, uint32_t range);

}  // namespace prof::analyzer
