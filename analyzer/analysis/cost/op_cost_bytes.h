// What the formulas of operators that are limited by memory share: op_cost_memory.cpp, op_cost_norm.cpp, op_cost_lists.cpp, op_cost_pool.cpp.
#pragma once

#include "analyzer/analysis/cost/op_cost.h"

#include <algorithm>

namespace prof::analyzer {

// No FLOPs; the reason is that of the bytes, if there are none.
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

// Bytes of a tensor; nothing if its shape or type is not known.
inline std::optional<uint64_t> bytes_of_tensor(const OpInputs& inputs, size_t i) {
  const std::optional<Shape> shape = inputs.tensor(i);
  const uint64_t size = bytes_of(inputs.type(i));
  if (!shape || size == 0) return std::nullopt;
  return times(elements_of(*shape), size);
}

// Operators that compute each element from those at its place, and how many arguments they compute it from: a tensor further behind is
// where the result goes ("out="). 0: it is none of them. op_cost_memory.cpp
size_t elementwise_operands(std::string_view op);

// Argument 0 in; out: as large, `times_out` times, and `more_bytes`. Other tensors of the arguments in too. op_cost_memory.cpp
OpCost as_large_out(const OpInputs& inputs, uint64_t times_out, uint64_t more_bytes = 0);

}  // namespace prof::analyzer
