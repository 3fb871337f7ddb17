// How many floating point operations torch.profiler says an operator made (with_flops): PyTorch's own formulas, of
// torch/csrc/profiler/util.cpp (saveExtraArgs, computeFlops), worked out from the shapes in the trace. They are kept as they
// are there, so that the numbers agree: nested calls of one operator count each (autocast's outer and inner addmm), a
// broadcast mul counts its first operand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace prof::analyzer {

// `dims` and `concrete`: "Input Dims" and "Concrete Inputs" as JSON. 0: no formula for the operator, or the shapes are not
// what it expects, or the number does not fit into 64 bits.
uint64_t torch_flops(std::string_view op, std::string_view dims, std::string_view concrete);

// The dims as torch.autograd.profiler shows them: as Python prints lists ("[[2, 3], []]"), a list of tensors as "[]". What is
// no JSON array comes back as it is.
std::string torch_shapes(std::string_view dims);

}  // namespace prof::analyzer
