#include "analyzer/analysis/idle/thread_waits.h"

#include "analyzer/analysis/idle/host_cursor.h"
#include "analyzer/analysis/idle/wait_names.h"
#include "analyzer/dependencies/dependencies.h"
#include "analyzer/model/call_class.h"

#include <limits>
#include <map>
#include <utility>

namespace prof::analyzer {

namespace {

// More threads of a process are not looked at.
constexpr size_t kThreadsLookedAt = 64;

}  // namespace

ThreadWaits::ThreadWaits(const Trace& trace) : trace_(trace) {
  add_handoffs();
  add_named();
}

void ThreadWaits::add_handoffs() {
  const std::vector<Handoff> handoffs = find_handoffs(trace_);
  if (handoffs.empty()) return;
  waits_.resize(trace_.threads.size());
  std::map<std::pair<uint32_t, uint32_t>, int64_t> handed;  // (from, to) -> since when `from` waits for `to`
  for (const Handoff& handoff : handoffs) {
    const uint32_t from = index(handoff.from), to = index(handoff.to);
    const auto since = handed.find({to, from});
    waits_[to].push_back(
        {since == handed.end() ? std::numeric_limits<int64_t>::min() : since->second, handoff.to_ns, from});
    handed[{from, to}] = handoff.from_ns;
  }
  for (std::vector<Wait>& waits : waits_) {
    std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.end_ns < b.end_ns; });
    for (size_t i = 1; i < waits.size(); ++i) waits[i].begin_ns = std::max(waits[i].begin_ns, waits[i - 1].end_ns);
  }
}

void ThreadWaits::add_named() {
  // A text may be the label of ranges of several kinds.
  std::vector<uint8_t> known(trace_.labels.size());  // 1 << 2 * kind group: known, 2 << …: a wait
  std::vector<bool> is_wait(trace_.ranges.size());
  bool any = false;
  for (uint32_t row = 0; row < trace_.ranges.size(); ++row) {
    const Range& range = trace_.ranges[row];
    if (range.kind == RangeKind::Overhead || range.end_ns <= range.begin_ns) continue;
    uint8_t& label = known[index(range.label)];
    const int shift = range.kind == RangeKind::Python ? 2 : 0;
    if ((label >> shift & 1) == 0) {
      const bool wait = names_wait(range.kind, trace_.text(trace_.labels[index(range.label)].text));
      label = static_cast<uint8_t>(label | (wait ? 3 : 1) << shift);
    }
    if ((label >> shift & 2) != 0) any = is_wait[row] = true;
  }
  if (!any) return;
  for (const StringId name : trace_.apis) {
    const std::string_view api = trace_.text(name);
    waiting_calls_.push_back(call_traits(api).role == CallRole::Synchronize ||
                             api.find("Query") != std::string_view::npos);
  }
  waits_.resize(trace_.threads.size());
  for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
    const Rows rows = trace_.threads[thread].ranges;
    if (std::find(is_wait.begin() + rows.first, is_wait.begin() + rows.last, true) != is_wait.begin() + rows.last)
      add_named(thread, is_wait);
  }
}

// Whether the thread of a range made a call inside it that a wait does not make.
bool ThreadWaits::makes_calls(uint32_t range) const {
  const Range& inside = trace_.ranges[range];
  const Rows rows = trace_.thread(inside.thread).host;
  const auto first = trace_.host.begin() + rows.first, last = trace_.host.begin() + rows.last;
  auto call =
      std::partition_point(first, last, [&](const HostEvent& event) { return event.begin_ns < inside.begin_ns; });
  for (; call != last && call->begin_ns < inside.end_ns; ++call) {
    if (call->is_launch() || call->api() >= waiting_calls_.size() || !waiting_calls_[call->api()]) return true;
  }
  return false;
}

// The times in which the innermost range is a wait and the thread is in no call.
void ThreadWaits::add_named(uint32_t thread, const std::vector<bool>& is_wait) {
  std::vector<Wait> named;
  uint32_t last_range = kNone;
  bool last_waits = false;
  HostCursor cursor(trace_, ThreadId{thread});
  const Rows rows = trace_.threads[thread].ranges;
  int64_t end_ns = std::numeric_limits<int64_t>::min();
  for (uint32_t row = rows.first; row < rows.last; ++row) end_ns = std::max(end_ns, trace_.ranges[row].end_ns);
  cursor.walk(trace_.ranges[rows.first].begin_ns, end_ns, [&](int64_t from, int64_t to, uint32_t call, uint32_t range) {
    if (call != kNone || range == kNone || !is_wait[range]) return;
    if (std::exchange(last_range, range) != range) last_waits = !makes_calls(range);
    if (!last_waits) return;
    if (!named.empty() && named.back().end_ns == from) {
      named.back().end_ns = to;
    } else {
      named.push_back({from, to, kNone, true, false});
    }
  });
  // Autograd's numbers say more.
  std::vector<Wait>& all = waits_[thread];
  if (all.empty()) {
    all = std::move(named);
    return;
  }
  std::vector<Wait> merged;
  size_t next = 0;
  for (Wait wait : named) {
    while (next < all.size() && all[next].end_ns <= wait.begin_ns) merged.push_back(all[next++]);
    for (size_t i = next; i < all.size() && all[i].begin_ns < wait.end_ns; ++i) {
      if (wait.begin_ns < all[i].begin_ns) {
        Wait part = wait;
        part.end_ns = all[i].begin_ns;
        merged.push_back(part);
      }
      wait.begin_ns = std::max(wait.begin_ns, all[i].end_ns);
      if (all[i].end_ns <= wait.end_ns) merged.push_back(all[i]), next = i + 1;
    }
    if (wait.begin_ns < wait.end_ns) merged.push_back(wait);
  }
  merged.insert(merged.end(), all.begin() + static_cast<ptrdiff_t>(next), all.end());
  std::stable_sort(merged.begin(), merged.end(), [](const Wait& a, const Wait& b) { return a.end_ns < b.end_ns; });
  all = std::move(merged);
}

