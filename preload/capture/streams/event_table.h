// Which launch number of which stream an event of the program stands behind. Fixed table, lock-free; where it is full an
// event is simply not known, and the depth stays an upper bound.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

bool open_event_table(uint64_t ended);
void remember_event(CUevent event, uint32_t stream_slot, uint64_t launched);
bool find_event(CUevent event, uint32_t& stream_slot, uint64_t& launched);  // false: never recorded, or forgotten
void erase_event(CUevent event);

}  // namespace prof::preload
