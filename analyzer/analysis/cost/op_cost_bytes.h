// Functions shared by the formulas of operators that are limited by memory: op_cost_memory.cpp, op_cost_norm.cpp,
// op_cost_lists.cpp, op_cost_pool.cpp.
#pragma once

#include "analyzer/analysis/cost/op_cost.h"

#include <algorithm>

namespace prof::analyzer {

// A cost without FLOPs. `reason`: why there are no bytes, if there are none.
inline OpCost bytes_only(DataType type, std::optional<uint64_t> bytes, NoCost reason = NoCost::NoType) {
  OpCost cost;
  cost.known = true;
  cost.type = type;
  cost.no_flops = NoCost::NotCounted;
  cost.bytes = bytes;
  cost.no_bytes = bytes ? NoCost::None : reason;
  return cost;
}
inline OpCost without_bytes(NoCost reason) { return bytes_only(DataType::Unknown, std::nullopt, reason); }

// Bytes of a tensor; nullopt if its shape or type is unknown.
inline std::optional<uint64_t> bytes_of_tensor(const OpInputs& inputs, size_t i) {
  const std::optional<Shape> shape = inputs.tensor(i);
  const uint64_t size = bytes_of(inputs.type(i));
  if (!shape || size == 0) return std::nullopt;
  return times(elements_of(*shape), size);
}

// The number of operands of an operator that computes each element from the elements at the same position. A later
// tensor argument is the destination of the result ("out="). 0: not such an operator. Defined in op_cost_memory.cpp.
size_t elementwise_operands(std::string_view op);

// Reads argument 0 and all other tensor arguments. Writes `times_out` results as large as argument 0, and `more_bytes`.
// Defined in op_cost_memory.cpp.
OpCost as_large_out(const OpInputs& inputs, uint64_t times_out, uint64_t more_bytes = 0);

}  // namespace prof::analyzer
