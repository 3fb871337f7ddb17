// Twice the input takes about twice the time: shared code of the tests of cost. The cost is the CPU time of the whole
// process. A busy or throttled machine only adds to it, and for longer than a run takes. So runs on both inputs
// alternate and the minimum of each counts.
#pragma once

#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace prof::tests {

inline constexpr double kMostGrowth = 2.8;  // n log n of these sizes gives 2.2

inline int64_t process_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

template <class Work> int64_t cpu_ns(const HandTrace& hand, Work& work) {
  const analyzer::Views views(hand.trace);
  const analyzer::AnalysisInput input{hand.trace, views, hand.selection, hand.options};
  const int64_t before = process_cpu_ns();
  work(input);
  return process_cpu_ns() - before;
}

// The ratio of the times of work(AnalysisInput) on the outputs of fill(HandTrace&, 2 * size) and of fill(HandTrace&,
// size). If the ratio exceeds kMostGrowth, the measurement is repeated many times before it is returned.
template <class Fill, class Work> double growth(uint32_t size, Fill&& fill, Work&& work) {
  constexpr int kLeastRuns = 3, kMostRuns = 24;
  HandTrace once, twice;
  fill(once, size), fill(twice, 2 * size);
  once.finish(), twice.finish();
  int64_t small = INT64_MAX, large = INT64_MAX;
  const auto ratio = [&] { return static_cast<double>(large) / static_cast<double>(small); };
  for (int run = 0; run < kLeastRuns || (run < kMostRuns && ratio() > kMostGrowth); ++run) {
    small = std::min(small, cpu_ns(once, work));
    large = std::min(large, cpu_ns(twice, work));
  }
  return ratio();
}

}  // namespace prof::tests
