#include "analyzer/analysis/idle/gaps.h"

#include "analyzer/analysis/idle/full_queue_launches.h"
#include "analyzer/analysis/idle/host_cursor.h"
#include "analyzer/analysis/idle/profiler_work.h"
#include "analyzer/analysis/idle/stream_waits.h"

#include <algorithm>
#include <array>
#include <memory>

namespace prof::analyzer {

namespace {

constexpr int64_t kShortBelowNs = 30'000;

class Classifier {
 public:
  Classifier(const Trace& trace, const Views& views)
      : trace_(trace), views_(views), calls_(trace), waits_(trace, calls_), full_(trace, views), profiler_(trace) {}

  // The gaps of one GPU come in order of time, so the cursors only advance.
  void next_gpu() {
    cursors_.clear();
    cursors_.resize(trace_.threads.size());
  }

  void classify(Gap& gap) {
    ++steps_;
    if (gap.operation == kNone) {
      gap.cause = GapCause::NoMoreWork;
      return;
    }
    if (gap.launch != kNone) {
      gap.call = gap.launch;
      gap.range = views_.range_of_call()[gap.launch];
    }
    const IntervalSet* const overhead =
        profiler_.of_device(trace_, trace_.stream(trace_.operations[gap.operation].stream()).device);
    const int64_t profiler_ns = overhead == nullptr ? 0 : overhead->overlap_ns(gap.begin_ns, gap.end_ns);
    if (profiler_ns >= gap.duration_ns() - profiler_ns) {
      gap.cause = GapCause::Profiler;
    } else if (gap.launch == kNone) {
      gap.cause = GapCause::Unlinked;
    } else if (gap.host_ns >= gap.duration_ns() - gap.host_ns) {
      late_host(gap);
    } else {
      late_start(gap);
    }
  }

  uint64_t steps() const { return steps_; }

 private:
  GapCause cause_of_call(uint32_t call) const {
    switch (calls_.role(trace_.host[call])) {
      case CallRole::Synchronize: return GapCause::Synchronize;
      case CallRole::Copy: return GapCause::BlockingCopy;
      case CallRole::Allocate:
      case CallRole::Free: return GapCause::Allocation;
      case CallRole::Launch: return full_.held(call) ? GapCause::QueueFull : GapCause::OtherCall;
      default: return GapCause::OtherCall;
    }
  }
  GapCause cause_of_segment(uint32_t call, uint32_t range) const {
    if (call != kNone) return cause_of_call(call);
    if (range == kNone) return GapCause::Outside;
    const RangeKind kind = trace_.ranges[range].kind;
    return kind == RangeKind::Python     ? GapCause::Python
           : kind == RangeKind::Overhead ? GapCause::Profiler
                                         : GapCause::Operator;
  }

  // What did the thread do until it began the launch? If a call blocked it when the GPU became idle, that call is the
  // cause; else the cause is what took the most time.
  void late_host(Gap& gap) {
    std::unique_ptr<HostCursor>& cursor = cursors_[gap.thread];
    if (cursor == nullptr) cursor = std::make_unique<HostCursor>(trace_, ThreadId{gap.thread}, &steps_);
    struct Share {
      int64_t ns = 0, longest_ns = 0;
      uint32_t call = kNone, range = kNone;
    };
    std::array<Share, kGapCauses> shares;
    const uint32_t holding = cursor->call_at(gap.begin_ns);
    cursor->walk(gap.begin_ns, gap.begin_ns + gap.host_ns,
                 [&](int64_t from, int64_t to, uint32_t call, uint32_t range) {
                   Share& share = shares[static_cast<size_t>(cause_of_segment(call, range))];
                   share.ns += to - from;
                   if (to - from <= share.longest_ns) return;
                   share.longest_ns = to - from;
                   share.call = call;
                   share.range = range;
                 });
    size_t most = 0;
    for (size_t i = 1; i < shares.size(); ++i) {
      if (shares[i].ns > shares[most].ns) most = i;
    }
    if (gap.previous != kNone && holding != kNone && holding != gap.launch) {
      const GapCause held = cause_of_call(holding);
      if (held == GapCause::Synchronize || held == GapCause::BlockingCopy || held == GapCause::QueueFull) {
        gap.cause = held;
        gap.call = holding;
        gap.range = shares[most].range;
        return;
      }
    }
    gap.cause = static_cast<GapCause>(most);
    gap.call = shares[most].call;
    gap.range = shares[most].range;
    if (gap.cause == GapCause::Outside && gap.previous != kNone) {
      const GpuOperation& previous = trace_.operations[gap.previous];
      if (previous.linked() && index(trace_.host[previous.launch].thread) != gap.thread)
        gap.cause = GapCause::OtherThread;
    }
  }

