#include "analyzer/analysis/idle/gap_division.h"

#include "analyzer/analysis/idle/full_queue_launches.h"
#include "analyzer/analysis/idle/host_cursor.h"
#include "analyzer/analysis/idle/profiler_work.h"
#include "analyzer/analysis/idle/stream_waits.h"
#include "analyzer/analysis/idle/thread_waits.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr int64_t kHeldFromNs = 30'000;
constexpr size_t kLongestChain = 8;  // threads that wait for each other in turn

}  // namespace

class GapDivider::Division {
 public:
  Division(const Trace& trace, const Views& views)
      : trace_(trace),
        calls_(trace),
        waits_(trace, calls_),
        full_(trace, views),
        threads_(trace),
        profiler_(trace),
        cursors_(trace.threads.size()) {}

  std::span<const GapPiece> divide(const DeviceGap& gap) {
    pieces_.clear();
    ++steps_;
    overhead_ = profiler_.of_device(trace_, gap.device);
    if (gap.launch == kNone) {
      GapPiece rest;
      rest.begin_ns = gap.begin_ns, rest.end_ns = gap.end_ns;
      rest.charge.part = gap.operation == kNone ? GapPart::NoMoreWork : GapPart::Unlinked;
      push(rest);
      return pieces_;
    }
    before_launch(gap);
    const bool returned = trace_.host[gap.launch].end_ns <= gap.begin_ns;
    device_part(gap, returned ? GapPart::Queued : GapPart::LaunchLatency);
    steps_ += pieces_.size();
    return pieces_;
  }

  std::span<const GapPiece> of_thread(uint32_t thread, const Interval& interval) {
    pieces_.clear();
    overhead_ = profiler_.of_process(trace_, trace_.threads[thread].process);
    chain_.assign(1, thread);
    walk(thread, interval.begin_ns, interval.end_ns, [&](const GapPiece& piece) { push(piece); });
    return pieces_;
  }

  std::span<const GapPiece> of_start(uint32_t operation, int64_t begin_ns, bool after_launch) {
    pieces_.clear();
    overhead_ = nullptr;
    DeviceGap gap;
    gap.begin_ns = begin_ns;
    gap.end_ns = std::max(begin_ns, trace_.operations[operation].start_ns);
    gap.operation = operation;
    gap.launch = trace_.operations[operation].launch;
    gap.thread = index(trace_.host[gap.launch].thread);
    device_part(gap, after_launch ? GapPart::LaunchLatency : GapPart::Queued);
    return pieces_;
  }

  uint64_t steps() const { return steps_; }

 private:
  // Cursors only advance. One that is asked for an earlier moment starts again.
  struct Cursor {
    std::unique_ptr<HostCursor> at;
    int64_t until_ns = 0;
  };
  HostCursor& cursor(uint32_t thread, int64_t begin_ns, int64_t end_ns) {
    Cursor& cursor = cursors_[thread];
    if (cursor.at == nullptr || begin_ns < cursor.until_ns)
      cursor.at = std::make_unique<HostCursor>(trace_, ThreadId{thread}, &steps_);
    cursor.until_ns = end_ns;
    return *cursor.at;
  }

  GapPart part_of(uint32_t call, uint32_t range) const {
    if (call != kNone) {
      switch (calls_.role(trace_.host[call])) {
        case CallRole::Synchronize: return GapPart::Synchronize;
        case CallRole::Copy: return GapPart::CopyCall;
        case CallRole::Allocate:
        case CallRole::Free: return GapPart::Allocation;
        case CallRole::Launch: return full_.held(call) ? GapPart::QueueFull : GapPart::LaunchCall;
        default: return GapPart::OtherCall;
      }
    }
    if (range == kNone) return GapPart::Outside;
    const RangeKind kind = trace_.ranges[range].kind;
    return kind == RangeKind::Python     ? GapPart::Python
           : kind == RangeKind::Overhead ? GapPart::Profiler
                                         : GapPart::Operator;
  }

