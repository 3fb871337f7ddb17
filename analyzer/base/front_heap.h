// A heap for merging lists that are ordered in time: it has the next entry of each list. replace_front() is one walk
// down instead of a pop and a push; it stops at once if the same list has the next entry again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace prof::analyzer {

// `later(a, b)`: a comes after b; a total order.
template <class Entry, class Later> class FrontHeap {
 public:
  explicit FrontHeap(Later later) : later_(std::move(later)) {}

  void push(const Entry& entry) {
    entries_.push_back(entry);
    std::push_heap(entries_.begin(), entries_.end(), later_);
  }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const Entry& front() const { return entries_.front(); }

  void replace_front(const Entry& entry) {
    size_t at = 0;
    for (size_t child = 1; child < entries_.size(); child = 2 * at + 1) {
      if (child + 1 < entries_.size() && later_(entries_[child], entries_[child + 1])) ++child;
      if (!later_(entry, entries_[child])) break;
      entries_[at] = entries_[child];
      at = child;
    }
    entries_[at] = entry;
  }
  void pop() {
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) replace_front(last);
  }

 private:
  Later later_;
  std::vector<Entry> entries_;
};

}  // namespace prof::analyzer
