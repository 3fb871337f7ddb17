// Over which time does PyTorch's TensorBoard plugin compute the utilisation of a GPU? From the start of the first step
// to the end of the last one, where a step lasts until its GPU operations have ended. Definition:
// docs/reports/definitions.md.
#pragma once

#include "analyzer/base/intervals.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// A GPU operation, and the call of the CUDA runtime that launched it. A launch that is unknown, or a call of the
// driver, has no call.
struct StepOperation {
  int64_t start_ns = 0, end_ns = 0;
  bool has_call = false;
  Interval call{0, 0};
};

// `steps`: the host's part of at least one step, in order of time, disjoint. A step begins where the previous one ends,
// or with its host part if that is later. It ends with its host part, or with the last operation of a call inside it if
// that is later. The last step counts only if it has at least 80 % of the operations of the one before; steps after
// the last one with operations do not count. O((n + s) log s) for n operations and s steps.
Interval tensorboard_window(const std::vector<Interval>& steps, const std::vector<StepOperation>& operations);

}  // namespace prof::analyzer