  // Calls take(piece) for what a thread did in [begin, end), in order of time. `chain_` has the threads that wait for
  // this one.
  template <class Take> void walk(uint32_t thread, int64_t begin_ns, int64_t end_ns, const Take& take) {
    HostCursor& host = cursor(thread, begin_ns, end_ns);
    host.walk(begin_ns, end_ns, [&](int64_t from, int64_t to, uint32_t call, uint32_t range) {
      GapPiece piece;
      piece.begin_ns = from, piece.end_ns = to;
      piece.charge.part = part_of(call, range);
      piece.thread = thread, piece.call = call, piece.range = range;
      if (call == kNone) {
        piece.call_before = host.returned_call();
        piece.call_after = host.next_call();
      }
      const auto own = [&](int64_t a, int64_t b) {
        GapPiece part = piece;
        part.begin_ns = a, part.end_ns = b;
        take(part);
      };
      if (call != kNone) return take(piece);
      threads_.split(thread, from, to, own, [&](int64_t a, int64_t b, const ThreadWaits::Wait& wait) {
        GapPiece part = piece;
        part.begin_ns = a, part.end_ns = b;
        waited(part, wait, take);
      });
    });
  }

  // The piece of a thread that waited: what the other thread did, as far as it is known.
  template <class Take> void waited(const GapPiece& piece, const ThreadWaits::Wait& wait, const Take& take) {
    const uint32_t other = wait.other;
    // Where the other thread did nothing recorded, a range of the waiting thread counts, unless its name is the wait's.
    const auto nothing_known = [&](int64_t begin_ns, int64_t end_ns) {
      GapPiece part = piece;
      part.begin_ns = begin_ns, part.end_ns = end_ns;
      if (other == kNone) {
        part.charge.part = GapPart::UnknownWait;
      } else if (wait.named || part.part() == GapPart::Outside) {
        part.charge.part = GapPart::Waiting;
        part.thread = other;
        part.range = kNone;
      }
      take(part);
    };
    if (other == kNone || chain_.size() >= kLongestChain ||
        std::find(chain_.begin(), chain_.end(), other) != chain_.end())
      return nothing_known(piece.begin_ns, piece.end_ns);
    chain_.push_back(other);
    walk_of_other(other, piece.begin_ns, piece.end_ns, [&](const GapPiece& part) {
      if (part.part() == GapPart::Outside || part.part() == GapPart::Waiting)
        return nothing_known(part.begin_ns, part.end_ns);
      GapPiece charged = part;
      charged.charge.other_thread = true;
      take(charged);
    });
    chain_.pop_back();
  }
  void walk_of_other(uint32_t thread, int64_t begin_ns, int64_t end_ns,
                     const std::function<void(const GapPiece&)>& take) {
    walk(thread, begin_ns, end_ns, take);
  }

  // What did the launching thread do until it entered the launch? Where nothing of it is recorded, and the thread that
  // launched the previous operation handed its work over, the work went on there.
  void before_launch(const DeviceGap& gap) {
    if (gap.host_ns == 0) return;
    uint32_t before = gap.previous == kNone ? kNone : trace_.operations[gap.previous].launch;
    if (before != kNone) before = index(trace_.host[before].thread);
    const bool other =
        before != kNone && before != gap.thread && trace_.threads[before].process == trace_.threads[gap.thread].process;
    chain_.assign(1, gap.thread);
    walk(gap.thread, gap.begin_ns, gap.launched_ns(), [&](const GapPiece& piece) {
      if (!other || piece.part() != GapPart::Outside || piece.thread != gap.thread || piece.charge.other_thread ||
          !threads_.handed_over(before, gap.thread, piece.end_ns, trace_.host[gap.launch].end_ns))
        return push(piece);
      chain_.assign({gap.thread, before});
      walk_of_other(before, piece.begin_ns, piece.end_ns, [&](const GapPiece& part) {
        GapPiece charged = part;
        if (part.part() == GapPart::Outside || part.part() == GapPart::Waiting) {
          charged = piece;
          charged.begin_ns = part.begin_ns, charged.end_ns = part.end_ns;
        } else {
          charged.charge.other_thread = true;
        }
        push(charged);
      });
      chain_.assign(1, gap.thread);
    });
  }

