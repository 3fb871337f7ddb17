// In the builder: which call was a record written about? Such a record has the tick of the end of its call. Both ticks
// went through the same clock, so the times are equal, not approximately equal.
#pragma once

#include "analyzer/model/trace.h"

#include <algorithm>
#include <cstdint>

namespace prof::analyzer {

// The last `wanted` row of the thread that ended at that moment and had begun by then; kNone if there is none. Calls
// that enclose it end later.
template <class Wanted>
uint32_t call_that_ended(const Trace& trace, const Thread& thread, int64_t end_ns, Wanted&& wanted) {
  const HostEvent* const first = trace.host.data() + thread.host.first;
  const HostEvent* at = std::upper_bound(first, trace.host.data() + thread.host.last, end_ns,
                                         [](int64_t t, const HostEvent& event) { return t < event.begin_ns; });
  constexpr int kNested = 64;  // maximum number of nested calls between; no search goes further back
  for (int steps = 0; at != first && steps < kNested; ++steps) {
    --at;
    if (at->end_ns == end_ns && wanted(*at)) return static_cast<uint32_t>(at - trace.host.data());
  }
  return kNone;
}

inline uint32_t call_that_ended(const Trace& trace, const Thread& thread, int64_t end_ns) {
  return call_that_ended(trace, thread, end_ns, [](const HostEvent&) { return true; });
}

}  // namespace prof::analyzer
