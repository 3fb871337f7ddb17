// Another profiler in the same process (torch.profiler, JAX's, a tool of CUDA_INJECTION64_PATH): what it asked CUPTI for, and how it
// gets it. Its callbacks are not registered with CUPTI; each buffer that CUPTI completes is read by us and then copied into a
// buffer of its own, record by record: the kinds it enabled, from when it enabled them until it disabled them, with times of
// its clock and thread ids of its sort.
//
//   CUPTI -> our buffer -> log
//                      \-> requested() of the other profiler -> its buffer -> completed()
//
// While it collects it has been asked for one buffer more, as CUPTI would hold one: torch.profiler flushes only if it gave one away.
//
// Changed by the stand-ins (intercept/cupti/cupti_stand_ins.cpp) on the other profiler's threads, read on whatever thread a buffer is
// completed: all words are atomic, nothing waits.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// The functions it registered; its first registration is told in the log.
void set_cupti_client(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed);

// Times for it: its own clock, or null for CUPTI's default, CLOCK_REALTIME in ns (measured: CUPTI 13.0, also before cuInit).
using TimestampFunction = uint64_t (*)();
void set_cupti_client_clock(TimestampFunction clock);
uint64_t cupti_client_now();

// False (CUPTI's default): the low half of pthread_self() instead of the system's thread id.
void set_cupti_client_system_thread_ids(bool system);
bool cupti_client_has_system_thread_ids();

// From now on, or until now. KIND_KERNEL comes out of the records of CONCURRENT_KERNEL, which cannot be had together.
void enable_for_cupti_client(CUpti_ActivityKind kind);
void disable_for_cupti_client(CUpti_ActivityKind kind);
// One function's records instead of all of KIND_DRIVER or KIND_RUNTIME.
void enable_call_for_cupti_client(CUpti_ActivityKind kind, uint32_t cbid, bool on);
bool cupti_client_uses(CUpti_ActivityKind kind);
// Whether it collects anything: driver calls of our own would show up in its records.
bool cupti_client_active();

// Whether it registered anything.
bool cupti_client_known();

// Gives the buffer back that it was asked for ahead of any record, once it collects nothing: behind a flush.
void return_spare_to_cupti_client();

// cuptiFinalize: it wants nothing any more and everything is as if it had never been there.
void reset_cupti_client();

}  // namespace prof::preload
