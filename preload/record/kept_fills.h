// The fills of memory that a thread made directly before a launch: a repeated launch takes them along
// (control/repeats.h). In the program.
#pragma once

#include <cstdint>

namespace prof::preload {

// A fill of memory and how it is made again. A library may reset before each launch what a kernel changed: cuBLAS
// clears a counter of tiles, 4 bytes, before nvjet kernels, which would find nothing to do when launched twice. So
// fills that a thread made directly before the launch, on its stream, are part of what is repeated.
struct KeptFill {
  int (*again)(const uint64_t* words);  // a CUresult
  uint64_t words[6];                    // its arguments
};
// Of a thread, on one stream, with nothing else of that thread after them. The stream as the program named it.
struct KeptFills {
  static constexpr uint32_t kMost = 2;
  uint32_t count = 0;
  uint32_t null_stream = 0;
  const void* stream = nullptr;
  KeptFill fills[kMost];
};

}  // namespace prof::preload