const std::vector<Interval>& ThreadWaits::activity(uint32_t thread) {
  if (activity_.empty()) {
    activity_.resize(trace_.threads.size());
    has_activity_.resize(trace_.threads.size());
  }
  std::vector<Interval>& parts = activity_[thread];
  if (has_activity_[thread]) return parts;
  has_activity_[thread] = true;
  const Thread& of = trace_.threads[thread];
  Interval all{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (uint32_t row = of.ranges.first; row < of.ranges.last; ++row) {
    all.begin_ns = std::min(all.begin_ns, trace_.ranges[row].begin_ns);
    all.end_ns = std::max(all.end_ns, trace_.ranges[row].end_ns);
  }
  for (uint32_t row = of.host.first; row < of.host.last; ++row) {
    all.begin_ns = std::min(all.begin_ns, trace_.host[row].begin_ns);
    all.end_ns = std::max(all.end_ns, trace_.host[row].end_ns);
  }
  if (all.end_ns <= all.begin_ns) return parts;
  const auto add = [&](int64_t from, int64_t to) {
    if (!parts.empty() && parts.back().end_ns == from) {
      parts.back().end_ns = to;
    } else {
      parts.push_back({from, to});
    }
  };
  const std::vector<Wait>& waits = waits_[thread];
  size_t next = 0;
  HostCursor(trace_, ThreadId{thread})
      .walk(all.begin_ns, all.end_ns, [&](int64_t from, int64_t to, uint32_t call, uint32_t range) {
        if (call != kNone) return add(from, to);
        if (range == kNone || trace_.ranges[range].kind == RangeKind::Overhead) return;
        while (next < waits.size() && waits[next].end_ns <= from) ++next;
        for (size_t i = next; i < waits.size() && waits[i].begin_ns < to; ++i) {
          if (from < waits[i].begin_ns) add(from, waits[i].begin_ns);
          from = std::max(from, waits[i].end_ns);
        }
        if (from < to) add(from, to);
      });
  return parts;
}

// The thread whose activity ended closest to the end of the wait.
void ThreadWaits::resolve(uint32_t thread, Wait& wait) {
  wait.resolved = true;
  const ProcessId process = trace_.threads[thread].process;
  int64_t nearest_ns = std::numeric_limits<int64_t>::max();
  size_t looked_at = 0;
  for (uint32_t other = 0; other < trace_.threads.size() && looked_at < kThreadsLookedAt; ++other) {
    if (other == thread || trace_.threads[other].process != process) continue;
    const std::vector<Interval>& parts = activity(other);
    if (parts.empty()) continue;
    ++looked_at;
    const auto after = std::partition_point(parts.begin(), parts.end(),
                                            [&](const Interval& part) { return part.begin_ns < wait.end_ns; });
    if (after == parts.begin() || after[-1].end_ns <= wait.begin_ns) continue;
    const Interval& last = after[-1];
    const auto first =
        std::partition_point(parts.begin(), after, [&](const Interval& part) { return part.end_ns <= wait.begin_ns; });
    const int64_t active_ns = std::min(last.end_ns, wait.end_ns) - std::max(first->begin_ns, wait.begin_ns);
    const int64_t apart_ns = std::max(last.end_ns, wait.end_ns) - std::min(last.end_ns, wait.end_ns);
    // A thread that goes on was not waited for. It may end its range a little after it woke the waiting thread.
    constexpr int64_t kShareOfActive = 8;
    if (last.end_ns > wait.end_ns && apart_ns > active_ns / kShareOfActive) continue;
    if (apart_ns > active_ns || apart_ns >= nearest_ns) continue;
    nearest_ns = apart_ns;
    wait.other = other;
  }
}

bool ThreadWaits::handed_over(uint32_t from, uint32_t to, int64_t end_ns, int64_t launched_ns) const {
  const auto calls_of = [&](uint32_t thread) {
    const Rows rows = trace_.threads[thread].host;
    return std::pair(trace_.host.begin() + rows.first, trace_.host.begin() + rows.last);
  };
  const auto begins_before = [](int64_t time_ns) {
    return [time_ns](const HostEvent& event) { return event.begin_ns < time_ns; };
  };
  const auto [first, last] = calls_of(from);
  const auto next = std::partition_point(first, last, begins_before(end_ns));
  if (next == first || (next != last && next->begin_ns < launched_ns)) return false;
  const int64_t stopped_ns = next[-1].end_ns;
  if (stopped_ns > end_ns) return false;
  // Its calls since the last one of the thread that waited.
  const auto [own_first, own_last] = calls_of(to);
  const auto own_next = std::partition_point(own_first, own_last, begins_before(end_ns));
  const int64_t since_ns = own_next == own_first ? std::numeric_limits<int64_t>::min() : own_next[-1].end_ns;
  const auto began = std::partition_point(first, next, begins_before(since_ns));
  return began != next && end_ns - stopped_ns <= stopped_ns - began->begin_ns;
}

}  // namespace prof::analyzer
