// Which records of a completed buffer do other profilers in the program get (cupti_client.h)? cupti_front.cpp uses
// it, in the program.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Copies the records that each profiler wants from a completed buffer. Their callbacks may call this library.
void hand_to_cupti_clients(CUcontext context, uint32_t stream, uint8_t* buffer, size_t valid_bytes);

// CUPTI requested a buffer: requests one from each subscriber that collects, at the moment at which CUPTI would.
void request_spares_from_subscribers();

// CUPTI requests a buffer on a thread that launches: notes what this thread is called, for profilers that are there
// while nothing is recorded. Recorded threads are known (record/thread.h).
void note_cupti_thread();

}  // namespace prof::preload
