// What does the helper thread do? It starts with the first recorded event and does all periodic work: it prepares
// slabs, writes a clock anchor per second and flushes GPU records. It may hang inside CUPTI. Threads of the program
// then continue without it.
#pragma once

#include <cstdint>

namespace prof::preload {

// Returns false if the thread cannot be created.
bool start_helper();
// When a recording finishes: requests that the helper thread stops, and waits at most `ns` until it no longer touches
// the log.
void stop_helper(uint64_t ns);

}  // namespace prof::preload
