// See host_clocks.h.
#include "analyzer/analysis/collectives/host_clocks.h"

#include "analyzer/analysis/collectives/clock_fit.h"
#include "analyzer/model/trace_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace prof::analyzer {

namespace {

constexpr size_t kFewestForEnds = 3;  // operations; with fewer, equal distances of ends show nothing
constexpr int64_t kLaunchSpreadNs = 10'000, kHopNs = 5'000;  // latency of a message between two ranks, generously
constexpr double kNearlyAsCertain = 1.1;    // bound of a constant difference in units of that of the line
constexpr double kNoDifferenceNs = 10'000;  // the recorded wall time is kept if it costs at most this much certainty

// Every rank must have started before any rank ends.
bool waits_for_all(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce:
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllToAll:
    case CollectiveKind::Barrier: return true;
    default: return false;
  }
}

// The root must have started before any rank ends.
bool waits_for_root(CollectiveKind kind) {
  return kind == CollectiveKind::Broadcast || kind == CollectiveKind::Scatter || kind == CollectiveKind::PointToPoint;
}

// The kernels of an operation whose processes have one clock; times on the clock of the reference if it is known.
struct Meeting {
  uint32_t clock = 0;
  int64_t first_start_ns = INT64_MAX, last_start_ns = INT64_MIN, first_end_ns = INT64_MAX, last_end_ns = INT64_MIN;
  int64_t root_start_ns = kNone64, root_end_ns = kNone64;
  static constexpr int64_t kNone64 = INT64_MIN;
};

class ClockEstimate {
 public:
  ClockEstimate(const std::function<ClockedKernel(uint32_t)>& kernel, uint32_t reference,
                std::vector<HostClock>& clocks)
      : kernel_(kernel), clocks_(clocks), tried_(clocks.size()) {
    clocks[reference].basis = ClockBasis::Reference;
    tried_[reference] = true;
  }

  void run(const CollectiveMatches& matches) {
    for (bool more = true; more;) {
      observations_.assign(clocks_.size(), {});
      for (const MatchedCollective& collective : matches.all) observe(collective);
      more = false;
      for (uint32_t clock = 0; clock < clocks_.size(); ++clock) more |= fit(clock);
    }
  }

 private:
  struct Observations {
    std::vector<ClockObservation> order, ends;
    uint64_t collectives = 0, with_ends = 0;
  };

  std::vector<Meeting> meetings(const MatchedCollective& collective, int64_t& shortest_ns) const {
    std::map<uint32_t, Meeting> of_clock;
    for (const uint32_t row : collective.rows) {
      const ClockedKernel kernel = kernel_(row);
      const HostClock& known = clocks_[kernel.clock];
      const int64_t start_ns = known.aligned(kernel.start_ns), end_ns = known.aligned(kernel.end_ns);
      shortest_ns = std::min(shortest_ns, kernel.end_ns - kernel.start_ns);
      Meeting& meeting = of_clock[kernel.clock];
      meeting.clock = kernel.clock;
      meeting.first_start_ns = std::min(meeting.first_start_ns, start_ns);
      meeting.last_start_ns = std::max(meeting.last_start_ns, start_ns);
      meeting.first_end_ns = std::min(meeting.first_end_ns, end_ns);
      meeting.last_end_ns = std::max(meeting.last_end_ns, end_ns);
      if (row == collective.root) meeting.root_start_ns = start_ns, meeting.root_end_ns = end_ns;
    }
    std::vector<Meeting> all;
    for (const auto& [clock, meeting] : of_clock) all.push_back(meeting);
    return all;
  }

