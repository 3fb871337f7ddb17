#include "analyzer/dependencies/graph_sources.h"

#include <utility>

namespace prof::analyzer {

namespace {

const Wait* first_wait(const std::vector<Wait>& waits, uint32_t row) {
  return waits.data() + (std::lower_bound(waits.begin(), waits.end(), row,
                                          [](const Wait& wait, uint32_t r) { return wait.waiter < r; }) -
                         waits.begin());
}

}  // namespace

GraphSources::GraphSources(const Trace& trace, const Dependencies& waits, int64_t begin_ns, int64_t end_ns)
    : trace_(trace), waits_(waits), begin_ns_(begin_ns), end_ns_(end_ns) {
  std::vector<std::vector<Moment>> moments(trace_.threads.size());
  for (uint32_t h = 0; h < waits_.handoffs.size(); ++h) {
    const Handoff& handoff = waits_.handoffs[h];
    moments[index(handoff.from)].push_back({sane(handoff.from_ns), h, 0});
    moments[index(handoff.to)].push_back({sane(handoff.to_ns), h, 1});
  }
  for (uint32_t t = 0; t < trace_.threads.size(); ++t) open_thread(t, std::move(moments[t]));
  for (uint32_t s = 0; s < trace_.streams.size(); ++s) open_stream(s);
}

// Rows whose [begin, end) overlaps the window. At most `kReach` rows before the first row that begins in the window are
// checked.
template <class Begin, class End> Rows GraphSources::in_window(Rows rows, Begin begin, End end) const {
  const auto first_from = [&](int64_t time_ns) {
    uint32_t low = rows.first, high = rows.last;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (begin(middle) < time_ns) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  constexpr uint32_t kReach = 64;
  Rows found{first_from(begin_ns_), first_from(end_ns_)};
  for (uint32_t row = found.first; row > rows.first && found.first - row < kReach;) {
    --row;
    if (end(row) > begin_ns_) found.first = row;
  }
  return found;
}

Rows GraphSources::ranges_of(const Thread& thread) const {
  return in_window(
      thread.ranges, [&](uint32_t row) { return sane(trace_.ranges[row].begin_ns); },
      [&](uint32_t row) { return sane(trace_.ranges[row].end_ns); });
}

void GraphSources::open_thread(uint32_t t, std::vector<Moment> moments) {
  const Thread& thread = trace_.threads[t];
  ThreadNow now;
  now.thread = t;
  now.calls = in_window(
      thread.host, [&](uint32_t row) { return sane(trace_.host[row].begin_ns); },
      [&](uint32_t row) { return sane(trace_.host[row].end_ns); });
  int64_t first_ns = sane(waits_.ranges_of(t).begin_ns);
  const int64_t last_ns = sane(waits_.ranges_of(t).end_ns);
  if (thread.host.size() != 0) first_ns = std::min(first_ns, sane(trace_.host[thread.host.first].begin_ns));
  now.known = first_ns < begin_ns_;
  now.moments = std::move(moments);
  if (first_ns < last_ns) {
    now.moments.push_back({first_ns, kNone, 0});
    // Before a call, this moment would only split the host time before the call in two.
    const bool calls_follow = now.calls.size() != 0 && sane(trace_.host[now.calls.last - 1].begin_ns) >= last_ns;
    if (!calls_follow) now.moments.push_back({last_ns, kNone, 0});
  }
  std::erase_if(now.moments, [&](const Moment& m) { return m.time_ns < begin_ns_ || m.time_ns > end_ns_; });
  std::sort(now.moments.begin(), now.moments.end(), [](const Moment& x, const Moment& y) {
    return x.time_ns != y.time_ns ? x.time_ns > y.time_ns : x.receives < y.receives;
  });
  now.wait = first_wait(waits_.of_calls, now.calls.first);
  threads.push_back(std::move(now));
}

void GraphSources::open_stream(uint32_t s) {
  StreamNow now;
  now.operations = in_window(
      trace_.streams[s].operations, [&](uint32_t row) { return sane(trace_.operations[row].start_ns); },
      [&](uint32_t row) { return sane(trace_.operations[row].end_ns); });
  now.wait = first_wait(waits_.of_operations, now.operations.first);
  streams.push_back(std::move(now));
}

}  // namespace prof::analyzer
