// Which kernel does a CUfunction name, or a CUkernel that is passed as one? Handles are reused after an unload. Every
// unload and every destroyed context therefore starts a new generation, in which each handle is queried again. The
// driver reports the name when a handle is first seen (cuFuncGetName, CUDA 12.3). On older drivers the name is the
// argument of cuModuleGetFunction or cuLibraryGetKernel. It runs in the program.
#pragma once

#include "preload/base/every_launch.h"
#include "preload/format/ids.h"
#include "preload/record/thread_local.h"

#include <cuda.h>

#include <atomic>

namespace prof::preload {

inline constexpr std::atomic<uint64_t>& g_function_generation = g_every_launch.function_generation;

// Changes whenever a known handle may name another function: with each unload and each recording.
inline uint64_t function_key() { return g_function_generation.load(std::memory_order_relaxed) << 16 ^ t_local.epoch; }

// The id of the function, defined when the handle is first seen. The handle must be valid. 0: the log is full.
format::FunctionId function_id(CUfunction function);
// The driver's name of the function. Null: the driver does not know it, or it has no such query (before CUDA 12.3).
const char* driver_name_of(CUfunction function);

// Called before the real cuModuleUnload, cuLibraryUnload, cuCtxDestroy …: the driver may reuse the handles right
// after.
void functions_unloaded();

// Called after cuModuleGetFunction and cuLibraryGetKernel.
void learn_function(CUfunction function, const char* name);
void learn_kernel(CUkernel kernel, const char* name);

}  // namespace prof::preload