  // From the launch to the start of the operation. A wait is cut where the operation ended that it was for. What
  // follows is the latency of the device, or unknown. `rest`: what a short time is that nothing else explains.
  void device_part(const DeviceGap& gap, GapPart rest) {
    const HostEvent& launch = trace_.host[gap.launch];
    GapPiece piece;
    piece.begin_ns = gap.launched_ns();
    piece.end_ns = std::clamp(launch.end_ns, piece.begin_ns, gap.end_ns);
    if (piece.end_ns > piece.begin_ns) {
      piece.charge.part = part_of(gap.launch, kNone);
      piece.call = gap.launch;
      piece.thread = gap.thread;
      piece.range = cursor(gap.thread, piece.begin_ns, piece.begin_ns).range_at(piece.begin_ns);
      push(piece);
    }
    int64_t from_ns = piece.end_ns;
    const auto held = [&] { return gap.end_ns - from_ns >= kHeldFromNs; };
    const auto put = [&](GapPart part, int64_t until_ns, const StreamWaits::Wait* by) {
      piece = {};
      piece.begin_ns = from_ns, piece.end_ns = until_ns;
      piece.charge.part = part;
      if (by != nullptr) {
        piece.waits_call = by->call;
        piece.waits_stream = by->other;
      }
      push(piece);
      from_ns = std::max(from_ns, until_ns);
    };

    // Waits that were put on the stream after the previous operation's launch are checked first.
    const auto [wait, function, function_ns] = waits_.before_operation(gap.operation, launch.begin_ns);
    const bool waits = wait != nullptr && wait->other != trace_.operations[gap.operation].stream_index;
    if (waits) {
      const int64_t ended_ns = waits_.awaited_end_ns(*wait, gap.end_ns);
      if (ended_ns > from_ns && ended_ns <= gap.end_ns) {
        put(wait->value ? GapPart::ValueWait : GapPart::StreamWait, ended_ns, wait);
        rest = GapPart::LaunchLatency;
      }
    }
    if (function != nullptr && (held() || (function_ns >= gap.begin_ns && function_ns < gap.end_ns))) {
      // A function began no earlier than function_ns. Its end is not recorded.
      if (function_ns > from_ns && function_ns < gap.end_ns) put(rest, function_ns, nullptr);
      put(GapPart::HostFunction, gap.end_ns, function);
    } else if (held() && waits && wait->other == kNone) {
      // The event was recorded, or the value written, by something that is not in the input.
      put(wait->value ? GapPart::ValueWait : GapPart::StreamWait, gap.end_ns, wait);
    } else {
      put(held() ? GapPart::Unknown : rest, gap.end_ns, nullptr);
    }
  }

  // The profiler's own work takes its time from the host's part, and from gaps whose launch is unknown.
  void push(const GapPiece& piece) {
    if (piece.end_ns <= piece.begin_ns) return;
    if (overhead_ == nullptr || !(is_host_part(piece.part()) || piece.part() == GapPart::Unlinked)) return add(piece);
    int64_t now = piece.begin_ns;
    const auto put = [&](int64_t until_ns, bool profiler) {
      if (until_ns <= now) return;
      GapPiece part = piece;
      part.begin_ns = now, part.end_ns = now = until_ns;
      if (profiler) {
        part.charge = {GapPart::Profiler, false};
        part.call_before = part.call_after = kNone;
      }
      add(part);
    };
    const std::vector<Interval>& parts = overhead_->parts();
    auto each = std::partition_point(parts.begin(), parts.end(),
                                     [&](const Interval& part) { return part.end_ns <= piece.begin_ns; });
    for (; each != parts.end() && each->begin_ns < piece.end_ns; ++each) {
      put(std::min(each->begin_ns, piece.end_ns), false);
      put(std::min(each->end_ns, piece.end_ns), true);
    }
    put(piece.end_ns, false);
  }
  void add(const GapPiece& piece) {
    if (!pieces_.empty()) {
      GapPiece& last = pieces_.back();
      const auto same = [&](auto member) { return last.*member == piece.*member; };
      if (same(&GapPiece::charge) && same(&GapPiece::thread) && same(&GapPiece::call) && same(&GapPiece::range) &&
          same(&GapPiece::call_before) && same(&GapPiece::call_after) && same(&GapPiece::waits_call) &&
          last.end_ns == piece.begin_ns) {
        last.end_ns = piece.end_ns;
        return;
      }
    }
    pieces_.push_back(piece);
  }

