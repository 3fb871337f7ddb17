// Which host thread continued after another thread had finished? dependencies.h describes the evidence.
#include "analyzer/base/intervals.h"
#include "analyzer/dependencies/dependencies.h"
#include "analyzer/model/autograd_numbers.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// If two threads are active at the same time for more than 1/20 of the second one's time, they do not wait for each
// other.
constexpr int64_t kMostOverlap = 20;

// Backward thread -> the thread whose forward operators have most of its sequence numbers.
std::map<uint32_t, uint32_t> forward_threads(const Trace& trace) {
  const AutogradNumbers numbers(trace);
  std::map<uint32_t, std::unordered_map<int64_t, uint32_t>> forward;  // process -> sequence number -> thread
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    const AutogradNumber number = numbers.of(row);
    if (number.sequence < 0 || number.backward) continue;
    forward[index(trace.thread(range.thread).process)].emplace(number.sequence, index(range.thread));
  }
  std::map<uint32_t, std::map<uint32_t, uint64_t>> votes;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    const AutogradNumber number = numbers.of(row);
    if (number.sequence < 0 || !number.backward) continue;
    const auto& of_process = forward[index(trace.thread(range.thread).process)];
    const auto found = of_process.find(number.sequence);
    if (found != of_process.end() && found->second != index(range.thread)) ++votes[index(range.thread)][found->second];
  }
  std::map<uint32_t, uint32_t> of_thread;
  for (const auto& [thread, candidates] : votes) {
    const auto most = std::max_element(candidates.begin(), candidates.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    of_thread[thread] = most->first;
  }
  return of_thread;
}

// The times at which a thread was inside an operator (in logs: a range with an autograd number) or a CUDA call.
IntervalSet activity(const Trace& trace, const AutogradNumbers& numbers, const Thread& thread) {
  std::vector<Interval> spans;
  for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) {
    const Range& range = trace.ranges[row];
    if (range.kind == RangeKind::Operator || numbers.of(row).sequence >= 0)
      spans.push_back({range.begin_ns, range.end_ns});
  }
  for (uint32_t row = thread.host.first; row < thread.host.last; ++row)
    spans.push_back({trace.host[row].begin_ns, trace.host[row].end_ns});
  return IntervalSet(std::move(spans));
}

}  // namespace

std::vector<Handoff> find_handoffs(const Trace& trace) {
  std::vector<Handoff> handoffs;
  const std::map<uint32_t, uint32_t> pairs = forward_threads(trace);
  if (pairs.empty()) return handoffs;
  const AutogradNumbers numbers(trace);
  for (const auto& [backward, forward] : pairs) {
    const IntervalSet active[2] = {activity(trace, numbers, trace.threads[forward]),
                                   activity(trace, numbers, trace.threads[backward])};
    if (active[0].intersect(active[1]).length_ns() > active[1].length_ns() / kMostOverlap) continue;
    const ThreadId threads[2] = {ThreadId{forward}, ThreadId{backward}};
    // Visits the intervals of both threads by start. Where the thread changes and the first one has ended, the second
    // one waited.
    size_t next[2] = {0, 0};
    int last_owner = -1;
    int64_t last_end = 0;
    while (next[0] < active[0].parts().size() || next[1] < active[1].parts().size()) {
      const bool first = next[1] == active[1].parts().size() ||
                         (next[0] < active[0].parts().size() &&
                          active[0].parts()[next[0]].begin_ns <= active[1].parts()[next[1]].begin_ns);
      const int owner = first ? 0 : 1;
      const Interval& part = active[owner].parts()[next[owner]++];
      if (last_owner >= 0 && last_owner != owner && last_end <= part.begin_ns)
        handoffs.push_back({threads[last_owner], threads[owner], last_end, part.begin_ns});
      last_owner = owner;
      last_end = part.end_ns;
    }
  }
  std::sort(handoffs.begin(), handoffs.end(), [](const Handoff& a, const Handoff& b) { return a.from_ns < b.from_ns; });
  return handoffs;
}

}  // namespace prof::analyzer
