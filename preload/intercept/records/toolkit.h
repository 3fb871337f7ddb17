// Which CUDA toolkit the program was made with, as far as it shows: a shared libcudart says its version; a static one asks the driver for
// functions as of the version that each came with, and knows none that is newer than itself. In the program.
#pragma once

namespace prof::preload {

// A function was asked for by cuGetProcAddress as of this version of CUDA (1000 × major + 10 × minor), and the driver has it.
void note_requested_version(int version);

// Puts the newest version so far into the log, where that is not there yet. The caller is inside a scope that records.
void define_requested_version();

}  // namespace prof::preload
