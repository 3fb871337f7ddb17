#include "analyzer/command/counter_list.h"

#include "preload/format/option_values.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

namespace {

namespace option = format::option;
constexpr uint32_t bit(option::CounterSet set) { return option::SomeOf<option::CounterSet>::bit(set); }
constexpr uint32_t kMemory = bit(option::CounterSet::Memory), kTensor = bit(option::CounterSet::Tensor),
                   kRoofline = bit(option::CounterSet::Roofline);
struct SetMetric {
  uint32_t sets;
  std::string_view name;
};
constexpr SetMetric kMetrics[] = {
#define PROF_COUNTER_METRIC(sets, metric) {sets, #metric ".sum"},
#include "preload/format/counter_sets.def"
#undef PROF_COUNTER_METRIC
};

// The description of a set, by its word in PROF_COUNTERS.
constexpr std::string_view about(option::CounterSet set) {
  switch (set) {
    case option::CounterSet::Memory: return "traffic of the GPU's memory and of its L2 cache";
    case option::CounterSet::Tensor: return "operations of tensor cores by type";
    case option::CounterSet::Roofline: return "both, with instructions of vector units";
  }
  return {};
}

std::string_view unit_of(std::string_view metric) {
  if (metric.find("time_duration") != std::string_view::npos) return "ns";
  if (metric.find("bytes") != std::string_view::npos) return "bytes";
  return metric.find("inst_executed") != std::string_view::npos ? "instructions of a thread" : "operations";
}

}  // namespace

std::string counter_list() {
  std::string text;
  uint32_t index = 0;
  for (const auto& [name, argument] : option::WordsOf<option::CounterSet>::kWords) {
    const auto set = static_cast<option::CounterSet>(index++);
    text += fmt::format("{}: {}\n", name, about(set));
    for (const SetMetric& metric : kMetrics) {
      if ((metric.sets & bit(set)) != 0) text += fmt::format("  {:<52}  {}\n", metric.name, unit_of(metric.name));
    }
  }
  return text +
         "Of a set those metrics are measured that the chip has. Others by name, separated by commas: list:CHIP (such "
         "as "
         "list:GH100)\nor list:ORDINAL (of a GPU of this machine) prints those of a chip.\n";
}

}  // namespace prof::analyzer
