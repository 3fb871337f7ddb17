// What took the time of a gap? A gap is an interval in which no operation runs on a device. It is cut where the launch
// of the operation that ends it was entered. The part before is the host's: it is divided over what the launching
// thread did, call by call and range by range. Where that thread waited for another one (thread_waits.h), it is divided
// over what the other one did. The part after is the device's. No nanosecond is in two pieces, the pieces of a gap sum
// to the gap, and a piece lies inside the call to which it is charged. Used by every report about idle time, and by
// critical-path for the time between the nodes of its path. Definitions: docs/reports/idle.md.
//
//            gap.begin              launch entered          gap.end
//   GPU  ████|                            :                   |████ operation
//   host ─copy call─|──Python──|─in an op─|launch call|latency|
//
// O(n log n) for all gaps of an input. Memory does not grow with their number.
#pragma once

#include "analyzer/analysis/idle/device_gaps.h"
#include "analyzer/analysis/views.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace prof::analyzer {

enum class GapPart : uint8_t {
#define PROF_GAP_PART(name, text, meaning) name,
#include "analyzer/analysis/idle/gap_parts.def"
#undef PROF_GAP_PART
  kCount
};
inline constexpr size_t kGapParts = static_cast<size_t>(GapPart::kCount);
std::string_view gap_part_text(GapPart part);
std::string_view gap_part_meaning(GapPart part);

// The part as tables name it, with what the launching thread waited for: "other thread: in an op".
struct GapCharge {
  GapPart part{};
  bool other_thread = false;
  size_t number() const { return 2 * static_cast<size_t>(part) + (other_thread ? 1 : 0); }
  static GapCharge of_number(size_t number) { return {static_cast<GapPart>(number / 2), number % 2 != 0}; }
  std::string_view text() const;
  bool operator==(const GapCharge&) const = default;
};
inline constexpr size_t kGapCharges = 2 * kGapParts;

// A part of a gap with one explanation. 48 bytes.
struct GapPiece {
  int64_t begin_ns = 0, end_ns = 0;
  GapCharge charge{};
  uint32_t thread = kNone;  // the thread that did it; kNone: the device's part
  uint32_t call = kNone;    // row of Trace::host: the outermost call around the whole piece; kNone: in no call
  uint32_t range = kNone;   // row of Trace::ranges: the innermost range around the piece; kNone: in none
  // Of pieces in no call: rows of the last call of `thread` that had returned, and of the next one that it entered.
  uint32_t call_before = kNone, call_after = kNone;
  uint32_t waits_call = kNone;    // row of Trace::host that made the stream wait, or gave it the function
  uint32_t waits_stream = kNone;  // row of Trace::streams for which the stream waited
  int64_t duration_ns() const { return end_ns - begin_ns; }
  GapPart part() const { return charge.part; }
};

// Whether the host took the time: before the launch of the next operation, or in the launch call itself.
inline bool is_host_part(GapPart part) { return part <= GapPart::Profiler; }

class GapDivider {
 public:
  GapDivider(const Trace& trace, const Views& views);
  ~GapDivider();

  // The pieces in order of time, until the next call of a function of this object. They cover the whole interval. Fast
  // if the intervals of a thread come in order of time.
  std::span<const GapPiece> divide(const DeviceGap& gap);
  // What a host thread did in an interval.
  std::span<const GapPiece> of_thread(uint32_t thread, const Interval& interval);
  // What an operation with a launch waited for from a moment until it started. The moment is not before its launch was
  // entered. `after_launch`: the launch had not returned before that moment.
  std::span<const GapPiece> of_start(uint32_t operation, int64_t begin_ns, bool after_launch);

  // Number of steps, which measures the work.
  uint64_t steps() const;

 private:
  class Division;
  std::unique_ptr<Division> division_;
};

using TakeGap = std::function<void(const DeviceGap&, std::span<const GapPiece>)>;

// Calls take(gap, its pieces in order of time) for the gaps of each_device_gap(). The pieces cover the whole gap, even
// where the window cuts it. Returns the number of steps, which measures the work.
uint64_t divide_gaps(const Trace& trace, const Views& views, const Selection& selection, const Interval& window,
                     const TakeGap& take);

// What took most of a gap: the cause with the most time, and its longest piece.
struct MainPart {
  GapCharge charge{};
  int64_t ns = 0;
  const GapPiece* longest = nullptr;
};
MainPart main_part(std::span<const GapPiece> pieces);

// The piece cut to an interval; it is empty if they do not overlap.
inline Interval inside(const GapPiece& piece, int64_t begin_ns, int64_t end_ns) {
  const int64_t begin = std::max(piece.begin_ns, begin_ns);
  return {begin, std::max(begin, std::min(piece.end_ns, end_ns))};
}

}  // namespace prof::analyzer
