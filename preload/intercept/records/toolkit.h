// Which CUDA toolkit was the program built with, as far as it can be seen? A shared libcudart reports its version. A
// static one requests each driver function with the CUDA version that introduced it. It requests no version newer than
// its own. It runs in the program.
#pragma once

namespace prof::preload {

// cuGetProcAddress was called for a function of this CUDA version (1000 × major + 10 × minor), and the driver has it.
void note_requested_version(int version);

// Writes the newest version so far to the log, unless it is already there. The caller is inside a scope that records.
void define_requested_version();

}  // namespace prof::preload
