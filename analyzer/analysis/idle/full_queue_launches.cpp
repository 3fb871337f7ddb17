#include "analyzer/analysis/idle/full_queue_launches.h"

namespace prof::analyzer {

FullQueueLaunches::FullQueueLaunches(const Trace& trace, const Views& views) : trace_(trace), views_(views) {
  std::vector<bool> wanted(trace.apis.size());
  bool any = false;
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    if (trace.host[row].is_launch() && deep(row)) any = wanted[trace.host[row].api()] = true;
  }
  if (!any) return;
  long_.emplace(trace, wanted);
}

}  // namespace prof::analyzer
