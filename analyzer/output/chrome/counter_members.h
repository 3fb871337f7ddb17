// Values of hardware counters as members of `args`, as Kineto writes them for its profiler ranges:
// "dram__bytes_read.sum":2048.
#pragma once

#include "analyzer/model/trace.h"
#include "analyzer/output/chrome/event_list.h"

#include <cmath>

namespace prof::analyzer {

// Adds a member for each value that is a finite number; JSON has no others. Adds nothing if `row` is null.
inline void add_counter_members(const Trace& trace, const CounterRow* row, EventList& events, EventMembers& to) {
  if (row == nullptr) return;
  const CounterSet& set = trace.counters.sets[row->set];
  for (size_t i = 0; i < set.metrics.size(); ++i) {
    const double value = trace.counters.values_of(*row)[i];
    if (!std::isfinite(value)) continue;
    to.add_double(events.key(trace.text(set.metrics[i])), value);
  }
}

}  // namespace prof::analyzer
