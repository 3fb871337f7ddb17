// Twice the input, about twice the work: what tests of cost share. Cost is the CPU time of the whole process, the least of
// several runs, and there are several attempts, so that a loaded machine does not decide; what is quadratic takes four times
// as long in all of them.
#pragma once

#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace prof::tests {

inline constexpr double kMostGrowth = 2.8;  // n log n of these sizes is 2.2

inline int64_t process_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

template <class Work> int64_t least_cpu_ns(const HandTrace& hand, Work& work) {
  int64_t least = INT64_MAX;
  for (int run = 0; run < 3; ++run) {
    const analyzer::Views views(hand.trace);
    const analyzer::AnalysisInput input{hand.trace, views, hand.selection, hand.options};
    const int64_t before = process_cpu_ns();
    work(input);
    least = std::min(least, process_cpu_ns() - before);
  }
  return least;
}

// How many times as long work(AnalysisInput) takes on what fill(HandTrace&, 2 * size) makes as on fill(HandTrace&, size).
template <class Fill, class Work> double growth(uint32_t size, Fill&& fill, Work&& work) {
  HandTrace once, twice;
  fill(once, size), fill(twice, 2 * size);
  once.finish(), twice.finish();
  double least = 1e9;
  for (int attempt = 0; attempt < 6 && least > kMostGrowth; ++attempt) {
    const auto small = static_cast<double>(least_cpu_ns(once, work));
    least = std::min(least, static_cast<double>(least_cpu_ns(twice, work)) / small);
  }
  return least;
}

}  // namespace prof::tests
