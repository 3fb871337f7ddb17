#include "analyzer/analysis/cost/op_flops.h"

#include "analyzer/analysis/cost/op_inputs.h"
#include "analyzer/analysis/cost/torch_flops.h"

#include <cmath>
#include <optional>

namespace prof::analyzer {

uint64_t OpFlops::of(const Range& range) const {
  const OperatorDetail* const detail = trace_.detail(range);
  if (detail == nullptr) return 0;
  if (detail->flops != 0) return detail->flops;
  // Kernels that torch.compile generated are not operators of PyTorch, so torch_flops() has no formula for them.
  if (index(detail->other) != 0 && !trace_.range_name(range).starts_with("aten::")) {
    const std::optional<double> flops = positive_member(trace_.text(detail->other), "kernel_flop");
    if (flops) return static_cast<uint64_t>(std::llround(*flops));
  }
  if (index(detail->dims) == 0) return 0;
  const uint32_t parts[] = {index(range.label), static_cast<uint32_t>(detail->dims),
                            static_cast<uint32_t>(detail->concrete)};
  const std::string key(reinterpret_cast<const char*>(parts), sizeof parts);
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_[key] = torch_flops(trace_.range_name(range), trace_.text(detail->dims), trace_.text(detail->concrete));
}

}  // namespace prof::analyzer
