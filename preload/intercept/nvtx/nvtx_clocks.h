// Clocks of the program whose time stamps it reports: NVTX's time domains, timer sources and synchronisation points.
// What the program reports about them is kept, also before the recording starts. It is written to the log of a
// recording when one of their stamps comes, or when a synchronisation point is reported. The reader converts the
// stamps. It runs in the program.
#pragma once

#include "preload/format/events.h"
#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/intercept/nvtx/nvtx_objects.h"

#include <cstdint>

namespace prof::preload {

// A clock is named by a number: of a time domain, or NVTX's own number of a time stamp type (below nvtx::kFirstSchema).

// `wanted`: as for schemas (nvtx_schemas.h).
uint64_t nvtx_register_time_domain(NvtxObject* domain, const NvtxTimeDomainGiven* given, uint64_t wanted);

// The number in the time semantics of an entry or a counter. 0: they name none.
uint64_t nvtx_time_domain_of(const NvtxSemantics* semantics);

// The clock of stamps as the log names it. The function defines it in the log. `number` 0: the clock of the time domain
// that was registered for `scope`. Unknown: there is none. Queries a timer source unless it was queried in the last 10
// ms. The caller is inside a scope.
format::StampClock nvtx_stamp_clock(NvtxObject* domain, uint64_t number, uint64_t scope);

// Two clocks had these values at one moment. `slope`: units of `to` in one unit of `from`; 0: not given.
struct NvtxAgreement {
  uint64_t from = 0, to = 0;
  int64_t source = 0, destination = 0;
  double slope = 0;
};
void nvtx_sync_clocks(NvtxObject* domain, const NvtxAgreement& agreement);

// A function of the program that reads a clock. Exactly one of the two pointers is not null.
struct NvtxTimer {
  int64_t (*plain)() = nullptr;
  int64_t (*with_data)(void*) = nullptr;
  void* data = nullptr;
};
void nvtx_timer_source(NvtxObject* domain, uint64_t number, const NvtxTimer& timer);

}  // namespace prof::preload
