// Which kernel belongs to a stub. nvcc's code registers images and kernels when a program starts; here they are library
// kernels (CUkernel), loaded at their first use.
#pragma once

#include <cuda_runtime_api.h>

#include "tests/sim/cuda_headers.h"

namespace sim {

cudaError_t kernel_of(const void* stub, CUfunction* out);

}  // namespace sim
