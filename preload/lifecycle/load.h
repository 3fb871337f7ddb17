// What happens when libprof.so is loaded into a process.
#pragma once

namespace prof::preload {

// Before anything that an option decides: reads the options and takes up what PROF_START waits for, once per process.
// The constructor or the first hook does it. False: another thread is just at it, or the process must not be touched.
// Keeps errno.
bool ready_to_record();

// What NVTX_INJECTION64_PATH named before we took it (another tool to call as well); empty: nobody.
const char* chained_nvtx_injection();

}  // namespace prof::preload
