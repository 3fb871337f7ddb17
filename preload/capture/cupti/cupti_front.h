// The one registration with libcupti: its clock, its thread ids and the buffers it fills are ours, whoever asked first. What
// another profiler registers is kept in cupti_client.h, and every record goes to both. In the program; no lock is held while
// CUPTI is called.
//
//   Closed -> Opening -> Open            opened by the first launch (capture/gpu_activity.cpp) or by another profiler's first call
//                    \-> Closed          the library is unusable for us: others' calls reach it as they are
//   Open -> Abandoned                    the child of a fork: CUPTI is not touched again
#pragma once

#include "preload/capture/cupti/cupti_buffers.h"
#include "preload/capture/cupti/cupti_library.h"

#include <atomic>

namespace prof::preload {

extern CuptiLibrary g_cupti;  // constant once the front is open; its `reason` says why it is not
extern CuptiBuffers g_cupti_buffers;

bool cupti_front_open();
// What was in a buffer that CUPTI completed.
struct ReadCounts {
  uint64_t operations = 0;  // kernels, copies, fills and whole graphs with valid times
  uint64_t calls = 0;       // driver and runtime calls
};
// Writes its records into the log; called inside a scope that records (capture/cupti_records.h).
using ReadCuptiBuffer = ReadCounts (*)(const Cupti& api, uint32_t version, uint8_t* buffer, size_t valid_bytes,
                                       void* scratch);
// Finds a CUPTI that fits the driver (find_cupti) and registers with it. False: g_cupti.reason.
bool open_cupti_front(const char* named, int driver_version, ReadCuptiBuffer read);
// The same with the library that `function` belongs to.
bool open_cupti_front_for(const void* function, ReadCuptiBuffer read);
// Whether the front is open and `function` belongs to its library.
bool cupti_front_has(const void* function);

// Adds what CUPTI says it dropped since the last time to the log's counter.
void count_cupti_dropped();
// Dropped records since the other profiler last asked.
uint64_t cupti_dropped_for_client();

// The child of a fork.
void abandon_cupti_front();

}  // namespace prof::preload
