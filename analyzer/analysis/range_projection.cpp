#include "analyzer/analysis/range_projection.h"

#include <algorithm>
#include <map>

namespace prof::analyzer {

namespace {

// Time covered by the operations [i, j) in launch order, asked for at growing j: each moment has the color of the last
// operation that covers it, and what is covered by [i, j) has a color of at least i.
class Painted {
 public:
  explicit Painted(size_t operations) : sums_(operations + 1) {}

  void put(int64_t begin_ns, int64_t end_ns, uint32_t color) {
    if (begin_ns >= end_ns) return;
    auto at = painted_.lower_bound(begin_ns);
    if (at != painted_.begin()) {
      const auto before = std::prev(at);
      const Stretch old = before->second;
      if (old.end_ns > begin_ns) {
        before->second.end_ns = begin_ns;
        add(old.color, length(std::min(old.end_ns, end_ns), begin_ns));
        if (old.end_ns > end_ns) painted_[end_ns] = old;
      }
    }
    while (at != painted_.end() && at->first < end_ns) {
      const Stretch old = at->second;
      const int64_t from_ns = at->first;
      at = painted_.erase(at);
      add(old.color, length(std::min(old.end_ns, end_ns), from_ns));
      if (old.end_ns > end_ns) painted_[end_ns] = old;
    }
    painted_[begin_ns] = {end_ns, color};
    add(color, length(begin_ns, end_ns));
  }

  // Length of what has a color of at least that.
  int64_t covered_from(uint32_t color) const {
    uint64_t below = 0;
    for (size_t i = color; i > 0; i -= i & (~i + 1)) below += sums_[i];
    return static_cast<int64_t>(whole_ - below);
  }

 private:
  struct Stretch {
    int64_t end_ns;
    uint32_t color;
  };
  // Modulo 2^64, so that times of a damaged trace do no harm; negative where the second moment is earlier.
  static uint64_t length(int64_t from_ns, int64_t to_ns) {
    return static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
  }
  void add(uint32_t color, uint64_t ns) {
    whole_ += ns;
    for (size_t i = size_t{color} + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += ns;
  }
  std::vector<uint64_t> sums_;  // Fenwick tree over colors
  std::map<int64_t, Stretch> painted_;
  uint64_t whole_ = 0;
};

// The best value of the operations [i, j), asked for at growing j: candidates nothing later beats.
template <class Better> class Best {
 public:
  void push(uint32_t at, int64_t value) {
    while (!kept_.empty() && !Better()(kept_.back().value, value)) kept_.pop_back();
    kept_.push_back({at, value});
  }
  int64_t from(uint32_t i) const {
    return std::partition_point(kept_.begin(), kept_.end(), [i](const Entry& e) { return e.at < i; })->value;
  }

 private:
  struct Entry {
    uint32_t at;
    int64_t value;
  };
  std::vector<Entry> kept_;
};

struct Query {
  uint32_t first, last;  // operations in launch order
  uint32_t answer;
};

// Selected operations with a launch, in the order of their launches.
std::vector<uint32_t> in_launch_order(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    const GpuOperation& operation = trace.operations[row];
    if (operation.linked() && input.selection.has_stream(trace, trace.stream(operation.stream())) &&
        input.selection.in_window(operation.start_ns, operation.end_ns))
      rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t x = trace.operations[a].launch, y = trace.operations[b].launch;
    return x != y ? x < y : a < b;
  });
  return rows;
}

Query query_of(const Trace& trace, const std::vector<uint32_t>& operations, const Range& range, uint32_t answer) {
  const Rows calls = trace.thread(range.thread).host;
  const auto call_at = [&](int64_t time_ns) {
    const HostEvent* const first = trace.host.data() + calls.first;
    const HostEvent* const last = trace.host.data() + calls.last;
    return static_cast<uint32_t>(
        std::partition_point(first, last, [&](const HostEvent& call) { return call.begin_ns < time_ns; }) -
        trace.host.data());
  };
  const auto operation_at = [&](uint32_t call) {
    return static_cast<uint32_t>(
        std::partition_point(operations.begin(), operations.end(),
                             [&](uint32_t row) { return trace.operations[row].launch < call; }) -
        operations.begin());
  };
  return {operation_at(call_at(range.begin_ns)), operation_at(call_at(std::max(range.begin_ns, range.end_ns))), answer};
}

}  // namespace

std::vector<Projection> project_ranges(const AnalysisInput& input, const std::vector<uint32_t>& ranges) {
  const Trace& trace = input.trace;
  std::vector<Projection> projections(ranges.size());
  if (ranges.empty()) return projections;
  const std::vector<uint32_t> operations = in_launch_order(input);
  std::vector<Query> queries;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const Query query = query_of(trace, operations, trace.ranges[ranges[i]], i);
    if (query.first < query.last) queries.push_back(query);
  }
  std::sort(queries.begin(), queries.end(), [](const Query& a, const Query& b) { return a.last < b.last; });
  Painted paint(operations.size());
  Best<std::less<int64_t>> first;
  Best<std::greater<int64_t>> last;
  std::vector<int64_t> sums{0};
  uint32_t done = 0;
  for (const Query& query : queries) {
    for (; done < query.last; ++done) {
      const GpuOperation& operation = trace.operations[operations[done]];
      const int64_t end_ns = std::max(operation.start_ns, operation.end_ns);
      paint.put(operation.start_ns, end_ns, done);
      first.push(done, operation.start_ns);
      last.push(done, end_ns);
      sums.push_back(add_times(sums.back(), time_between(operation.start_ns, end_ns)));
    }
    projections[query.answer] = {first.from(query.first), last.from(query.first), paint.covered_from(query.first),
                                 time_between(sums[query.first], sums[query.last]), query.last - query.first};
  }
  return projections;
}

}  // namespace prof::analyzer
