// The library's one thread: starts with the first recorded event and does everything periodic — slabs ahead, a clock
// anchor a second, GPU flushes. It may hang inside CUPTI; program threads then do without it.
#pragma once

#include <cstdint>

namespace prof::preload {

bool start_helper();
// At exit: asks it to stop and waits at most `ns` for it to be outside of the log.
void stop_helper(uint64_t ns);

}  // namespace prof::preload
