#include "analyzer/analysis/range_projection.h"

#include "analyzer/analysis/graph_launches.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/saturated.h"

#include <algorithm>
#include <map>

namespace prof::analyzer {

namespace {

// Time covered by the operations [i, j) in launch order, queried at increasing j. Each moment has the color of the last
// operation that covers it. Colors increase with launch order, so [i, j) covers exactly the moments whose color is at
// least that of i.
class Painted {
 public:
  void clear(size_t colors) {
    sums_.assign(colors + 1, 0);
    painted_.clear();
    whole_ = 0;
  }

  // No later put() begins before this moment. Intervals that ended by then keep their colors and are removed.
  void settle(int64_t time_ns) {
    while (!painted_.empty() && painted_.begin()->second.end_ns <= time_ns) painted_.erase(painted_.begin());
  }

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
    painted_.emplace_hint(at, begin_ns, Stretch{end_ns, color});
    add(color, length(begin_ns, end_ns));
  }

  // Total length with at least that color.
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
  // Modulo 2^64, so that times of a damaged trace cause no overflow; negative if the second moment is earlier.
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

// The best value of the operations [i, j), queried at increasing j. Keeps candidates that no later value beats.
template <class Better> class Best {
 public:
  void clear() { kept_.clear(); }
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

// Selected operations with a call, in order of their calls; for each call the number of operations launched before it.
struct LaunchOrder {
  Column<uint32_t> rows;
  Column<uint32_t> before_call;

  explicit LaunchOrder(const AnalysisInput& input) {
    const Trace& trace = input.trace;
    std::vector<bool> selected;
    for (const Stream& stream : trace.streams) selected.push_back(input.selection.has_stream(trace, stream));
    const auto call = [&](uint32_t row) {
      const GpuOperation& operation = trace.operations[row];
      const bool wanted = selected[operation.stream_index] && input.selection.nvtx.has_operation(row) &&
                          input.selection.in_window(operation.start_ns, operation.end_ns);
      return wanted ? call_of(trace, input.views, operation, input.options.captured) : kNone;
    };
    // While rows are placed, entry c + 1 is the place of the next operation of call c. Afterwards it is the first place
    // of call c + 1.
    before_call.resize(trace.host.size() + 2);
    for (uint32_t row = 0; row < trace.operations.size(); ++row) {
      if (const uint32_t by = call(row); by != kNone) ++before_call[by + size_t{2}];
    }
    for (size_t i = 1; i < before_call.size(); ++i) before_call[i] += before_call[i - 1];
    rows.resize(before_call.back());
    for (uint32_t row = 0; row < trace.operations.size(); ++row) {
      if (const uint32_t by = call(row); by != kNone) rows[before_call[by + size_t{1}]++] = row;
    }
  }
};

struct Query {
  uint32_t first, last;  // operations in launch order
  uint32_t answer;
};

// Finds the first call of a thread at or after a moment. The search begins at the previous result, because ranges
// mostly come in order of time.
class CallFinder {
 public:
  explicit CallFinder(const Trace& trace) : trace_(trace) {}

  uint32_t first_from(const Rows& calls, int64_t time_ns) {
    const auto is_before = [&](uint32_t call) { return trace_.host[call].begin_ns < time_ns; };
    uint32_t low = calls.first, high = calls.last;  // calls below low begin before, calls from high on do not
    uint32_t step = 1;
    if (const uint32_t near = std::clamp(near_, low, high); near < high && is_before(near)) {
      for (low = near + 1; high - low > step && is_before(low + step); step *= 2) low += step + 1;
      if (high - low > step) high = low + step;
    } else {
      for (high = near; high - low > step && !is_before(high - step); step *= 2) high -= step;
      if (high - low > step) low = high - step + 1;
    }
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (is_before(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return near_ = low;
  }

 private:
  const Trace& trace_;
  uint32_t near_ = 0;
};

// Queries of the ranges that launched operations, by first operation: ranges that share operations are adjacent.
std::vector<Query> queries_of(const Trace& trace, const LaunchOrder& order, const std::vector<uint32_t>& ranges) {
  std::vector<Query> queries;
  CallFinder calls(trace);
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const Range& range = trace.ranges[ranges[i]];
    const Rows& of_thread = trace.thread(range.thread).host;
    const uint32_t first = calls.first_from(of_thread, range.begin_ns);
    const uint32_t last = calls.first_from(of_thread, std::max(range.begin_ns, range.end_ns));
    const Query query{order.before_call[first], order.before_call[last], i};
    if (query.first < query.last) queries.push_back(query);
  }
  const auto by_first = [](const Query& a, const Query& b) { return a.first < b.first; };
  if (!std::is_sorted(queries.begin(), queries.end(), by_first)) std::sort(queries.begin(), queries.end(), by_first);
  return queries;
}

// Answers queries group by group. Its memory is proportional to one group.
class Projector {
 public:
  Projector(const Trace& trace, const LaunchOrder& order, std::vector<Projection>& to)
      : trace_(trace), order_(order), to_(to) {}

  // [query, end) share operations with each other, directly or through others, and are sorted by first operation.
  void run(const Query* query, const Query* end) {
    const uint32_t base = query->first;
    firsts_.clear();
    by_last_.assign(query, end);
    for (const Query* each = query; each != end; ++each) {
      if (firsts_.empty() || firsts_.back() != each->first) firsts_.push_back(each->first);
    }
    std::sort(by_last_.begin(), by_last_.end(), [](const Query& a, const Query& b) { return a.last < b.last; });
    paint_.clear(firsts_.size());
    first_.clear();
    last_.clear();
    sums_.assign(1, 0);
    find_earliest(base, by_last_.back().last);
    uint32_t done = base, color = 0;
    for (const Query& each : by_last_) {
      for (; done < each.last; ++done) {
        while (color + 1 < firsts_.size() && firsts_[color + 1] <= done) ++color;
        put(done, done - base, color);
      }
      const auto own =
          static_cast<uint32_t>(std::lower_bound(firsts_.begin(), firsts_.end(), each.first) - firsts_.begin());
      to_[each.answer] = {first_.from(each.first), last_.from(each.first), paint_.covered_from(own),
                          time_between(sums_[each.first - base], sums_[each.last - base]), each.last - each.first};
    }
  }

 private:
  const GpuOperation& operation(uint32_t at) const { return trace_.operations[order_.rows[at]]; }

  void find_earliest(uint32_t begin, uint32_t end) {
    earliest_.resize(end - begin);
    int64_t earliest = INT64_MAX;
    for (uint32_t at = end; at-- > begin;)
      earliest_[at - begin] = earliest = std::min(earliest, operation(at).start_ns);
  }

  void put(uint32_t at, uint32_t nth, uint32_t color) {
    const GpuOperation& row = operation(at);
    const int64_t end_ns = std::max(row.start_ns, row.end_ns);
    paint_.settle(earliest_[nth]);
    paint_.put(row.start_ns, end_ns, color);
    first_.push(at, row.start_ns);
    last_.push(at, end_ns);
    sums_.push_back(add_saturated(sums_.back(), time_between(row.start_ns, end_ns)));
  }

  const Trace& trace_;
  const LaunchOrder& order_;
  std::vector<Projection>& to_;
  Painted paint_;
  Best<std::less<int64_t>> first_;
  Best<std::greater<int64_t>> last_;
  std::vector<int64_t> sums_, earliest_;
  std::vector<uint32_t> firsts_;  // first operations of queries, without duplicates: the colors
  std::vector<Query> by_last_;
};

}  // namespace

std::vector<Projection> project_ranges(const AnalysisInput& input, const std::vector<uint32_t>& ranges) {
  std::vector<Projection> projections(ranges.size());
  if (ranges.empty()) return projections;
  const LaunchOrder order(input);
  const std::vector<Query> queries = queries_of(input.trace, order, ranges);
  // Groups share no operation with each other. A task is some thousand queries, in whole groups.
  constexpr size_t kPerTask = 4096;
  std::vector<size_t> groups, tasks;
  uint32_t until = 0;
  for (size_t i = 0; i < queries.size(); ++i) {
    if (queries[i].first >= until) {
      if (tasks.empty() || i - groups[tasks.back()] >= kPerTask) tasks.push_back(groups.size());
      groups.push_back(i);
    }
    until = std::max(until, queries[i].last);
  }
  tasks.push_back(groups.size());
  groups.push_back(queries.size());
  parallel_for(tasks.size() - 1, [&](size_t task) {
    Projector projector(input.trace, order, projections);
    for (size_t group = tasks[task]; group < tasks[task + 1]; ++group)
      projector.run(queries.data() + groups[group], queries.data() + groups[group + 1]);
  });
  return projections;
}

}  // namespace prof::analyzer
