// Names of the counters in the counter page; the list is loss_counters.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::format {

enum class Severity : uint8_t { Info, Partial, Loss };

enum class Counter : uint32_t {
#define PROF_COUNTER(name, severity, help) name,
#include "preload/format/loss_counters.def"
#undef PROF_COUNTER
};

struct CounterInfo {
  std::string_view name;
  Severity severity;
  std::string_view help;
};

inline constexpr CounterInfo kCounters[] = {
#define PROF_COUNTER(name, severity, help) {#name, Severity::severity, help},
#include "preload/format/loss_counters.def"
#undef PROF_COUNTER
};
inline constexpr size_t kCounterCount = sizeof(kCounters) / sizeof(kCounters[0]);

}  // namespace prof::format
