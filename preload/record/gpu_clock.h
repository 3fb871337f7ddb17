// On which clock are the GPU times of a log? The start of a recording and the code that opens CUPTI write it. This code
// runs in the program.
#pragma once

namespace prof::preload {

// Writes the formula of CUPTI's clock to the log, if it is final (settle_clock()) and this thread records. It may be
// written twice.
void define_gpu_clock();

}  // namespace prof::preload
