// Samples of hardware counters (PROF_SAMPLING): values over everything that a GPU did in an interval, whatever launched
// it.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/base/strings.h"
#include "analyzer/model/row_ids.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct Trace;

// Metrics that are sampled together on one GPU. Its rows are the rows of SampleTable from `first` to `last`.
struct SampledSet {
  DeviceId device{};
  std::vector<StringId> metrics;
  StringId chip{};
  int64_t interval_ns = 0;  // as requested; 0: unknown in advance
  size_t first = 0, last = 0;
};

struct SampleRow {
  int64_t begin_ns = 0, end_ns = 0;
};

struct SampleTable {
  std::vector<SampledSet> sets;
  Column<SampleRow> rows;             // grouped by set, ordered by time, without overlap
  Column<double> values;              // NaN: no number
  std::vector<size_t> values_of_set;  // index of the values of its first row

  bool empty() const { return rows.empty(); }
  // The values of a row of that set.
  std::span<const double> values_of(uint32_t set, size_t row) const {
    const size_t metrics = sets[set].metrics.size();
    return {values.data() + values_of_set[set] + (row - sets[set].first) * metrics, metrics};
  }
};

// How a metric's values are shown: unchanged, or divided by the duration of the sample.
struct SampledUnit {
  std::string name;   // "DRAM read"; else the metric's own name
  std::string unit;   // "GB/s", "%", "GHz", "/s"; empty: a number
  double factor = 1;  // of a value, or of a value divided by ns
  bool per_ns = false;
  double of(double value, int64_t ns) const {
    return per_ns ? value / static_cast<double>(ns) * factor : value * factor;
  }
};
// Sums are shown as rates: bytes in GB/s. Percentages and rates are unchanged.
SampledUnit sampled_unit(std::string_view metric);

}  // namespace prof::analyzer
