// Memory pools: the source of stream-ordered allocations, and how much of each is in use.
#pragma once
#include "tests/sim/objects.h"

namespace sim {

std::mutex& allocation_mutex();

Pool* current_pool(Device* device);
// With the mutex held.
void take_from(Pool& pool, size_t bytes);
void give_back(Pool* pool, size_t bytes);

}  // namespace sim
