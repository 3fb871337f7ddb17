// See recent_ends.h.
#include "analyzer/dependencies/recent_ends.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace prof::analyzer {

namespace {

// By process: the first process that shares a GPU with it, directly or through others.
std::vector<uint32_t> groups_by_gpu(const Trace& trace) {
  std::vector<uint32_t> group(trace.processes.size());
  std::iota(group.begin(), group.end(), 0u);
  const auto root = [&](uint32_t process) {
    while (group[process] != process) process = group[process] = group[group[process]];
    return process;
  };
  std::map<uint32_t, uint32_t> first_of_gpu;
  for (const Device& device : trace.devices) {
    const auto [first, added] = first_of_gpu.emplace(device.physical, index(device.process));
    if (added) continue;
    const uint32_t a = root(first->second), b = root(index(device.process));
    group[std::max(a, b)] = std::min(a, b);
  }
  for (uint32_t process = 0; process < group.size(); ++process) group[process] = root(process);
  return group;
}

}  // namespace

RecentEnds::RecentEnds(const Trace& trace, const GraphSources& sources)
    : trace_(trace), group_of_process_(groups_by_gpu(trace)), groups_(trace.processes.size()) {
  std::vector<std::vector<const StreamNow*>> streams(groups_.size());
  for (size_t s = 0; s < sources.streams.size(); ++s) {
    // The device of a stream may be unknown if nothing ran on it.
    if (sources.streams[s].operations.size() != 0)
      streams[group_of(StreamId{static_cast<uint32_t>(s)})].push_back(&sources.streams[s]);
  }
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    Column<int64_t>& ends = groups_[g].ends;
    size_t count = 0;
    for (const StreamNow* stream : streams[g]) count += stream->operations.size();
    ends.reserve(count);
    for (const StreamNow* stream : streams[g]) {
      const size_t from = ends.size();
      for (uint32_t row = stream->operations.first; row < stream->operations.last; ++row)
        ends.push_back(sources.end_of(trace.operations[row]));
      // Nearly always in order: only operations that overlap within a stream end out of order.
      int64_t* const first = ends.data() + from;
      int64_t* const last = ends.data() + ends.size();
      if (!std::is_sorted(first, last)) std::sort(first, last);
      if (from != 0 && *(first - 1) > *first) std::inplace_merge(ends.data(), first, last);
    }
  }
  for (const ThreadNow& thread : sources.threads) {
    if (thread.calls.size() != 0) ++groups_[group_of(trace.threads[thread.thread].process)].threads;
  }
}

RecentEnds::Group& RecentEnds::at(uint32_t group, int64_t now_ns) {
  Group& of = groups_[group];
  while (of.passed < of.ends.size() && of.ends[of.passed] <= now_ns) ++of.passed;
  while (of.passed != 0 && of.ends[of.passed - 1] > now_ns) --of.passed;
  return of;
}

bool RecentEnds::operation_ended(uint32_t group, int64_t after_ns, int64_t now_ns) {
  const Group& of = at(group, now_ns);
  return of.passed != 0 && of.ends[of.passed - 1] > after_ns;
}

bool RecentEnds::operation_ends(uint32_t group, int64_t now_ns, int64_t until_ns) {
  const Group& of = at(group, now_ns);
  return of.passed < of.ends.size() && of.ends[of.passed] <= until_ns;
}

void RecentEnds::add_call(uint32_t group, int64_t end_ns) {
  Group& of = groups_[group];
  if (of.threads < 2) return;
  of.running.push_back(end_ns);
  std::push_heap(of.running.begin(), of.running.end(), std::greater<>());
}

bool RecentEnds::call_ended(uint32_t group, int64_t after_ns, int64_t now_ns) {
  Group& of = groups_[group];
  while (!of.running.empty() && of.running.front() <= now_ns) {
    of.latest_ns = of.running.front();
    std::pop_heap(of.running.begin(), of.running.end(), std::greater<>());
    of.running.pop_back();
  }
  return of.latest_ns > after_ns;
}

}  // namespace prof::analyzer
