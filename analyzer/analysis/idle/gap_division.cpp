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

class Divider {
 public:
  Divider(const Trace& trace, const Views& views)
      : trace_(trace), calls_(trace), waits_(trace, calls_), full_(trace, views), threads_(trace), profiler_(trace) {}

  // The gaps of one GPU come in order of time, so the cursors only advance.
  void next_gpu() {
    cursors_.clear();
    cursors_.resize(trace_.threads.size());
  }

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
    after_launch(gap);
    steps_ += pieces_.size();
    return pieces_;
  }

  uint64_t steps() const { return steps_; }

 private:
  HostCursor& cursor(uint32_t thread) {
    std::unique_ptr<HostCursor>& cursor = cursors_[thread];
    if (cursor == nullptr) cursor = std::make_unique<HostCursor>(trace_, ThreadId{thread}, &steps_);
    return *cursor;
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
    HostCursor& host = cursor(thread);
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
      threads_.split(thread, from, to, own, [&](int64_t a, int64_t b, uint32_t other) {
        GapPiece part = piece;
        part.begin_ns = a, part.end_ns = b;
        waited(part, other, take);
      });
    });
  }

  // The piece of a thread that waited for another one: what the other one did, as far as it is known. Where it did
  // nothing recorded, the waiting thread's own range counts.
  template <class Take> void waited(const GapPiece& piece, uint32_t other, const Take& take) {
    const auto nothing_known = [&](int64_t begin_ns, int64_t end_ns) {
      GapPiece part = piece;
      part.begin_ns = begin_ns, part.end_ns = end_ns;
      if (part.part() == GapPart::Outside) {
        part.charge.part = GapPart::Waiting;
        part.thread = other;
      }
      take(part);
    };
    if (chain_.size() >= kLongestChain || std::find(chain_.begin(), chain_.end(), other) != chain_.end())
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

  // What did the launching thread do until it entered the launch? Where nothing of it is recorded, and another thread
  // of the process launched the previous operation, the work went on there.
  void before_launch(const DeviceGap& gap) {
    if (gap.host_ns == 0) return;
    uint32_t before = gap.previous == kNone ? kNone : trace_.operations[gap.previous].launch;
    if (before != kNone) before = index(trace_.host[before].thread);
    const bool other =
        before != kNone && before != gap.thread && trace_.threads[before].process == trace_.threads[gap.thread].process;
    chain_.assign(1, gap.thread);
    walk(gap.thread, gap.begin_ns, gap.launched_ns(), [&](const GapPiece& piece) {
      if (!other || piece.part() != GapPart::Outside || piece.thread != gap.thread) return push(piece);
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

  void after_launch(const DeviceGap& gap) {
    const HostEvent& launch = trace_.host[gap.launch];
    GapPiece piece;
    piece.begin_ns = gap.launched_ns();
    piece.end_ns = std::clamp(launch.end_ns, piece.begin_ns, gap.end_ns);
    const bool returned_before = launch.end_ns <= gap.begin_ns;
    if (piece.end_ns > piece.begin_ns) {
      piece.charge.part = part_of(gap.launch, kNone);
      piece.call = gap.launch;
      piece.thread = gap.thread;
      piece.range = cursor(gap.thread).range_at(piece.begin_ns);
      push(piece);
    }
    const int64_t from_ns = piece.end_ns;
    if (from_ns >= gap.end_ns) return;
    piece = {};
    piece.begin_ns = from_ns, piece.end_ns = gap.end_ns;
    piece.charge.part = returned_before ? GapPart::Queued : GapPart::LaunchLatency;

    // Waits that were put on the stream after the previous operation's launch are checked first.
    const auto [wait, function, function_ns] = waits_.before_operation(gap.operation, launch.begin_ns);
    const bool held = gap.end_ns - from_ns >= kHeldFromNs;
    const auto waited_for = [&](GapPart part, const StreamWaits::Wait& by) {
      piece.charge.part = part;
      piece.waits_call = by.call;
      piece.waits_stream = by.other;
    };
    if (wait != nullptr && ended_in(gap, *wait)) {
      waited_for(wait->value ? GapPart::ValueWait : GapPart::StreamWait, *wait);
    } else if (function != nullptr && (held || (function_ns >= gap.begin_ns && function_ns < gap.end_ns))) {
      if (function_ns > from_ns && function_ns < gap.end_ns) {
        GapPiece until = piece;
        until.end_ns = piece.begin_ns = function_ns;
        push(until);
      }
      waited_for(GapPart::HostFunction, *function);
    } else if (held && wait != nullptr && wait->value && wait->other == kNone) {
      waited_for(GapPart::ValueWait, *wait);  // the program wrote it, or a kernel
    } else if (held) {
      piece.charge.part = GapPart::Unknown;
    }
    push(piece);
  }

  // Whether an operation of the other stream ended in the gap, its start included, and after the launch was entered if
  // that was later.
  bool ended_in(const DeviceGap& gap, const StreamWaits::Wait& wait) const {
    const uint32_t own = trace_.operations[gap.operation].stream_index;
    if (wait.other == own) return false;
    const uint32_t previous = gap.previous == kNone ? kNone : trace_.operations[gap.previous].stream_index;
    // Operations of the same GPU had all ended when the gap began.
    if (wait.other == kNone) return !wait.value && previous != own && gap.host_ns == 0;
    if (previous == wait.other && gap.host_ns == 0) return true;
    return waits_.ended_after(wait.other, gap.launched_ns(), gap.end_ns);
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
          same(&GapPiece::call_before) && same(&GapPiece::call_after) && same(&GapPiece::waits_call)) {
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
  std::vector<std::unique_ptr<HostCursor>> cursors_;  // by thread
  std::vector<uint32_t> chain_;
  std::vector<GapPiece> pieces_;
  uint64_t steps_ = 0;
};

constexpr std::string_view kTexts[] = {
#define PROF_GAP_PART(name, text, meaning) text,
#include "analyzer/analysis/idle/gap_parts.def"
#undef PROF_GAP_PART
};

}  // namespace

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
  Divider divider(trace, views);
  each_device_gap(
      trace, selection, window, [&] { divider.next_gpu(); },
      [&](const DeviceGap& gap) { take(gap, divider.divide(gap)); });
  return divider.steps();
}

}  // namespace prof::analyzer
