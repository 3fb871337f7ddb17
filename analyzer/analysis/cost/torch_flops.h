// How many floating point operations does torch.profiler report for an operator (with_flops)? Computed from the shapes
// in the trace by PyTorch's own formulas in torch/csrc/profiler/util.cpp (saveExtraArgs, computeFlops). They are
// unchanged, so that the numbers agree: nested calls of one operator each count (autocast's outer and inner addmm), and
// a broadcast mul counts its first operand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace prof::analyzer {

// `dims` and `concrete`: "Input Dims" and "Concrete Inputs" as JSON. 0: there is no formula for the operator, the
// shapes do not fit it, or the number does not fit 64 bits.
uint64_t torch_flops(std::string_view op, std::string_view dims, std::string_view concrete);

// The dims as torch.autograd.profiler shows them: as Python prints lists ("[[2, 3], []]"), a list of tensors as "[]". A
// text that is no JSON array is returned unchanged.
std::string torch_shapes(std::string_view dims);

}  // namespace prof::analyzer
