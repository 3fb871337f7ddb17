// How many floating point operations and bytes does an operator need, by the shapes of its arguments? FLOPs are counted
// as torch.utils.flop_counter counts them: two for a multiply-add of a matrix product, convolution or attention, none
// for a bias or any other operator. Unlike there, complex numbers count four times as many. Bytes: each operand is read
// once and each result is written once, in its own type. docs/reports/peaks.md has every formula. Called by
// KernelCosts, which assigns the cost of an operator to its kernels.
#pragma once

#include "analyzer/analysis/cost/op_inputs.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::analyzer {

// Why a number is missing: the first reason that applies.
enum class NoCost : uint8_t {
  None,           // the number exists
  NoLaunch,       // the launch is not in the input, or is in no range
  NoFormula,      // no operator around the launch has a formula
  NoShapes,       // the trace has no shapes, or a size is no number
  NoArguments,    // stride, padding … are not in the trace
  Misfit,         // shapes that do not fit each other
  NoType,         // the type of elements is not in the trace
  Varying,        // sizes of sequences or groups are only in GPU memory
  Windowed,       // no useful FLOPs: a query sees only some of the keys
  NotCounted,     // FLOPs are not counted: it is no product of matrices
  Helper,         // the main kernel of the operator has its number
  CountedInside,  // an operator inside this one has the number
  UsefulUnknown   // no useful FLOPs: they do not follow from the count
};
std::string_view no_cost_text(NoCost reason);

struct OpCost {
  bool known = false;   // a formula exists for the operator
  bool matrix = false;  // it multiplies matrices: tensor cores may be used
  bool causal = false;
  bool assumed = false;  // the trace has types, but not of list elements: the user's type is used
  std::optional<uint64_t> flops, useful_flops, bytes;
  // FLOPs of a convolution's backward: for the gradient of the input and of the weight. Their sum is `flops`.
  uint64_t input_gradient = 0, weight_gradient = 0;
  DataType type = DataType::Unknown;  // of the factors, or of the result
  NoCost no_flops = NoCost::NoFormula, no_bytes = NoCost::NoFormula;
  NoCost no_useful = NoCost::None;  // applies only if `flops` is known
};

// `op`: with its namespace ("aten::mm"). A name without a namespace is an operator of aten.
OpCost op_cost(std::string_view op, const OpInputs& inputs);

// One function and file per family. `op` has no namespace. nullopt: the operator is not of the family.
std::optional<OpCost> gemm_cost(std::string_view op, const OpInputs& inputs);       // op_cost_gemm.cpp
std::optional<OpCost> conv_cost(std::string_view op, const OpInputs& inputs);       // op_cost_conv.cpp
std::optional<OpCost> attention_cost(std::string_view op, const OpInputs& inputs);  // op_cost_attention.cpp
std::optional<OpCost> memory_cost(std::string_view op, const OpInputs& inputs);     // op_cost_memory.cpp
std::optional<OpCost> norm_cost(std::string_view op, const OpInputs& inputs);       // op_cost_norm.cpp
std::optional<OpCost> list_cost(std::string_view op, const OpInputs& inputs);       // op_cost_lists.cpp
std::optional<OpCost> pool_cost(std::string_view op, const OpInputs& inputs);       // op_cost_pool.cpp

// A cost with a formula, but without numbers for the given reason.
inline OpCost no_cost(NoCost reason) {
  OpCost cost;
  cost.known = true;
  cost.no_flops = cost.no_bytes = reason;
  return cost;
}

// Sets FLOPs, all of them useful, and bytes as `elements` of the cost's type.
void set_matrix_cost(OpCost& cost, uint64_t flops, uint64_t elements);

}  // namespace prof::analyzer
