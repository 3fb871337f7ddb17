// What do other profilers in the same process (torch.profiler, JAX's, a tool of CUDA_INJECTION64_PATH) request from
// CUPTI, and how do they get their records? Their callbacks are not registered with CUPTI. The recorder reads each
// buffer that CUPTI completes, and then copies it record by record into a buffer of the profiler. The copy has the
// kinds that the profiler enabled, from enabling to disabling, with times of its clock and its kind of thread ids.
//
//   CUPTI -> our buffer -> log
//                      \-> requested() of the other profiler -> its buffer -> completed()
//
// There are two APIs. The global one has one registration for the process. In the subscriber-scoped one ("V2", CUPTI
// 13.2 and newer) each subscriber has its own callbacks, kinds, attributes and fields of records
// (cupti_client_subscriber.h). CUPTI itself is used by the global one only, whatever the profilers use, because it
// refuses a mixture. To them CUPTI behaves as it does alone: one API excludes the other (enter_cupti_scope()).
//
// While a profiler collects, one more buffer is requested from it, as CUPTI would hold one: torch.profiler flushes
// only if it gave one away.
//
// The stand-ins (intercept/cupti/) change the state on the profilers' threads. The thread that completes a buffer reads
// it. All words are atomic and nothing waits.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"
#include "preload/capture/cupti/cupti_subscriber_types.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// One registration: the global one, or that of one subscriber.
struct CuptiClient;
CuptiClient& global_cupti_client();
// Null: it is not a handle of a subscriber.
CuptiClient* cupti_client_of(CUpti_SubscriberHandle handle);
// A profiler subscribed. Beyond a few subscribers at once, the others have no client.
void add_cupti_subscriber(CUpti_SubscriberHandle handle, bool several);
// It unsubscribed: clears everything that it requested.
void remove_cupti_subscriber(CUpti_SubscriberHandle handle);

// Which of the two APIs the profilers use. CUPTI refuses the other one: the subscriber-scoped one until cuptiFinalize,
// the global one until the subscriber unsubscribed (measured, CUPTI 13.5).
enum class CuptiScope : uint32_t { None, Global, Subscribers };
// False: the other one is in use.
bool enter_cupti_scope(CuptiScope scope);
bool cupti_scope_is(CuptiScope scope);
// Whether the global API enabled a kind since cuptiFinalize.
bool global_api_enabled_kinds();

// The functions that it registered. The first registration is written to the log.
void set_cupti_client(CuptiClient& client, CUpti_BuffersCallbackRequestFunc requested,
                      CUpti_BuffersCallbackCompleteFunc completed);
void set_cupti_client(CuptiClient& client, CuptiRequestedV2 requested, CuptiCompletedV2 completed);

// Times for it: its own clock, or null for CUPTI's default, CLOCK_REALTIME in ns (measured: CUPTI 13.0, also before
// cuInit).
using TimestampFunction = uint64_t (*)();
void set_cupti_client_clock(CuptiClient& client, TimestampFunction clock);
TimestampFunction cupti_client_clock(const CuptiClient& client);
uint64_t cupti_client_now(const CuptiClient& client);

// False (CUPTI's default): pthread_self() instead of the system's thread id.
void set_cupti_client_system_thread_ids(CuptiClient& client, bool system);
bool cupti_client_has_system_thread_ids(const CuptiClient& client);

// Enables from now on, disables from now on. KIND_KERNEL is made from the records of CONCURRENT_KERNEL, because CUPTI
// cannot collect both.
void enable_for_cupti_client(CuptiClient& client, CUpti_ActivityKind kind);
void disable_for_cupti_client(CuptiClient& client, CUpti_ActivityKind kind);
// Selects records of one function instead of all of KIND_DRIVER or KIND_RUNTIME.
void enable_call_for_cupti_client(CuptiClient& client, CUpti_ActivityKind kind, uint32_t cbid, bool on);
bool cupti_client_uses(const CuptiClient& client, CUpti_ActivityKind kind);
// Whether it collects anything. If so, driver calls of our own would appear in its records.
bool cupti_client_active(const CuptiClient& client);
// Records that CUPTI dropped since the last call.
uint64_t cupti_dropped_for_client(CuptiClient& client);

// The same for all profilers together.
bool cupti_client_uses(CUpti_ActivityKind kind);
bool cupti_client_active();
bool cupti_client_known();  // whether one registered callbacks
void count_dropped_for_cupti_clients(uint64_t dropped);

// Returns the buffers that were requested before any record, once the profiler collects nothing; to a subscriber in any
// case. Called after a flush.
void return_spares_to_cupti_clients();

// cuptiFinalize: clears everything that profilers requested, as if they had never existed.
void reset_cupti_clients();

}  // namespace prof::preload