  void observe(const MatchedCollective& collective) {
    int64_t shortest_ns = INT64_MAX;
    const std::vector<Meeting> all = meetings(collective, shortest_ns);
    const Meeting* by = nullptr;  // the most certain clock among them
    for (const Meeting& each : all) {
      const HostClock& clock = clocks_[each.clock];
      if (clock.known() && (by == nullptr || clock.bound_ns < clocks_[by->clock].bound_ns)) by = &each;
    }
    if (by == nullptr) return;
    const int64_t apart_ns =
        std::max(shortest_ns, kLaunchSpreadNs + kHopNs * static_cast<int64_t>(collective.ranks - 1));
    for (const Meeting& each : all) {
      if (tried_[each.clock]) continue;
      Observations& of = observations_[each.clock].by(by->clock);
      ++of.collectives;
      if (waits_for_all(collective.kind)) {
        of.order.push_back({each.first_end_ns, kNoLowLimit, each.first_end_ns - by->last_start_ns});
        of.order.push_back({each.last_start_ns, each.last_start_ns - by->first_end_ns, kNoHighLimit});
        of.ends.push_back({each.first_end_ns, each.last_end_ns - by->first_end_ns - apart_ns,
                           each.first_end_ns - by->last_end_ns + apart_ns});
        ++of.with_ends;
        continue;
      }
      const bool from_root = waits_for_root(collective.kind);
      if (from_root && by->root_start_ns != Meeting::kNone64)
        of.order.push_back({each.first_end_ns, kNoLowLimit, each.first_end_ns - by->root_start_ns});
      if (from_root && each.root_start_ns != Meeting::kNone64)
        of.order.push_back({each.root_start_ns, each.root_start_ns - by->first_end_ns, kNoHighLimit});
      if (!from_root && each.root_end_ns != Meeting::kNone64)
        of.order.push_back({each.root_end_ns, kNoLowLimit, each.root_end_ns - by->last_start_ns});
      if (!from_root && by->root_end_ns != Meeting::kNone64)
        of.order.push_back({each.last_start_ns, each.last_start_ns - by->root_end_ns, kNoHighLimit});
    }
  }

  // True: the clock is known now, so others may be measured by it.
  bool fit(uint32_t clock) {
    const auto [by, of] = observations_[clock].most();
    if (of == nullptr) return false;
    tried_[clock] = true;
    ClockLimits limits;
    std::vector<ClockObservation> all = of->order;
    all.insert(all.end(), of->ends.begin(), of->ends.end());
    const bool use_ends = of->with_ends >= kFewestForEnds && fit_clock(all, limits) == ClockFit::Bounded;
    if (!use_ends && fit_clock(of->order, limits) != ClockFit::Bounded) return false;
    HostClock& found = clocks_[clock];
    found.basis = use_ends ? ClockBasis::Ends : ClockBasis::Order;
    found.collectives = of->collectives;
    found.from_ns = limits.first_ns, found.to_ns = limits.last_ns;
    choose(limits, use_ends, found);
    found.bound_ns += clocks_[by].bound_ns;
    found.drift_bound += clocks_[by].drift_bound;
    return true;
  }

  static void choose(const ClockLimits& limits, bool middle, HostClock& found) {
    const auto base = static_cast<double>(limits.base_ns);
    const auto error = [](double value, double low, double high) { return std::max(high - value, value - low); };
    const auto bound = [&](double first, double last) {
      return std::max(error(first, limits.first_low, limits.first_high),
                      error(last, limits.last_low, limits.last_high));
    };
    double first = (limits.first_low + limits.first_high) / 2, last = (limits.last_low + limits.last_high) / 2;
    if (!middle) {
      first = std::clamp(-base, limits.first_low, limits.first_high);
      last = std::clamp(-base, limits.last_low, limits.last_high);
    }
    const double same = (first + last) / 2, of_line = bound(first, last);
    if (bound(same, same) <= kNearlyAsCertain * of_line) first = last = same;
    if (bound(-base, -base) <= of_line + kNoDifferenceNs) first = last = -base;
    found.ahead_ns = first == last ? std::round(base + first) : base + first;
    found.drift = (last - first) / static_cast<double>(limits.last_ns - limits.first_ns);
    found.bound_ns = std::ceil(bound(first, last));
    found.drift_bound = error(found.drift, limits.drift_low, limits.drift_high);
  }

  // Observations of one clock, by the clock by which they were made.
  struct ByClock {
    std::map<uint32_t, Observations> of;
    Observations& by(uint32_t clock) { return of[clock]; }
    std::pair<uint32_t, const Observations*> most() const {
      const auto found = std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) {
        return a.second.collectives < b.second.collectives;
      });
      if (found == of.end()) return {kNone, nullptr};
      return {found->first, &found->second};
    }
  };

  const std::function<ClockedKernel(uint32_t)>& kernel_;
  std::vector<HostClock>& clocks_;
  std::vector<bool> tried_;
  std::vector<ByClock> observations_;
};

