// Reads from a range the sequence number by which autograd connects a backward operator to its forward operator.
// torch.profiler writes the number into an operator's arguments, emit_nvtx() into a range's text. Used by
// forward_backward.h and for handoffs (dependencies.h).
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

struct AutogradNumber {
  int64_t sequence = -1;  // -1: none
  bool backward = false;
  uint32_t forward_thread = 0;  // for a backward operator, PyTorch's own number; 0: unknown
  uint32_t engine = kNone;  // row of the engine's range around a backward operator, if that range has no number itself
};

// emit_nvtx() of old releases marks a backward operator ("AddmmBackward0, stashed seq = 5"). In newer releases
// ("AddmmBackward0, seq = 5") it is the operator directly inside the engine's range
// ("autograd::engine::evaluate_function: AddmmBackward0").
class AutogradNumbers {
 public:
  explicit AutogradNumbers(const Trace& trace);
  AutogradNumber of(uint32_t range_row) const;

 private:
  struct Numbered {
    int64_t sequence = -1;
    bool stashed = false;
    std::string_view name;
  };
  uint32_t engine_around(const Range& range, std::string_view name) const;

  const Trace& trace_;
  std::unordered_map<uint32_t, Numbered> numbered_;  // by LabelId: labels with a number
  std::unordered_map<uint32_t, std::string_view>
      evaluated_;  // by LabelId: the engine's labels, with the operator that it runs
};

}  // namespace prof::analyzer
