// Which memory fills did a thread submit directly before a launch? A repeated launch repeats them too
// (control/repeats.h). This code runs in the program.
#pragma once

#include <cstdint>

namespace prof::preload {

// One memory fill, and how it is repeated. A library may reset before each launch what a kernel changed. For example,
// cuBLAS clears a counter of tiles, 4 bytes, before nvjet kernels. Without that, an nvjet kernel that is launched twice
// finds nothing to do. So fills by the same thread, directly before the launch and on its stream, are repeated too.
struct KeptFill {
  int (*again)(const uint64_t* words);  // returns a CUresult
  uint64_t words[6];                    // the arguments of `again`
};
// The fills of one thread on one stream, with no later operation of that thread. The stream is the handle that the
// program passed.
struct KeptFills {
  static constexpr uint32_t kMost = 2;
  uint32_t count = 0;
  uint32_t null_stream = 0;
  const void* stream = nullptr;
  KeptFill fills[kMost];
};

}  // namespace prof::preload