void move_times(Trace& trace) {
  const auto align = [&](ProcessId process, int64_t& time_ns) {
    time_ns = trace.clocks[trace.processes[index(process)].clock].aligned(time_ns);
  };
  each_time_of_rows(trace, AllRows(), align);
  each_time_of_logs(trace, align);
  trace.last_ns = 0;
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    Process& process = trace.processes[p];
    align(ProcessId{p}, process.last_ns);
    if (process.alive_ns != INT64_MIN) align(ProcessId{p}, process.alive_ns);
    if (process.ring) align(ProcessId{p}, process.horizon_ns);
    if (process.calls_under_way_ns != INT64_MAX) align(ProcessId{p}, process.calls_under_way_ns);
    trace.last_ns = std::max(trace.last_ns, process.last_ns);
  }
}

// The earliest time of the rows on the common clock.
int64_t earliest(Trace& trace) {
  int64_t first_ns = INT64_MAX;
  each_time_of_rows(trace, AllRows(), [&](ProcessId process, const int64_t& time_ns) {
    first_ns = std::min(first_ns, trace.clocks[trace.processes[index(process)].clock].aligned(time_ns));
  });
  return first_ns;
}

std::string time_text(double ns) {
  if (std::fabs(ns) < 1e3) return fmt::format("{:.0f}ns", ns);
  if (std::fabs(ns) < 1e6) return fmt::format("{:.1f}us", ns / 1e3);
  return fmt::format("{:.3f}ms", ns / 1e6);
}

bool is_measured(const HostClock& clock) { return clock.known() && clock.basis != ClockBasis::Reference; }

std::string line_of(const HostClock& clock) {
  if (clock.basis == ClockBasis::Unknown)
    return fmt::format("clock of {}: not known to agree with the others; its times are as recorded", clock.name);
  if (clock.basis == ClockBasis::Reference) return fmt::format("clock of {}: the reference", clock.name);
  std::string difference = "as recorded";
  if (clock.ahead_ns != 0 || clock.drift != 0)
    difference = fmt::format("differs by {}{}", clock.ahead_ns < 0 ? "-" : "+", time_text(std::fabs(clock.ahead_ns)));
  if (clock.drift != 0) difference += fmt::format(", drifts by {:+.1f} ppm", clock.drift * 1e6);
  return fmt::format("clock of {}: {}, to ±{} ({} collectives, {})", clock.name, difference, time_text(clock.bound_ns),
                     clock.collectives, clock.basis == ClockBasis::Ends ? "by their ends" : "by their order");
}

}  // namespace

uint32_t list_clocks(const std::vector<ClockOwner>& owners, std::vector<HostClock>& clocks,
                     std::vector<uint32_t>& clock_of) {
  std::map<std::string, uint32_t> of_host;
  uint32_t reference = 0;
  std::optional<uint32_t> lowest;
  for (const ClockOwner& owner : owners) {
    const auto next = static_cast<uint32_t>(clocks.size());
    const uint32_t clock = owner.host.empty() ? next : of_host.try_emplace(owner.host, next).first->second;
    clock_of.push_back(clock);
    if (clock == next)
      clocks.emplace_back().name = !owner.host.empty() ? owner.host
                                   : owner.rank        ? fmt::format("rank {}", *owner.rank)
                                                       : owner.source;
    if (owner.rank && (!lowest || *owner.rank < *lowest)) lowest = owner.rank, reference = clock;
  }
  return reference;
}

void estimate_clocks(const CollectiveMatches& matches, const std::function<ClockedKernel(uint32_t)>& kernel,
                     uint32_t reference, std::vector<HostClock>& clocks) {
  ClockEstimate(kernel, reference, clocks).run(matches);
}

