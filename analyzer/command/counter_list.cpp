#include "analyzer/command/counter_list.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

namespace {

constexpr uint32_t kMemory = 1, kTensor = 2, kRoofline = 4;
struct SetMetric {
  uint32_t sets;
  std::string_view name;
};
constexpr SetMetric kMetrics[] = {
#define PROF_COUNTER_METRIC(sets, metric) {sets, #metric ".sum"},
#include "preload/format/counter_sets.def"
#undef PROF_COUNTER_METRIC
};

struct Set {
  uint32_t bit;
  std::string_view name, about;
};
constexpr Set kSets[] = {{kMemory, "memory", "traffic of the GPU's memory and of its L2 cache"},
                         {kTensor, "tensor", "operations of tensor cores by type"},
                         {kRoofline, "roofline", "both, with instructions of vector units"}};

std::string_view unit_of(std::string_view metric) {
  if (metric.find("time_duration") != std::string_view::npos) return "ns";
  if (metric.find("bytes") != std::string_view::npos) return "bytes";
  return metric.find("inst_executed") != std::string_view::npos ? "instructions of a thread" : "operations";
}

}  // namespace

std::string counter_list() {
  std::string text;
  for (const Set& set : kSets) {
    text += fmt::format("{}: {}\n", set.name, set.about);
    for (const SetMetric& metric : kMetrics) {
      if ((metric.sets & set.bit) != 0) text += fmt::format("  {:<52}  {}\n", metric.name, unit_of(metric.name));
    }
  }
  return text +
         "Of a set those metrics are measured that the chip has. Others by name, separated by commas: list:CHIP (such "
         "as "
         "list:GH100)\nor list:ORDINAL (of a GPU of this machine) prints those of a chip.\n";
}

}  // namespace prof::analyzer
