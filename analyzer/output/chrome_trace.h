// A trace for ui.perfetto.dev, chrome://tracing and every reader of torch.profiler's traces: Kineto's schema. Streamed;
// called by `prof trace`. Times are microseconds with three decimals since the first record (baseTimeNanoseconds).
//
// Unless `plain`, every launch also says the queue depth it met and the NVTX ranges it was made in, and counter tracks show
// the depth of every stream and how busy every GPU was.
#pragma once

#include "analyzer/model/names.h"
#include "analyzer/model/queue_depth.h"
#include "analyzer/model/trace.h"
#include "analyzer/output/sink.h"

#include <string>

namespace prof::analyzer {

struct ChromeTraceOptions {
  bool plain = false;
  std::string name;  // traceName
};

struct ChromeTraceResult {
  uint64_t events = 0;
};

ChromeTraceResult write_chrome_trace(const Trace& trace, const KernelNames& names, const QueueDepth& depth,
                                     const ChromeTraceOptions& options, Sink& sink);

}  // namespace prof::analyzer
