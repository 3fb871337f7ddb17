// CUPTI's numbers for contexts and streams, the ones in GPU records. Answered by gpu_activity.cpp; zeros where CUPTI is not
// in use. Bracketed like every driver call of ours; never waits.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

uint32_t gpu_context_of(CUcontext context);  // 0: not known
// False: not known. `stream` may be one of the null streams' handles.
bool gpu_stream_of(CUcontext context, CUstream stream, bool per_thread, uint32_t& gpu_stream);

// The device a context belongs to, by whatever can be asked; false: cannot be told from here.
bool gpu_device_of(CUcontext context, uint32_t& device);

}  // namespace prof::preload
