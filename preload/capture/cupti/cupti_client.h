// What does another profiler in the same process (torch.profiler, JAX's, a tool of CUDA_INJECTION64_PATH) request from
// CUPTI, and how does it get its records? Its callbacks are not registered with CUPTI. The recorder reads each buffer
// that CUPTI completes, and then copies it record by record into a buffer of that profiler. The copy has the kinds that
// the profiler enabled, from enabling to disabling, with times of its clock and its kind of thread ids.
//
//   CUPTI -> our buffer -> log
//                      \-> requested() of the other profiler -> its buffer -> completed()
//
// While the profiler collects, one more buffer is requested from it, as CUPTI would hold one: torch.profiler flushes
// only if it gave one away.
//
// The stand-ins (intercept/cupti/cupti_stand_ins.cpp) change the state on the other profiler's threads. The thread that
// completes a buffer reads it. All words are atomic and nothing waits.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// The functions that it registered. The first registration is written to the log.
void set_cupti_client(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed);

// Times for it: its own clock, or null for CUPTI's default, CLOCK_REALTIME in ns (measured: CUPTI 13.0, also before
// cuInit).
using TimestampFunction = uint64_t (*)();
void set_cupti_client_clock(TimestampFunction clock);
uint64_t cupti_client_now();

// False (CUPTI's default): the low half of pthread_self() instead of the system's thread id.
void set_cupti_client_system_thread_ids(bool system);
bool cupti_client_has_system_thread_ids();

// Enables from now on, disables from now on. KIND_KERNEL is made from the records of CONCURRENT_KERNEL, because CUPTI
// cannot collect both.
void enable_for_cupti_client(CUpti_ActivityKind kind);
void disable_for_cupti_client(CUpti_ActivityKind kind);
// Selects records of one function instead of all of KIND_DRIVER or KIND_RUNTIME.
void enable_call_for_cupti_client(CUpti_ActivityKind kind, uint32_t cbid, bool on);
bool cupti_client_uses(CUpti_ActivityKind kind);
// Whether it collects anything. If so, driver calls of our own would appear in its records.
bool cupti_client_active();

// Whether it registered callbacks.
bool cupti_client_known();

// Returns the buffer that was requested before any record, once the profiler collects nothing. Called after a flush.
void return_spare_to_cupti_client();

// cuptiFinalize: clears everything that the profiler requested, as if it had never existed.
void reset_cupti_client();

}  // namespace prof::preload
