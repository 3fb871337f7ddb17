// After which place of which stream was an event of the program recorded? streams.cpp uses it. The table is fixed and
// lock-free. If it is full, the event is not known, and the depth stays an upper bound.
#pragma once

#include "preload/capture/streams/stream_table.h"

#include <cuda.h>

namespace prof::preload {

bool open_event_table(uint64_t ended);
void remember_event(CUevent event, const EventPoint& point);
EventPoint find_event(CUevent event);  // not known: never recorded, not stored, or forgotten
void forget_event(CUevent event);      // not known until it is remembered again
void share_event(CUevent event);       // never known again, because not only recorded calls of this process record it
void erase_event(CUevent event);       // destroyed: the next event with this handle is another one

}  // namespace prof::preload
