// NVTX samples: values of the program's own counters (format/nvtx_events.h), one or many at once. It runs in the
// program.
#pragma once

#include "preload/format/nvtx_events.h"
#include "preload/intercept/nvtx/nvtx_record.h"

#include <cstdint>
#include <string_view>

namespace prof::preload {

struct NvtxSampled {
  format::SampleForm form{};
  uint64_t value = 0;
  std::string_view data;
  bool stamped = false;  // the program gives the time of the sample
  uint64_t stamp = 0;
  uint64_t time_domain = 0;  // the clock of that time (nvtx_clocks.h)
  uint64_t scope = 0;        // 0: the scope of the counter
};
void nvtx_sample(NvtxCounter* counter, const NvtxSampled& sampled);
void nvtx_sample_batch(NvtxObject* domain, const NvtxCounterBatchGiven* batch);

}  // namespace prof::preload
