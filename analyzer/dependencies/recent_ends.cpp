// See recent_ends.h.
#include "analyzer/dependencies/recent_ends.h"

#include "analyzer/base/sorted_runs.h"

#include <algorithm>
#include <functional>

namespace prof::analyzer {

RecentEnds::RecentEnds(const Trace& trace, const GraphSources& sources) {
  size_t count = 0;
  for (const StreamNow& stream : sources.streams) count += stream.operations.size();
  Column<int64_t>& ends = operations_.times;
  ends.reserve(count);
  std::vector<size_t> bounds{0};
  for (const StreamNow& stream : sources.streams) {
    if (stream.operations.size() == 0) continue;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row)
      ends.push_back(sources.end_of(trace.operations[row]));
    // Nearly always in order: only operations that overlap within a stream end out of order.
    int64_t* const first = ends.data() + bounds.back();
    int64_t* const last = ends.data() + ends.size();
    if (!std::is_sorted(first, last)) std::sort(first, last);
    bounds.push_back(ends.size());
  }
  merge_sorted_runs(ends, std::move(bounds));

  for (const ThreadNow& thread : sources.threads) {
    if (thread.calls.size() != 0) ++threads_;
  }
  for (const Thread& thread : trace.threads) {
    if (thread.host.size() != 0) continue;
    const Rows rows = sources.ranges_of(thread);
    for (uint32_t row = rows.first; row < rows.last; ++row) {
      const Range& range = trace.ranges[row];
      if (range.kind != RangeKind::Overhead) ranges_.times.push_back(sources.inside(range.end_ns));
    }
  }
  std::sort(ranges_.times.data(), ranges_.times.data() + ranges_.times.size());
}

void RecentEnds::Ends::go_to(int64_t now_ns) {
  while (passed < times.size() && times[passed] <= now_ns) ++passed;
  while (passed != 0 && times[passed - 1] > now_ns) --passed;
}

bool RecentEnds::Ends::ended(int64_t after_ns, int64_t now_ns) {
  go_to(now_ns);
  return passed != 0 && times[passed - 1] > after_ns;
}

bool RecentEnds::operation_ended(int64_t after_ns, int64_t now_ns) { return operations_.ended(after_ns, now_ns); }

bool RecentEnds::operation_ends(int64_t now_ns, int64_t until_ns) {
  operations_.go_to(now_ns);
  return operations_.passed < operations_.times.size() && operations_.times[operations_.passed] <= until_ns;
}

void RecentEnds::add_call(int64_t end_ns) {
  if (threads_ < 2) return;
  running_.push_back(end_ns);
  std::push_heap(running_.begin(), running_.end(), std::greater<>());
}

bool RecentEnds::host_ended(int64_t after_ns, int64_t now_ns) {
  while (!running_.empty() && running_.front() <= now_ns) {
    latest_ns_ = running_.front();
    std::pop_heap(running_.begin(), running_.end(), std::greater<>());
    running_.pop_back();
  }
  return latest_ns_ > after_ns || ranges_.ended(after_ns, now_ns);
}

}  // namespace prof::analyzer