  // The launch was in time. Waits that were put on the stream after the previous operation's launch are checked first.
  void late_start(Gap& gap) {
    const HostEvent& launch = trace_.host[gap.launch];
    const auto [wait, function, function_ns] = waits_.before_operation(gap.operation, launch.begin_ns);
    const bool held = gap.end_ns - std::max(gap.begin_ns, launch.end_ns) >= kShortBelowNs;
    const auto blame = [&](GapCause cause, uint32_t call) {
      gap.cause = cause;
      if (call != kNone) gap.call = call;
    };
    if (wait != nullptr && ended_with(gap, *wait)) {
      blame(wait->value ? GapCause::ValueWait : GapCause::StreamWait, wait->call);
    } else if (full_.held(gap.launch)) {
      gap.cause = GapCause::QueueFull;
    } else if (function != nullptr && (held || (function_ns >= gap.begin_ns && function_ns < gap.end_ns))) {
      blame(GapCause::HostFunction, function->call);
    } else if (held && wait != nullptr && wait->value && wait->other == kNone) {
      blame(GapCause::ValueWait, wait->call);  // the program wrote it, or a kernel
    } else if (held) {
      gap.cause = GapCause::Held;
    } else {
      gap.cause = launch.end_ns <= gap.begin_ns ? GapCause::Queued : GapCause::LaunchLatency;
    }
  }

  // Whether an operation of the other stream ended at or after the start of the gap.
  bool ended_with(const Gap& gap, const StreamWaits::Wait& wait) const {
    const uint32_t own = trace_.operations[gap.operation].stream_index;
    if (wait.other == own) return false;
    const uint32_t previous = gap.previous == kNone ? kNone : trace_.operations[gap.previous].stream_index;
    if (wait.other == kNone) return !wait.value && previous != own;
    if (previous == wait.other) return true;
    return waits_.ended_after(wait.other, gap.begin_ns, gap.end_ns);
  }

  const Trace& trace_;
  const Views& views_;
  CallTable calls_;
  StreamWaits waits_;
  FullQueueLaunches full_;
  ProfilerWork profiler_;
  std::vector<std::unique_ptr<HostCursor>> cursors_;  // by thread
  uint64_t steps_ = 0;
};

}  // namespace

std::string_view gap_cause_text(GapCause cause) {
  static constexpr std::string_view kTexts[] = {
#define PROF_GAP_CAUSE(name, text, meaning) text,
#include "analyzer/analysis/idle/gap_causes.def"
#undef PROF_GAP_CAUSE
  };
  return kTexts[static_cast<size_t>(cause)];
}

std::string_view gap_cause_meaning(GapCause cause) {
  static constexpr std::string_view kTexts[] = {
#define PROF_GAP_CAUSE(name, text, meaning) meaning,
#include "analyzer/analysis/idle/gap_causes.def"
#undef PROF_GAP_CAUSE
  };
  return kTexts[static_cast<size_t>(cause)];
}

std::vector<Gap> find_gaps(const Trace& trace, const Views& views, const Selection& selection, const Interval& window,
                           uint64_t* steps) {
  std::vector<Gap> gaps;
  Classifier classifier(trace, views);
  each_device_gap(
      trace, selection, window, [&] { classifier.next_gpu(); },
      [&](const DeviceGap& found) {
        Gap& gap = gaps.emplace_back();
        static_cast<DeviceGap&>(gap) = found;
        classifier.classify(gap);
      });
  if (steps != nullptr) *steps = classifier.steps();
  return gaps;
}

GapClass gap_class(const Trace& trace, const DeviceGap& gap) {
  if (gap.launch == kNone) return GapClass::Unlinked;
  if (trace.host[gap.launch].begin_ns >= gap.begin_ns) return GapClass::HostWait;
  return gap.duration_ns() < kShortBelowNs ? GapClass::Short : GapClass::Other;
}

std::string range_text(const Trace& trace, uint32_t range) {
  if (range == kNone) return {};
  const Range& row = trace.ranges[range];
  if (index(row.path) != 0) return path_text(trace, row.path);
  return std::string(trace.range_name(row));
}

}  // namespace prof::analyzer
