// The recorder's life: cold → starting → recording → stopped. Nothing happens in a process before its first CUDA or NVTX
// event; the thread that sees it starts the life, others pass through meanwhile and count. A forked child starts cold.
#pragma once

#include <cstdint>

namespace prof::preload {

// Called again after CUPTI was opened: exit handlers run last-in first-out, and ours must run before CUPTI's and the driver's.
void register_exit_handler();

// True in a process that must not be touched: AT_SECURE, or loaded some other way than as a preload.
bool inert();  // false in test programs that link the objects

// A context is about to be made while a part is waited for: what must be done before the first one is done now (arm_gpu_activity).
// Nothing is recorded and no log is made. Keeps errno.
void prepare_for_a_later_part();

// Parts of the run that were recorded in this process, with the one that is.
uint32_t parts_so_far();
// The life has ended and the window waits again: the next recorded call starts another one, in a log of its own.
void allow_another_life();

// Path of libprof.so itself; empty before the constructor ran.
const char* library_path();
// What NVTX_INJECTION64_PATH named before we took it (another tool to call as well); empty: nobody.
const char* chained_nvtx_injection();

}  // namespace prof::preload
