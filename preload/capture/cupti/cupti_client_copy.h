// A completed buffer for another profiler in the program (cupti_client.h): the records that it wants of it. In the program.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Copies what it wants of a completed buffer. It may be called back from within.
void hand_to_cupti_client(CUcontext context, uint32_t stream, uint8_t* buffer, size_t valid_bytes);

}  // namespace prof::preload
