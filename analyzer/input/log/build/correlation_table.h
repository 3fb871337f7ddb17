// Which launch has a correlation id? Offline, inside correlate() only: call_join.cpp fills the table, correlation.cpp
// reads it. Ids of a run are nearly dense, so the id is the index. A log whose ids are not dense gets a sorted list.
#pragma once

#include "analyzer/base/prefault.h"
#include "analyzer/input/log/build/stages.h"

#include <algorithm>
#include <atomic>

namespace prof::analyzer {

// Correlation id -> row, for one process.
class CorrelationTable {
 public:
  // keep() adds the rows later.
  explicit CorrelationTable(const Column<DriverCall>& calls) : any_calls_(!calls.empty()) {
    if (calls.empty()) return;
    uint32_t low = UINT32_MAX, high = 0;
    for (const DriverCall& call : calls) {
      low = std::min(low, call.correlation);
      high = std::max(high, call.correlation);
    }
    base_ = low;
    const uint64_t range = uint64_t{high} - low + 1;
    if (range > calls.size() * 8 + 65536) return;
    dense_.resize(range);
    write_pages(dense_);
  }
  bool is_dense() const { return !dense_.empty(); }
  bool any_calls() const { return any_calls_; }

  // Called by several threads. A launch has precedence over a reason. Of two calls with one id the first launch counts.
  void keep(uint32_t correlation, uint32_t row) {
    std::atomic_ref<uint32_t> slot(dense_[correlation - base_]);
    uint32_t old = slot.load(std::memory_order_relaxed);
    while (old < ~row && !slot.compare_exchange_weak(old, ~row, std::memory_order_relaxed)) {}
  }
  void keep_sorted(const Column<DriverCall>& calls) {
    sparse_.reserve(calls.size());
    for (const DriverCall& call : calls) sparse_.push_back({call.correlation, call.row});
    std::sort(sparse_.begin(), sparse_.end(), [](const Entry& a, const Entry& b) {
      return a.correlation != b.correlation ? a.correlation < b.correlation : a.row < b.row;
    });
  }

  uint32_t find(uint32_t correlation) const {
    if (is_dense()) {
      const uint32_t offset = correlation - base_;
      return offset < dense_.size() ? ~dense_[offset] : kNone;
    }
    const Entry* const found = std::lower_bound(sparse_.begin(), sparse_.end(), correlation,
                                                [](const Entry& e, uint32_t c) { return e.correlation < c; });
    return found != sparse_.end() && found->correlation == correlation ? found->row : kNone;
  }

 private:
  struct Entry {
    uint32_t correlation, row;
  };
  bool any_calls_ = false;
  uint32_t base_ = 0;
  Column<uint32_t> dense_;  // ~row, so that untouched memory means kNone
  Column<Entry> sparse_;
};

}  // namespace prof::analyzer
