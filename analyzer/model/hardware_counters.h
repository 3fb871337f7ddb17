// Hardware counters: the values of launches and ranges. From logs (PROF_COUNTERS) and from traces: those of
// torch.profiler with `profiler_metrics`, and prof's own.
//
// A launch without GPU times, because its hardware counters were collected, gets a GPU operation. Its duration is
// gpu__time_duration.sum, and its position is where it may have run. The recorder waits before and after the launch, so
// the operation began after its launch and ended before the next launch. It is placed at the end of its launch call, or
// at the call's start if it is longer than the call. A graph has one value for all its nodes and becomes one operation,
// a graph as a whole.
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
inline constexpr double kLongestKernelNs = 1e15;                            // eleven days: no kernel takes longer

// Metrics that were measured together on the GPU of one context.
struct CounterSet {
  uint32_t process = 0;          // ProcessId; UINT32_MAX: unknown
  uint32_t device = UINT32_MAX;  // ordinal; UINT32_MAX: unknown
  std::vector<StringId> metrics;
  StringId chip{};
  uint32_t passes = 0;    // number of passes needed for all metrics; 0: unknown
  bool replayed = false;  // by CUPTI, kernel by kernel
};

struct CounterRow {
  uint32_t of = 0;     // row of Trace::host, of Trace::ranges or of CounterTable::unplaced
  uint32_t set = 0;    // index into CounterTable::sets
  uint64_t first = 0;  // index into CounterTable::values: one value per metric of the set
};
static_assert(sizeof(CounterRow) == 16);

// A measurement that belongs to no row of the trace. It has no time: times in a trace are made up.
struct UnplacedWork {
  StringId name{};
  StringId why{};       // reason why there is no launch
  bool kernel = false;  // false: a section of the program
};

struct CounterTable {
  std::vector<CounterSet> sets;
  Column<CounterRow> launches, ranges;  // sorted by `of`, without duplicates
  Column<CounterRow> of_unplaced;       // sorted by `of`, without duplicates
  std::vector<UnplacedWork> unplaced;
  Column<double> values;  // as recorded: any double

  bool empty() const { return launches.empty() && ranges.empty() && of_unplaced.empty(); }
  std::span<const double> values_of(const CounterRow& row) const {
    return {values.data() + row.first, sets[row.set].metrics.size()};
  }
  // Null: there is none. O(log n).
  const CounterRow* of_launch(uint32_t host_row) const;
  const CounterRow* of_range(uint32_t range_row) const;
  // For a row of Trace::operations: a kernel launched on its own, or a whole graph (in a trace of prof a kernel without
  // a node).
  const CounterRow* of_operation(const Trace& trace, uint32_t operation) const;
};

// Brings rows into CounterTable's order and removes duplicates, keeping the first. Counts the rows after `before`, the
// rows of earlier inputs, in Coverage.
struct CounterMark {
  size_t launches = 0, ranges = 0;
};
void order_counters(Trace& trace, CounterMark before);

// Index of a metric in its set; UINT32_MAX: not in the set.
uint32_t metric_index(const Trace& trace, const CounterSet& set, std::string_view name);

}  // namespace prof::analyzer
