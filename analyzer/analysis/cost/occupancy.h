// How full can a kernel make the SMs of its device? Computed from the launch shape and the device's limits: the numbers
// that Kineto adds to every kernel. Limits by compute capability: CUDA C++ Programming Guide, "Technical
// Specifications".
#pragma once

#include "analyzer/model/trace.h"

#include <optional>

namespace prof::analyzer {

struct KernelFill {
  double blocks_per_sm = 0;  // of the whole grid, not at the same time
  double warps_per_sm = 0;
  double resident_percent = 0;  // warps that an SM can hold / maximum; the theoretical occupancy. 0: unknown
  int occupancy_percent = 0;    // resident threads / maximum threads, estimated from the shape
};

// nullopt: the recording has no number of SMs of the device, or the shape is empty.
std::optional<KernelFill> kernel_fill(const Device& device, const Kernel& kernel);

}  // namespace prof::analyzer
