// The sequence number by which autograd ties a backward operator to the forward operator that made it, read off a range: torch.profiler
// writes it into an operator's arguments, emit_nvtx() into a range's text. Used by forward_backward.h and for handoffs (dependencies.h).
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

struct AutogradNumber {
  int64_t sequence = -1;  // -1: none
  bool backward = false;
  uint32_t forward_thread = 0;  // of a backward operator, PyTorch's own number; 0: not known
  uint32_t engine = kNone;  // row of the engine's range around a backward operator, where that has no number of its own
};

// emit_nvtx() of old releases marks a backward operator ("AddmmBackward0, stashed seq = 5"); in all others ("AddmmBackward0, seq = 5") it is
// the operator right inside the range of the engine that runs it ("autograd::engine::evaluate_function: AddmmBackward0").
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
  std::unordered_map<uint32_t, Numbered> numbered_;  // by LabelId: those with a number
  std::unordered_map<uint32_t, std::string_view>
      evaluated_;  // by LabelId: the engine's, with the operator that it runs
};

}  // namespace prof::analyzer
