// Which one cause does a gap have (`--definitions gap-cause`)? A gap is an interval of a window in which no operation
// runs on a device. The longer of its two intervals decides: a late host if it is the time until the launch was
// entered, else the launch. A call that held the thread when the GPU ran dry is the cause of the whole gap.
// gap_division.h divides a gap instead. Definitions: docs/reports/idle.md. O(n log n).
#pragma once

#include "analyzer/analysis/idle/device_gaps.h"
#include "analyzer/analysis/views.h"
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
struct Gap : DeviceGap {
  uint32_t call = kNone;   // culprit: row of Trace::host, a call that blocked the thread or the launch; kNone: no call
  uint32_t range = kNone;  // culprit: row of Trace::ranges, the range with most of host_ns, else that of the launch
  GapCause cause = GapCause::NoMoreWork;
};

// The gaps of each_device_gap() with their causes. `steps`: set to the number of steps, which measures the work.
std::vector<Gap> find_gaps(const Trace& trace, const Views& views, const Selection& selection, const Interval& window,
                           uint64_t* steps = nullptr);

// Simpler classes that depend on launches only. HostWait: the launch began at or after the start of the gap. Short:
// below 30 us.
enum class GapClass : uint8_t { Unlinked, HostWait, Short, Other };
GapClass gap_class(const Trace& trace, const DeviceGap& gap);

// "ProfilerStep#3/aten::add": the ranges around the culprit range, without Python's. For a Python range its own name.
std::string range_text(const Trace& trace, uint32_t range);

}  // namespace prof::analyzer
