// When did a thread wait for something on the host, and for which thread? Used by gap_division.cpp. Evidence of a wait:
//
// * Autograd's sequence numbers: dependencies.h, Handoff. They also name the other thread.
// * The innermost range of the thread names a wait (wait_names.h). A range in which its thread made a call other than a
//   synchronisation or a query is no wait.
// * The thread did nothing recorded until it launched, and the calls of the thread that launched before stopped.
//
// The other thread of a wait is the one that stopped or began to wait when the wait ended. The time between the two
// must not be longer than the time for which the other thread was active in the wait. If there is none, the wait is for
// something unknown. A wait finds its thread when it is asked for: O(threads · log n).
#pragma once

#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

class ThreadWaits {
 public:
  explicit ThreadWaits(const Trace& trace);

  // A wait that has ended. `named`: by a range of the waiting thread.
  struct Wait {
    int64_t begin_ns = 0, end_ns = 0;
    uint32_t other = kNone;  // thread; kNone: unknown
    bool named = false;
    bool resolved = true;  // `other` was looked for
  };

  // Splits [begin, end) of a thread: free(from, to) where it waited for nothing known, waited(from, to, wait) where it
  // did.
  template <class Free, class Waited>
  void split(uint32_t thread, int64_t begin_ns, int64_t end_ns, Free&& free, Waited&& waited) {
    int64_t now = begin_ns;
    if (!waits_.empty() && !waits_[thread].empty()) {
      std::vector<Wait>& waits = waits_[thread];
      auto each =
          std::partition_point(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.end_ns <= begin_ns; });
      for (; each != waits.end() && each->begin_ns < end_ns; ++each) {
        const int64_t from = std::max(now, each->begin_ns), to = std::min(end_ns, each->end_ns);
        if (from >= to) continue;
        if (now < from) free(now, from);
        if (!each->resolved) resolve(thread, *each);
        waited(from, to, *each);
        now = to;
      }
    }
    if (now < end_ns) free(now, end_ns);
  }

  // Whether thread `to`, which did nothing recorded until `end_ns` and then made a launch, waited for thread `from`:
  // the calls of `from` had stopped by then, and it made none until the launch had returned at `launched_ns`.
  bool handed_over(uint32_t from, uint32_t to, int64_t end_ns, int64_t launched_ns) const;

 private:
  void add_handoffs();
  void add_named();
  void add_named(uint32_t thread, const std::vector<bool>& is_wait);
  bool makes_calls(uint32_t range) const;
  const std::vector<Interval>& activity(uint32_t thread);
  void resolve(uint32_t thread, Wait& wait);

  const Trace& trace_;
  std::vector<bool> waiting_calls_;       // by api: synchronisations and queries
  std::vector<std::vector<Wait>> waits_;  // by thread, disjoint, in order of time; empty: no thread waited
  // By thread: in a call or range, and not in a wait. Sorted, disjoint.
  std::vector<std::vector<Interval>> activity_;
  std::vector<bool> has_activity_;
};

}  // namespace prof::analyzer
