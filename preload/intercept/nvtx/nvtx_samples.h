// NVTX samples: what the program says about its own counters (see nvtx_events.h), one or many at once. In the program.
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
  bool stamped = false;  // the program says when it was taken
  uint64_t stamp = 0;
  uint64_t time_domain = 0;  // of which clock (nvtx_clocks.h)
  uint64_t scope = 0;        // 0: the counter's
};
void nvtx_sample(NvtxCounter* counter, const NvtxSampled& sampled);
void nvtx_sample_batch(NvtxObject* domain, const NvtxCounterBatchGiven* batch);

}  // namespace prof::preload
