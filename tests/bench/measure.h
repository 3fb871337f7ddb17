// How the hook benchmarks measure times, all in one process: two variants in turn, batch by batch, where the cost is
// the difference to the neighbouring batch; then single calls into a histogram.
#pragma once

#include "tests/bench/histogram.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace prof::bench {

inline uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

inline uint64_t clock_ns(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

inline double ns_per_tick() {
  static const double rate = [] {
    const uint64_t ns0 = clock_ns(CLOCK_MONOTONIC), t0 = ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const uint64_t ns1 = clock_ns(CLOCK_MONOTONIC), t1 = ticks();
    return static_cast<double>(ns1 - ns0) / static_cast<double>(t1 - t0);
  }();
  return rate;
}

struct Spread {
  double median = 0, low = 0, high = 0;  // low, high: 10 % and 90 %
};
inline Spread spread(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

struct Comparison {
  std::vector<double> direct_ns, hooked_ns, added_ns;  // per call, one value per round
  Histogram direct, hooked;                            // ticks of single calls
  Histogram nothing;  // of an empty wait as long as a hooked call: shows interruptions by the machine
  uint64_t hooked_calls = 0, direct_calls = 0;
  uint64_t hooked_faults = 0;  // page faults of the hooked batches

  void merge(const Comparison& other) {
    direct_ns.insert(direct_ns.end(), other.direct_ns.begin(), other.direct_ns.end());
    hooked_ns.insert(hooked_ns.end(), other.hooked_ns.begin(), other.hooked_ns.end());
    added_ns.insert(added_ns.end(), other.added_ns.begin(), other.added_ns.end());
    direct.merge(other.direct);
    hooked.merge(other.hooked);
    nothing.merge(other.nothing);
    hooked_calls += other.hooked_calls;
    direct_calls += other.direct_calls;
    hooked_faults += other.hooked_faults;
  }
};

struct Plan {
  int rounds = 60;
  int batch = 20'000;
  int single_batches = 200;
  int single_batch = 2'000;
};

// The thread's own CPU time, so that waiting for a core does not count as cost if there are more threads than cores.
template <class Call> double batch_ns(int calls, Call&& call) {
  const uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < calls; ++i) call();
  return static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / calls;
}

inline uint64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_minflt);
}

template <class Call> void single_calls(int calls, Histogram& into, Call&& call) {
  for (int i = 0; i < calls; ++i) {
    const uint64_t begin = ticks();
    call();
    into.add(ticks() - begin);
  }
}

// Direct and hooked in turn; their order changes every round.
template <class Direct, class Hooked>
void compare(const Plan& plan, Comparison& result, Direct&& direct, Hooked&& hooked) {
  batch_ns(plan.batch, direct);
  batch_ns(plan.batch, hooked);
  for (int round = 0; round < plan.rounds; ++round) {
    double d = 0, h = 0;
    if (round % 2 == 0) d = batch_ns(plan.batch, direct);
    const uint64_t faults = page_faults();
    h = batch_ns(plan.batch, hooked);
    result.hooked_faults += page_faults() - faults;
    if (round % 2 != 0) d = batch_ns(plan.batch, direct);
    result.direct_ns.push_back(d), result.hooked_ns.push_back(h), result.added_ns.push_back(h - d);
  }
  Histogram first;
  single_calls(plan.single_batch, first, hooked);
  const auto wait = [length = first.quantile(0.5)] {
    for (const uint64_t begin = ticks(); ticks() - begin < length;) {}
  };
  for (int i = 0; i < plan.single_batches; ++i) {
    single_calls(plan.single_batch, result.direct, direct);
    single_calls(plan.single_batch, result.hooked, hooked);
    single_calls(plan.single_batch, result.nothing, wait);
  }
  const uint64_t singles = static_cast<uint64_t>(plan.single_batches) * static_cast<uint64_t>(plan.single_batch);
  const uint64_t batches = static_cast<uint64_t>(plan.rounds + 1) * static_cast<uint64_t>(plan.batch);
  result.direct_calls = batches + singles;
  result.hooked_calls = result.direct_calls + static_cast<uint64_t>(plan.single_batch);
}

}  // namespace prof::bench