  const Trace& trace_;
  CallTable calls_;
  StreamWaits waits_;
  FullQueueLaunches full_;
  ThreadWaits threads_;
  ProfilerWork profiler_;
  const IntervalSet* overhead_ = nullptr;
  std::vector<Cursor> cursors_;  // by thread
  std::vector<uint32_t> chain_;
  std::vector<GapPiece> pieces_;
  uint64_t steps_ = 0;
};

namespace {

constexpr std::string_view kTexts[] = {
#define PROF_GAP_PART(name, text, meaning) text,
#include "analyzer/analysis/idle/gap_parts.def"
#undef PROF_GAP_PART
};

}  // namespace

GapDivider::GapDivider(const Trace& trace, const Views& views) : division_(std::make_unique<Division>(trace, views)) {}
GapDivider::~GapDivider() = default;

std::span<const GapPiece> GapDivider::divide(const DeviceGap& gap) { return division_->divide(gap); }
std::span<const GapPiece> GapDivider::of_thread(uint32_t thread, const Interval& interval) {
  return division_->of_thread(thread, interval);
}
std::span<const GapPiece> GapDivider::of_start(uint32_t operation, int64_t begin_ns, bool after_launch) {
  return division_->of_start(operation, begin_ns, after_launch);
}
uint64_t GapDivider::steps() const { return division_->steps(); }

std::string_view gap_part_text(GapPart part) { return kTexts[static_cast<size_t>(part)]; }

std::string_view gap_part_meaning(GapPart part) {
  static constexpr std::string_view kMeanings[] = {
#define PROF_GAP_PART(name, text, meaning) meaning,
#include "analyzer/analysis/idle/gap_parts.def"
#undef PROF_GAP_PART
  };
  return kMeanings[static_cast<size_t>(part)];
}

std::string_view GapCharge::text() const {
  static const std::vector<std::string> of_others = [] {
    std::vector<std::string> texts;
    for (const std::string_view text : kTexts) texts.push_back("other thread: " + std::string(text));
    return texts;
  }();
  return other_thread ? std::string_view(of_others[static_cast<size_t>(part)]) : gap_part_text(part);
}

MainPart main_part(std::span<const GapPiece> pieces) {
  std::array<int64_t, kGapCharges> ns{};
  for (const GapPiece& piece : pieces) ns[piece.charge.number()] += piece.duration_ns();
  MainPart most;
  for (const GapPiece& piece : pieces) {
    const int64_t of_charge = ns[piece.charge.number()];
    if (of_charge > most.ns) most = {piece.charge, of_charge, &piece};
    if (piece.charge == most.charge && piece.duration_ns() > most.longest->duration_ns()) most.longest = &piece;
  }
  return most;
}

uint64_t divide_gaps(const Trace& trace, const Views& views, const Selection& selection, const Interval& window,
                     const TakeGap& take) {
  GapDivider divider(trace, views);
  each_device_gap(
      trace, selection, window, [] {}, [&](const DeviceGap& gap) { take(gap, divider.divide(gap)); });
  return divider.steps();
}

}  // namespace prof::analyzer
