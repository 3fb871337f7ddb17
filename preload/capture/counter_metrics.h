// What does PROF_COUNTERS mean on one chip? The metrics of a set that the chip has (counter_sets.def), or those of the list. In the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::preload {

// What a chip knows of a metric's name without its suffix.
enum class MetricKind { Unknown, Counter, Other };  // Other: a ratio or a throughput, of which a suffix picks one
struct ChipMetrics {
  MetricKind (*kind)(const void* chip, std::string_view name);
  const void* chip;
};

struct CounterMetrics {
  static constexpr uint32_t kMost = 64;
  const char* names[kMost] = {};  // with suffix, as CUPTI wants them; the first is gpu__time_duration.sum
  uint32_t count = 0;
  char text[kMost * 96] = {};
  size_t used = 0;
  std::string_view wrong;  // the name that the reason is about
};

// Null, or why not. `wanted` is what PROF_COUNTERS says and outlives `into`.
const char* choose_metrics(std::string_view wanted, const ChipMetrics& chip, CounterMetrics& into);

}  // namespace prof::preload
