// The interval engine: sorted, disjoint, half-open intervals [begin, end) with prefix sums. All unions, intersections,
// differences and overlaps of the analyses are computed here. Times in ns. Empty and reversed intervals have no length
// and are not stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

struct Interval {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t length_ns() const { return end_ns - begin_ns; }
  bool operator==(const Interval&) const = default;
};

class IntervalSet {
 public:
  IntervalSet() = default;
  // The intervals may be in any order and may overlap; touching ones are joined. O(n log n), O(n) if sorted by start.
  explicit IntervalSet(std::vector<Interval> intervals) : parts_(std::move(intervals)) {
    std::erase_if(parts_, [](const Interval& i) { return i.end_ns <= i.begin_ns; });
    const auto by_begin = [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; };
    if (!std::is_sorted(parts_.begin(), parts_.end(), by_begin)) std::sort(parts_.begin(), parts_.end(), by_begin);
    size_t kept = 0;
    for (size_t i = 1; i < parts_.size(); ++i) {
      if (parts_[i].begin_ns <= parts_[kept].end_ns) {
        parts_[kept].end_ns = std::max(parts_[kept].end_ns, parts_[i].end_ns);
      } else {
        parts_[++kept] = parts_[i];
      }
    }
    if (!parts_.empty()) parts_.resize(kept + 1);
    sum_up();
  }

  const std::vector<Interval>& parts() const { return parts_; }
  bool empty() const { return parts_.empty(); }
  int64_t length_ns() const { return before_.empty() ? 0 : before_.back(); }

  // Total length inside [begin, end). O(log n).
  int64_t overlap_ns(int64_t begin_ns, int64_t end_ns) const {
    return begin_ns < end_ns ? covered_before(end_ns) - covered_before(begin_ns) : 0;
  }
  bool contains(int64_t time_ns) const {
    const size_t i = first_ending_after(time_ns);
    return i < parts_.size() && parts_[i].begin_ns <= time_ns;
  }

  IntervalSet unite(const IntervalSet& other) const {
    std::vector<Interval> all(parts_.size() + other.parts_.size());
    std::merge(parts_.begin(), parts_.end(), other.parts_.begin(), other.parts_.end(), all.begin(),
               [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
    return IntervalSet(std::move(all));
  }
  IntervalSet intersect(const IntervalSet& other) const {
    IntervalSet common;
    size_t i = 0, j = 0;
    while (i < parts_.size() && j < other.parts_.size()) {
      const int64_t begin = std::max(parts_[i].begin_ns, other.parts_[j].begin_ns);
      const int64_t end = std::min(parts_[i].end_ns, other.parts_[j].end_ns);
      if (begin < end) common.parts_.push_back({begin, end});
      if (parts_[i].end_ns < other.parts_[j].end_ns) {
        ++i;
      } else {
        ++j;
      }
    }
    common.sum_up();
    return common;
  }
  // The times that are in this set and not in the other.
  IntervalSet subtract(const IntervalSet& other) const {
    IntervalSet rest;
    size_t j = 0;
    for (const Interval& part : parts_) {
      int64_t begin = part.begin_ns;
      while (j < other.parts_.size() && other.parts_[j].end_ns <= begin) ++j;
      for (size_t k = j; k < other.parts_.size() && other.parts_[k].begin_ns < part.end_ns; ++k) {
        if (begin < other.parts_[k].begin_ns) rest.parts_.push_back({begin, other.parts_[k].begin_ns});
        begin = std::max(begin, other.parts_[k].end_ns);
      }
      if (begin < part.end_ns) rest.parts_.push_back({begin, part.end_ns});
    }
    rest.sum_up();
    return rest;
  }
  IntervalSet clip(int64_t begin_ns, int64_t end_ns) const {
    return begin_ns < end_ns ? intersect(IntervalSet({{begin_ns, end_ns}})) : IntervalSet();
  }
  // Calls visit(Interval) for the parts of this set in [begin, end), by their start.
  template <class Visit> void each_overlap(int64_t begin_ns, int64_t end_ns, const Visit& visit) const {
    for (size_t i = first_ending_after(begin_ns); i < parts_.size() && parts_[i].begin_ns < end_ns; ++i)
      visit(Interval{std::max(parts_[i].begin_ns, begin_ns), std::min(parts_[i].end_ns, end_ns)});
  }
  // The times in [begin, end) that are not in this set.
  IntervalSet gaps(int64_t begin_ns, int64_t end_ns) const {
    return begin_ns < end_ns ? IntervalSet({{begin_ns, end_ns}}).subtract(*this) : IntervalSet();
  }

 private:
  // Index of the first interval that ends after the moment.
  size_t first_ending_after(int64_t time_ns) const {
    const auto found = std::partition_point(parts_.begin(), parts_.end(),
                                            [&](const Interval& part) { return part.end_ns <= time_ns; });
    return static_cast<size_t>(found - parts_.begin());
  }
  int64_t covered_before(int64_t time_ns) const {
    const size_t i = first_ending_after(time_ns);
    const int64_t whole = i == 0 ? 0 : before_[i - 1];
    return i < parts_.size() && parts_[i].begin_ns < time_ns ? whole + time_ns - parts_[i].begin_ns : whole;
  }
  void sum_up() {
    before_.resize(parts_.size());
    int64_t sum = 0;
    for (size_t i = 0; i < parts_.size(); ++i) before_[i] = sum += parts_[i].length_ns();
  }

  std::vector<Interval> parts_;
  std::vector<int64_t> before_;  // total length of parts 0 … i
};

// Collects intervals that come mostly in order of start. An interval that touches the previous one is joined with it at
// once. So memory is proportional to the union of millions of operations, not to their number.
class IntervalCollector {
 public:
  void add(int64_t begin_ns, int64_t end_ns) {
    if (end_ns <= begin_ns) return;
    if (!parts_.empty() && begin_ns >= parts_.back().begin_ns && begin_ns <= parts_.back().end_ns) {
      parts_.back().end_ns = std::max(parts_.back().end_ns, end_ns);
    } else {
      parts_.push_back({begin_ns, end_ns});
    }
  }
  IntervalSet take() { return IntervalSet(std::move(parts_)); }

 private:
  std::vector<Interval> parts_;
};

}  // namespace prof::analyzer
