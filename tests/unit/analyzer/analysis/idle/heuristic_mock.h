// The mock profile of PyTorch's own test of its profiler heuristics: six launches, six consecutive kernels, twelve ops
// on another thread. Times in ns.
#pragma once

#include "tests/unit/analyzer/hand_trace.h"

namespace prof::tests {

inline void fill_heuristic_mock(HandTrace& hand) {
  constexpr int64_t kUs = 1000;
  const uint32_t ops = hand.thread(0, 2);
  const int64_t launches[] = {400, 500, 600, 700, 800, 1500}, kernels[] = {900, 1000, 1100, 1200, 1300, 1700};
  for (uint32_t i = 0; i < 6; ++i) {
    hand.launch(launches[i] * kUs, (launches[i] + 100) * kUs, i + 1);
    hand.kernel(kernels[i] * kUs, (kernels[i] + 100) * kUs, i + 1, 0, "GPU");
  }
  for (const int64_t begin : {0, 100, 200, 300}) {
    hand.range("CPU (Before cudaLaunchKernel)", begin * kUs, (begin + 100) * kUs, analyzer::RangeKind::Operator, ops);
  }
  for (const int64_t begin : {400, 500, 600, 700}) {
    hand.range("CPU (After cudaLaunchKernel)", begin * kUs, (begin + 100) * kUs, analyzer::RangeKind::Operator, ops);
  }
  for (const int64_t begin : {800, 900, 1100}) {
    hand.range("CPU (After GPU)", begin * kUs, (begin + 100) * kUs, analyzer::RangeKind::Operator, ops);
  }
  hand.range("CPU (After GPU)", 1200 * kUs, 1700 * kUs, analyzer::RangeKind::Operator, ops);
  hand.finish();
}

}  // namespace prof::tests
