// How many floating point operations and bytes does an operator need, by the shapes it was called with? FLOPs are counted as
// torch.utils.flop_counter counts: two for a multiply-add of a matrix product, convolution or attention, none for a bias and
// for everything else; of complex numbers four times as many, which it does not do. Bytes: each operand read once, each result
// written once, in its own type. docs/reports/peaks.md has every formula. Called by KernelCosts, which gives an operator's cost
// to its kernels.
#pragma once

#include "analyzer/analysis/cost/op_inputs.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::analyzer {

// What a number is missing for. The first that holds.
enum class NoCost : uint8_t {
  None,           // it is there
  NoLaunch,       // the launch is not in the input, or in no range
  NoFormula,      // no operator around it that a formula is known for
  NoShapes,       // the trace has no shapes, or a size is no number
  NoArguments,    // stride, padding … are not in the trace
  Misfit,         // shapes that do not fit each other
  NoType,         // the type of elements is not in the trace
  Varying,        // sizes of sequences or groups that are in the memory of the GPU only
  Windowed,       // of useful FLOPs: a query sees some of the keys only
  NotCounted,     // counted as no FLOPs: it is no product of matrices
  Helper,         // the operator's number went to its main kernel
  CountedInside,  // an operator inside this one has the number
  UsefulUnknown   // of useful FLOPs: what was counted or stated does not say
};
std::string_view no_cost_text(NoCost reason);

struct OpCost {
  bool known = false;   // there is a formula for the operator
  bool matrix = false;  // it multiplies matrices: tensor cores may do it
  bool causal = false;
  bool assumed = false;  // the type is the user's though the trace has types: it has none of what is in a list
  std::optional<uint64_t> flops, useful_flops, bytes;
  // Of the FLOPs of a convolution's backward: those of the gradient of the input and of the weight. Their sum is `flops`.
  uint64_t input_gradient = 0, weight_gradient = 0;
  DataType type = DataType::Unknown;  // of what is multiplied, or of the result
  NoCost no_flops = NoCost::NoFormula, no_bytes = NoCost::NoFormula;
  NoCost no_useful = NoCost::None;  // of what has FLOPs
};

// `op`: with its namespace ("aten::mm"); without one it is taken for an operator of aten.
OpCost op_cost(std::string_view op, const OpInputs& inputs);

// The families, each in a file of its own; `op` without the namespace. Nothing: none of the family.
std::optional<OpCost> gemm_cost(std::string_view op, const OpInputs& inputs);       // op_cost_gemm.cpp
std::optional<OpCost> conv_cost(std::string_view op, const OpInputs& inputs);       // op_cost_conv.cpp
std::optional<OpCost> attention_cost(std::string_view op, const OpInputs& inputs);  // op_cost_attention.cpp
std::optional<OpCost> memory_cost(std::string_view op, const OpInputs& inputs);     // op_cost_memory.cpp
std::optional<OpCost> norm_cost(std::string_view op, const OpInputs& inputs);       // op_cost_norm.cpp
std::optional<OpCost> list_cost(std::string_view op, const OpInputs& inputs);       // op_cost_lists.cpp
std::optional<OpCost> pool_cost(std::string_view op, const OpInputs& inputs);       // op_cost_pool.cpp

// A cost with a formula and a reason for both numbers.
inline OpCost no_cost(NoCost reason) {
  OpCost cost;
  cost.known = true;
  cost.no_flops = cost.no_bytes = reason;
  return cost;
}

// Sets FLOPs, all of them useful, and bytes as `elements` of the cost's type.
void set_matrix_cost(OpCost& cost, uint64_t flops, uint64_t elements);

}  // namespace prof::analyzer
