// Values of hardware counters as members of `args`, as Kineto writes them for its profiler ranges:
// "dram__bytes_read.sum":2048.
#pragma once

#include "analyzer/base/json/json_text.h"
#include "analyzer/model/trace.h"

#include <cmath>
#include <string>

namespace prof::analyzer {

// Appends ,"METRIC":VALUE for each value that is a finite number; JSON has no others. Appends nothing if `row` is null.
inline void append_counter_members(const Trace& trace, const CounterRow* row, std::string& to) {
  if (row == nullptr) return;
  const CounterSet& set = trace.counters.sets[row->set];
  for (size_t i = 0; i < set.metrics.size(); ++i) {
    const double value = trace.counters.values_of(*row)[i];
    if (!std::isfinite(value)) continue;
    char number[32];
    ((to += ',') += json_string(trace.text(set.metrics[i]))) += ':';
    to.append(number, put_double(number, value));
  }
}

}  // namespace prof::analyzer
