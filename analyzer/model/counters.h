// Hardware counters: values of launches and of NVTX ranges (PROF_COUNTERS), and what they are about. Only logs have them.
//
// A launch whose GPU times were not collected because its counters were gets a GPU operation of its own: as long as
// gpu__time_duration.sum says, and placed where it may have run. The recorder waits before the launch and behind it, so it
// began after its launch did and ended before the next one began: it is put at the end of its launch call, or at the call's begin
// where it is longer than the call. A graph has one value for all that it holds: it becomes one operation, a graph as a whole.
#pragma once

#include "analyzer/model/column.h"
#include "analyzer/model/strings.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct Trace;

inline constexpr std::string_view kCounterTime = "gpu__time_duration.sum";  // ns

// Metrics that were measured together on the GPU of one context.
struct CounterSet {
  uint32_t process = 0;          // ProcessId
  uint32_t device = UINT32_MAX;  // ordinal; UINT32_MAX: not known
  std::vector<StringId> metrics;
  StringId chip{};
  uint32_t passes = 0;    // how often the work was run for all of them
  bool replayed = false;  // by CUPTI, kernel by kernel
};

struct CounterRow {
  uint32_t of = 0;     // row of Trace::host or of Trace::ranges
  uint32_t set = 0;    // of CounterTable::sets
  uint64_t first = 0;  // of CounterTable::values: as many as the set has metrics
};
static_assert(sizeof(CounterRow) == 16);

struct CounterTable {
  std::vector<CounterSet> sets;
  Column<CounterRow> launches, ranges;  // by `of`, each once
  Column<double> values;                // as recorded: any double

  bool empty() const { return launches.empty() && ranges.empty(); }
  std::span<const double> values_of(const CounterRow& row) const {
    return {values.data() + row.first, sets[row.set].metrics.size()};
  }
  // Null: it has none. O(log n).
  const CounterRow* of_launch(uint32_t host_row) const;
  const CounterRow* of_range(uint32_t range_row) const;
  // Of a row of Trace::operations: a kernel launched by itself, or a whole graph.
  const CounterRow* of_operation(const Trace& trace, uint32_t operation) const;
};

// Index of a metric in its set; UINT32_MAX: it is not in it.
uint32_t metric_index(const Trace& trace, const CounterSet& set, std::string_view name);

}  // namespace prof::analyzer
