// When did a thread wait for another one, and for which? From the moment at which it handed its work to the other
// thread until the other one handed it back (dependencies.h, Handoff). Used by gap_division.cpp. O(log n) per query.
#pragma once

#include "analyzer/dependencies/dependencies.h"
#include "analyzer/model/trace.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace prof::analyzer {

class ThreadWaits {
 public:
  explicit ThreadWaits(const Trace& trace) {
    const std::vector<Handoff> handoffs = find_handoffs(trace);
    if (handoffs.empty()) return;
    waits_.resize(trace.threads.size());
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

  // Splits [begin, end) of a thread: free(from, to) where it waited for no thread, waited(from, to, other thread) where
  // it did.
  template <class Free, class Waited>
  void split(uint32_t thread, int64_t begin_ns, int64_t end_ns, Free&& free, Waited&& waited) const {
    int64_t now = begin_ns;
    if (!waits_.empty() && !waits_[thread].empty()) {
      const std::vector<Wait>& waits = waits_[thread];
      auto each =
          std::partition_point(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.end_ns <= begin_ns; });
      for (; each != waits.end() && each->begin_ns < end_ns; ++each) {
        const int64_t from = std::max(now, each->begin_ns), to = std::min(end_ns, each->end_ns);
        if (from >= to) continue;
        if (now < from) free(now, from);
        waited(from, to, each->other);
        now = to;
      }
    }
    if (now < end_ns) free(now, end_ns);
  }

 private:
  struct Wait {
    int64_t begin_ns = 0, end_ns = 0;
    uint32_t other = kNone;
  };
  std::vector<std::vector<Wait>> waits_;  // by thread, disjoint, in order of time; empty: no thread waited
};

}  // namespace prof::analyzer
