// What happens when another profiler in the program enables, disables or requests something? Its request is noted
// (cupti_client.h), and CUPTI's own global setting is changed where the recorder does not need it as it is. The
// stand-ins of both APIs (intercept/cupti/cupti_stand_ins.cpp) use it, on the profiler's threads.
#pragma once

#include "preload/capture/cupti/cupti_client.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

using EnableKind = CUptiResult(CUPTIAPI*)(CUpti_ActivityKind kind);
using EnableCall = CUptiResult(CUPTIAPI*)(CUpti_CallbackId cbid, uint8_t enable);

// `real` is the function of CUPTI that the profiler called, or its equivalent in the global API.
CUptiResult request_kind(CuptiClient& client, CUpti_ActivityKind kind, EnableKind real);
CUptiResult release_kind(CuptiClient& client, CUpti_ActivityKind kind, EnableKind real);
// KIND_DRIVER or KIND_RUNTIME.
CUptiResult request_call(CuptiClient& client, CUpti_ActivityKind kind, uint32_t cbid, bool on, EnableCall real);
// Releases all its kinds. What was not flushed is not delivered, as CUPTI does when a profiler unsubscribes.
void release_everything(CuptiClient& client);
// cuptiFinalize delivers what it can.
void release_all_cupti_clients();

// The subscriber-scoped forms. Results are those of CUPTI 13.5.
CUptiResult register_subscriber(CuptiClient& client, CuptiRequestedV2 requested, CuptiCompletedV2 completed);
CUptiResult enable_for_subscriber(CuptiClient& client, CUpti_ActivityKind kind, const CuptiActivityConfig* config,
                                  EnableKind real);
CUptiResult enable_call_for_subscriber(CuptiClient& client, CUpti_ActivityKind kind, uint32_t cbid, bool on);
CUptiResult set_subscriber_attribute(CuptiClient& client, int attribute, size_t* size, void* value);
CUptiResult get_subscriber_attribute(const CuptiClient& client, int attribute, size_t* size, void* value);
CUptiResult next_record_of_subscriber(const CuptiClient& client, uint8_t* buffer, size_t valid,
                                      CUpti_Activity** record);
// Null: of all profilers.
CUptiResult enabled_kinds(const CuptiClient* client, CUpti_ActivityKind* kinds, const uint32_t* room, uint32_t* count);

}  // namespace prof::preload
