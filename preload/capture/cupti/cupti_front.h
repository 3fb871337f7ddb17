// How is libcupti shared with another profiler? There is one registration: the clock, the thread ids and the buffers
// are ours, whoever called first. cupti_client.h stores what another profiler registers, and every record goes to both.
// All of capture/ and hardware_counters/ use it, in the program. It never holds a lock while it calls CUPTI.
//
//   Closed -> Opening -> Open         opened by the first launch (capture/gpu_activity.cpp) or by another profiler's
//                                     first call
//                    \-> Closed       the library is unusable for us: calls of others reach it unchanged
//   Open -> Abandoned                 the child of a fork: CUPTI is not called again
#pragma once

#include "preload/capture/cupti/cupti_buffers.h"
#include "preload/capture/cupti/cupti_library.h"

#include <atomic>

namespace prof::preload {

extern CuptiLibrary g_cupti;  // constant once the front is open; `reason`: why it is not
extern CuptiBuffers g_cupti_buffers;

bool cupti_front_open();
bool cupti_front_abandoned();  // in the child of a fork
// The contents of a buffer that CUPTI completed.
struct ReadCounts {
  uint64_t operations = 0;  // kernels, copies, fills and whole graphs with valid times
  uint64_t calls = 0;       // driver and runtime calls
};
// Writes its records to the log; called inside a scope that records (capture/cupti_records.h).
using ReadCuptiBuffer = ReadCounts (*)(const Cupti& api, uint32_t version, uint8_t* buffer, size_t valid_bytes,
                                       void* scratch);
// Finds a CUPTI that fits the driver (find_cupti) and registers with it. False: g_cupti.reason contains the cause.
bool open_cupti_front(const char* named, int driver_version, ReadCuptiBuffer read);
// The same, with the library that `function` belongs to.
bool open_cupti_front_for(const void* function, ReadCuptiBuffer read);
// Whether the front is open and `function` belongs to its library.
bool cupti_front_has(const void* function);

// Adds the records that CUPTI dropped since the last call to the log's loss counter.
void count_cupti_dropped();

// Called in the child of a fork.
void abandon_cupti_front();

}  // namespace prof::preload
