// Which options are not valid, and, with PROF_LOG=debug, which are set? The lines are printed when a process is first
// recorded, so that a process without CUDA and NVTX prints nothing.
#pragma once

namespace prof::preload {

// Prints a line for each option that is not valid, once for a process and the children that it forks. With
// PROF_LOG=debug prints a line for each other option that is set.
void report_options();

}  // namespace prof::preload
