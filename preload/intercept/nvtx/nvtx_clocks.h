// Clocks of the program's own, of which it gives time stamps: NVTX's time domains, timer sources and synchronisation points. What the
// program says of them is kept, also before the recording, and written into a life's log when a stamp of theirs comes or they are said to
// agree with another clock; converting is the reader's. In the program.
#pragma once

#include "preload/format/events.h"
#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/intercept/nvtx/nvtx_objects.h"

#include <cstdint>

namespace prof::preload {

// A clock is named by a number: of a time domain, or NVTX's own of a type of time stamps (below nvtx::kFirstSchema).

// `wanted`: as of schemas (nvtx_schemas.h).
uint64_t nvtx_register_time_domain(NvtxObject* domain, const NvtxTimeDomainGiven* given, uint64_t wanted);

// The number in an entry's or counter's time semantics; 0: they name none.
uint64_t nvtx_time_domain_of(const NvtxSemantics* semantics);

// The clock of stamps as the log names it, defined there. `number` 0: that of the time domain which was registered for `scope`.
// Unknown: there is none. Asks a timer source what time it is, if it was not asked in the last 10 ms. The caller is inside a scope.
format::StampClock nvtx_stamp_clock(NvtxObject* domain, uint64_t number, uint64_t scope);

// Two clocks showed these numbers at one moment. `slope`: units of `to` in one of `from`; 0: not told.
struct NvtxAgreement {
  uint64_t from = 0, to = 0;
  int64_t source = 0, destination = 0;
  double slope = 0;
};
void nvtx_sync_clocks(NvtxObject* domain, const NvtxAgreement& agreement);

// A function of the program's that reads a clock; exactly one of the two is not null.
struct NvtxTimer {
  int64_t (*plain)() = nullptr;
  int64_t (*with_data)(void*) = nullptr;
  void* data = nullptr;
};
void nvtx_timer_source(NvtxObject* domain, uint64_t number, const NvtxTimer& timer);

}  // namespace prof::preload
