// How full a kernel can make the SMs of its device, from its launch shape and the device's limits: the numbers Kineto puts
// beside every kernel. Limits by compute capability are in the CUDA C++ Programming Guide, "Technical Specifications".
#pragma once

#include "analyzer/model/trace.h"

#include <optional>

namespace prof::analyzer {

struct KernelFill {
  double blocks_per_sm = 0;  // of the whole grid, not at one time
  double warps_per_sm = 0;
  int occupancy_percent = 0;  // resident threads / most threads, estimated from the shape
};

// Nothing: the recording does not say how many SMs the device has, or the shape is empty.
std::optional<KernelFill> kernel_fill(const Device& device, const Kernel& kernel);

}  // namespace prof::analyzer
