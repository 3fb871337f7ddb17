// Hardware counters: values of launches and of ranges, and what they are about. From logs (PROF_COUNTERS) and from traces: those of
// torch.profiler with `profiler_metrics`, and our own.
//
// A launch whose GPU times were not collected because its counters were gets a GPU operation of its own: as long as
// gpu__time_duration.sum says, and placed where it may have run. The recorder waits before the launch and behind it, so it
// began after its launch did and ended before the next one began: it is put at the end of its launch call, or at the call's begin
// where it is longer than the call. A graph has one value for all that it holds: it becomes one operation, a graph as a whole.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/base/strings.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct Trace;

inline constexpr std::string_view kCounterTime = "gpu__time_duration.sum";  // ns
inline constexpr double kLongestKernelNs = 1e15;                            // eleven days: more is no time of a kernel

// Metrics that were measured together on the GPU of one context.
struct CounterSet {
  uint32_t process = 0;          // ProcessId; UINT32_MAX: not known
  uint32_t device = UINT32_MAX;  // ordinal; UINT32_MAX: not known
  std::vector<StringId> metrics;
  StringId chip{};
  uint32_t passes = 0;    // how often the work was run for all of them; 0: not known
  bool replayed = false;  // by CUPTI, kernel by kernel
};

struct CounterRow {
  uint32_t of = 0;     // row of Trace::host, of Trace::ranges or of CounterTable::unplaced
  uint32_t set = 0;    // of CounterTable::sets
  uint64_t first = 0;  // of CounterTable::values: as many as the set has metrics
};
static_assert(sizeof(CounterRow) == 16);

// What was measured and belongs to no row of the trace. It has no time: those that a trace writes are made up.
struct UnplacedWork {
  StringId name{};
  StringId why{};       // it has no launch
  bool kernel = false;  // else a part of the program
};

struct CounterTable {
  std::vector<CounterSet> sets;
  Column<CounterRow> launches, ranges;  // by `of`, each once
  Column<CounterRow> of_unplaced;       // likewise
  std::vector<UnplacedWork> unplaced;
  Column<double> values;  // as recorded: any double

  bool empty() const { return launches.empty() && ranges.empty() && of_unplaced.empty(); }
  std::span<const double> values_of(const CounterRow& row) const {
    return {values.data() + row.first, sets[row.set].metrics.size()};
  }
  // Null: it has none. O(log n).
  const CounterRow* of_launch(uint32_t host_row) const;
  const CounterRow* of_range(uint32_t range_row) const;
  // Of a row of Trace::operations: a kernel launched by itself, or a whole graph (in a trace of ours a kernel without a node).
  const CounterRow* of_operation(const Trace& trace, uint32_t operation) const;
};

// Rows as CounterTable promises them, of several about the same the first; counts those behind `before`, the rows of earlier inputs.
struct CounterMark {
  size_t launches = 0, ranges = 0;
};
void order_counters(Trace& trace, CounterMark before);

// Index of a metric in its set; UINT32_MAX: it is not in it.
uint32_t metric_index(const Trace& trace, const CounterSet& set, std::string_view name);

}  // namespace prof::analyzer
