// Which launches were held because the queue was full? The driver takes about a thousand operations a stream (1,021 to 1,023
// were seen, some 995 with several streams); a launch into a full queue returns when one has finished. Called by queue-depth
// and the gap model.
#pragma once

#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

class QueueFull {
 public:
  static constexpr uint32_t kFullFrom = 1000;  // outstanding operations of the stream
  static constexpr int64_t kLongFactor = 5;    // times the median call of that name

  QueueFull(const Trace& trace, const Views& views);

  // The launch was entered with 1,000 or more operations outstanding on its stream and took longer than five times the
  // median of the launch calls of its name.
  bool held(uint32_t host_row) const {
    const HostEvent& event = trace_.host[host_row];
    return !limit_ns_.empty() && event.is_launch() && event.duration_ns() > limit_ns_[event.api()] && deep(host_row);
  }

 private:
  bool deep(uint32_t host_row) const {
    const LaunchDepth depth = views_.depth().at_launch()[host_row];
    return depth.known() && depth.outstanding >= kFullFrom;
  }

  const Trace& trace_;
  const Views& views_;
  std::vector<int64_t> limit_ns_;  // api -> five medians; empty: no queue was ever that deep
};

}  // namespace prof::analyzer
