// Which metrics does PROF_COUNTERS or PROF_SAMPLING select on one chip? They are the metrics of a set that the chip has
// (counter_sets.def, sampling_sets.def), or those of the list. counter_host.cpp uses it, in the program. It never
// allocates.
#pragma once

#include "preload/base/options.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::preload {

// What a chip has under a metric's name without its suffix.
enum class MetricKind { Unknown, Counter, Other };  // Other: a ratio or a throughput, which needs a suffix
struct ChipMetrics {
  MetricKind (*kind)(const void* chip, std::string_view name);
  const void* chip;
};

struct CounterMetrics {
  static constexpr uint32_t kMost = 64;
  const char* names[kMost] = {};  // with suffix, as CUPTI expects them
  uint32_t count = 0;
  uint64_t by_name = 0;  // bit i: names[i] is in the list itself, not only in a set
  char text[kMost * 96] = {};
  size_t used = 0;
  std::string_view wrong;  // the name that the reason is about
};

// Named sets of metrics, as an option offers them.
struct SetMetric {
  uint32_t sets;  // as in WantedMetrics::Item
  std::string_view name, suffix;
};
struct MetricSets {
  const SetMetric* metrics;  // the most important first
  uint32_t count;
  std::string_view first;  // a counter at the start of every list; empty: none
};
extern const MetricSets kLaunchSets;   // PROF_COUNTERS
extern const MetricSets kSampledSets;  // PROF_SAMPLING

// Writes the names, one a line as in the log, to `to`, which has room for metrics.text.
std::string_view join_names(const CounterMetrics& metrics, char* to);

// Null, or the reason for the refusal. `wanted` is the value of the option and must outlive `into`.
const char* choose_metrics(const option::WantedMetrics& wanted, const MetricSets& sets, const ChipMetrics& chip,
                           CounterMetrics& into);

}  // namespace prof::preload
