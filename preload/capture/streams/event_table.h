// After which launch number of which stream was an event of the program recorded? streams.cpp uses it. The table is
// fixed and lock-free. If it is full, the event is not known, and the depth stays an upper bound.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

bool open_event_table(uint64_t ended);
void remember_event(CUevent event, uint32_t stream_slot, uint64_t launched);
bool find_event(CUevent event, uint32_t& stream_slot, uint64_t& launched);  // false: never recorded, or not stored
void erase_event(CUevent event);

}  // namespace prof::preload
