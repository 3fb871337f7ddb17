// Samples of hardware counters (PROF_SAMPLING): values of everything that a GPU did in an interval, whoever launched it.
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

// Metrics that are sampled together on one GPU. Rows of it are those of SampleTable from `first` to `last`.
struct SampledSet {
  DeviceId device{};
  std::vector<StringId> metrics;
  StringId chip{};
  int64_t interval_ns = 0;  // as asked for; 0: not known beforehand
  size_t first = 0, last = 0;
};

struct SampleRow {
  int64_t begin_ns = 0, end_ns = 0;
};

struct SampleTable {
  std::vector<SampledSet> sets;
  Column<SampleRow> rows;             // of a set together, by time; they do not overlap
  Column<double> values;              // NaN: no number
  std::vector<size_t> values_of_set;  // where those of its first row begin

  bool empty() const { return rows.empty(); }
  // Of a row of that set.
  std::span<const double> values_of(uint32_t set, size_t row) const {
    const size_t metrics = sets[set].metrics.size();
    return {values.data() + values_of_set[set] + (row - sets[set].first) * metrics, metrics};
  }
};

// How a metric's values are shown: as they are, or by the time that the sample took.
struct SampledUnit {
  std::string name;   // "DRAM read"; the metric's own name where it has no other
  std::string unit;   // "GB/s", "%", "GHz", "/s"; empty: a number
  double factor = 1;  // of a value, or of a value over ns
  bool per_ns = false;
  double of(double value, int64_t ns) const {
    return per_ns ? value / static_cast<double>(ns) * factor : value * factor;
  }
};
// Sums are shown as rates: bytes in GB/s. Percentages and rates are what they are.
SampledUnit sampled_unit(std::string_view metric);

}  // namespace prof::analyzer
