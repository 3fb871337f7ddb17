// Has the process read its options? Hooks check it before an option decides anything. The NVTX injection code gets the
// other tool that it must call too. This code must not start a recording.
#pragma once

namespace prof::preload {

// Reads the options and applies PROF_START, once per process, before an option decides anything. The constructor or the
// first hook does it. Returns false if another thread is doing it now, or if the process must not be touched. Keeps
// errno.
bool ready_to_record();

// Whether another thread prepares the process now: what this thread does is lost, and must be counted.
bool is_getting_ready();

// The variable by which each shared object finds an NVTX tool at its first use of NVTX.
constexpr const char* kNvtxInjection = "NVTX_INJECTION64_PATH";

// Its value for the program: libprof.so. Null if NVTX is not recorded here.
const char* nvtx_injection();

// Its value in the environment now: another tool that must be called too. Empty if there is none.
const char* chained_nvtx_injection();

}  // namespace prof::preload
