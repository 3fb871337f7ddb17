// Which options are not valid, and with PROF_LOG=debug which are set: lines on stderr when a process is first recorded, so that a process
// without CUDA and NVTX prints nothing.
#pragma once

namespace prof::preload {

// A line for each option that is not valid, once per process and the children that it forks; with PROF_LOG=debug one for each other
// option that is set.
void report_options();

}  // namespace prof::preload
