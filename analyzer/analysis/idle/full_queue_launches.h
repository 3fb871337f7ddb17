// Which launches were blocked because the queue was full? The driver accepts about a thousand operations per stream. A
// launch into a full queue returns when an operation has ended. Called by queue-depth and the gap model.
#pragma once

#include "analyzer/analysis/views.h"
#include "analyzer/dependencies/long_launches.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>

namespace prof::analyzer {

class FullQueueLaunches {
 public:
  FullQueueLaunches(const Trace& trace, const Views& views);

  // The launch began with 1,000 or more operations outstanding on its stream, and took longer than five times the
  // median of the launch calls of its name.
  bool held(uint32_t host_row) const { return long_ && long_->is_long(trace_.host[host_row]) && deep(host_row); }

 private:
  bool deep(uint32_t host_row) const {
    const LaunchDepth depth = views_.depth().at_launch()[host_row];
    return depth.known() && depth.outstanding >= kQueueFullFrom;
  }

  const Trace& trace_;
  const Views& views_;
  std::optional<LongLaunches> long_;  // empty: no queue was that deep
};

}  // namespace prof::analyzer