std::string align_clocks(Trace& trace) {
  if (trace.processes.size() < 2) return "";
  std::vector<ClockOwner> owners;
  for (const Process& process : trace.processes) owners.push_back({process.host, process.rank, process.source});
  std::vector<uint32_t> clock_of;
  const uint32_t reference = list_clocks(owners, trace.clocks, clock_of);
  for (uint32_t p = 0; p < trace.processes.size(); ++p) trace.processes[p].clock = clock_of[p];
  if (trace.clocks.size() < 2) {
    trace.clocks.clear();
    for (Process& process : trace.processes) process.clock = kNone;
    return "";
  }
  const CollectiveMatches matches = match_collectives(collective_evidence(trace, CollectiveCalls(trace)));
  const auto kernel = [&trace](uint32_t row) {
    const GpuOperation& operation = trace.operations[row];
    const uint32_t clock = trace.processes[index(trace.process_of(operation.stream()))].clock;
    return ClockedKernel{clock, operation.start_ns, operation.end_ns};
  };
  estimate_clocks(matches, kernel, reference, trace.clocks);
  const auto differs = [](const HostClock& clock) { return clock.ahead_ns != 0 || clock.drift != 0; };
  const auto moved = std::count_if(trace.clocks.begin(), trace.clocks.end(), differs);
  static constexpr std::string_view kTexts[] = {"communicator and sequence number", "the n-th call of a communicator",
                                                "the n-th kernel of one name, stream and step"};
  for (size_t by = 0; by < kMatchedBy; ++by) {
    if (matches.of[by] == 0) continue;
    trace.clocks_from += fmt::format("{}{} by {}", trace.clocks_from.empty() ? "collectives matched: " : ", ",
                                     matches.of[by], kTexts[by]);
  }
  if (matches.ranks_left != 0)
    trace.clocks_from +=
        fmt::format("; {} ranks have other calls than the rest and are matched only up to there", matches.ranks_left);
  if (moved == 0) return "";
  const int64_t first_ns = earliest(trace);
  for (HostClock& clock : trace.clocks) clock.zero_ns = -first_ns;
  move_times(trace);
  trace.start_realtime_ns += static_cast<uint64_t>(first_ns);
  trace.start_monotonic_ns += static_cast<uint64_t>(first_ns);
  const auto least_known = std::max_element(trace.clocks.begin(), trace.clocks.end(),
                                            [](const auto& a, const auto& b) { return a.bound_ns < b.bound_ns; });
  return fmt::format("times of {} of {} clocks are put on that of {}, to ±{}; prof report collectives lists the clocks",
                     moved, trace.clocks.size(), trace.clocks[reference].name, time_text(least_known->bound_ns));
}

std::optional<int64_t> clock_bound_ns(const Trace& trace, ProcessId a, ProcessId b, int64_t time_ns) {
  const uint32_t of_a = trace.processes[index(a)].clock, of_b = trace.processes[index(b)].clock;
  if (of_a == of_b) return 0;
  const HostClock &first = trace.clocks[of_a], &second = trace.clocks[of_b];
  if (!first.known() || !second.known()) return std::nullopt;
  return static_cast<int64_t>(std::ceil(first.bound_at(time_ns) + second.bound_at(time_ns)));
}

std::vector<std::string> clock_lines(const Trace& trace, size_t most) {
  std::vector<std::string> lines;
  if (trace.clocks.empty()) return lines;
  std::vector<const HostClock*> worst_first;
  for (const HostClock& clock : trace.clocks) worst_first.push_back(&clock);
  if (worst_first.size() > most) {  // the unknown ones, then those with the largest bounds
    std::stable_sort(worst_first.begin(), worst_first.end(), [](const HostClock* a, const HostClock* b) {
      return a->known() != b->known() ? b->known() : a->bound_ns > b->bound_ns;
    });
  }
  if (!trace.clocks_from.empty()) lines.push_back(trace.clocks_from);
  if (std::none_of(trace.clocks.begin(), trace.clocks.end(), is_measured)) {
    lines.push_back(
        fmt::format("the clocks of the {} hosts are not known to agree: no collective shows it", trace.clocks.size()));
    return lines;
  }
  for (size_t i = 0; i < worst_first.size() && i < most; ++i) lines.push_back(line_of(*worst_first[i]));
  if (worst_first.size() > most)
    lines.push_back(fmt::format("{} more clocks, each to ±{} or better{}", worst_first.size() - most,
                                time_text(worst_first[most]->bound_ns),
                                most < kMostClockLines ? "; prof report collectives lists them" : ""));
  return lines;
}

void add_clock_notes(Table& table, const Trace& trace, size_t most) {
  for (std::string& line : clock_lines(trace, most)) table.notes.push_back(std::move(line));
}

}  // namespace prof::analyzer
