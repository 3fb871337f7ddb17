// What are the counters in the counter page, their severities and their meanings? The rows are in loss_counters.def.
// The recorder counts by LossCounter; the reader finds a counter by its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::format {

enum class Severity : uint8_t { Info, Partial, Loss };
enum class Missing : uint8_t { Nothing, Calls, GpuRecords, Other };

enum class LossCounter : uint32_t {
#define PROF_COUNTER(name, severity, missing, help) name,
#include "preload/format/loss_counters.def"
#undef PROF_COUNTER
};

struct CounterInfo {
  std::string_view name;
  Severity severity;
  Missing missing;
  std::string_view help;
};

inline constexpr CounterInfo kCounters[] = {
#define PROF_COUNTER(name, severity, missing, help) {#name, Severity::severity, Missing::missing, help},
#include "preload/format/loss_counters.def"
#undef PROF_COUNTER
};
inline constexpr size_t kCounterCount = sizeof(kCounters) / sizeof(kCounters[0]);

constexpr const CounterInfo& counter_info(LossCounter counter) { return kCounters[static_cast<uint32_t>(counter)]; }

// Returns null if this release does not have the counter.
constexpr const CounterInfo* find_counter(std::string_view name) {
  for (const CounterInfo& info : kCounters) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace prof::format
