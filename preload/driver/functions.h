// Which kernel is behind a CUfunction (or a CUkernel passed as one)? Handles are reused after unloads, so every unload and
// context destruction starts a new generation, in which handles are looked at again. Names come from the driver at first
// sight (cuFuncGetName, CUDA 12.3), from cuModuleGetFunction and cuLibraryGetKernel on older ones. In the program.
#pragma once

#include "preload/base/every_launch.h"
#include "preload/format/ids.h"
#include "preload/record/thread_local.h"

#include <cuda.h>

#include <atomic>

namespace prof::preload {

inline constexpr std::atomic<uint64_t>& g_function_generation = g_every_launch.function_generation;

// Changes whenever a known handle may mean another function: with each unload and each life.
inline uint64_t function_key() { return g_function_generation.load(std::memory_order_relaxed) << 16 ^ t_local.epoch; }

// The id of the function, defined at first sight. The handle must be valid. 0: the log is full.
format::FunctionId function_id(CUfunction function);
// What the driver calls it; null: it cannot be asked (before CUDA 12.3), or does not know it.
const char* driver_name_of(CUfunction function);
format::ModuleId module_id(CUmodule module);

// Before the real cuModuleUnload, cuLibraryUnload, cuCtxDestroy …: the driver may hand out the handles again right after.
void functions_unloaded();

// Behind cuModuleGetFunction and cuLibraryGetKernel.
void learn_function(CUfunction function, const char* name);
void learn_kernel(CUkernel kernel, const char* name);

}  // namespace prof::preload
