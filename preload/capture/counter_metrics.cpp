#include "preload/capture/counter_metrics.h"

#include <cstring>

namespace prof::preload {

namespace {

constexpr uint32_t kMemory = 1, kTensor = 2, kRoofline = 4;
struct SetMetric {
  uint32_t sets;
  std::string_view name;
};
constexpr SetMetric kSetMetrics[] = {
#define PROF_COUNTER_METRIC(sets, metric) {sets, #metric},
#include "preload/capture/counter_sets.def"
#undef PROF_COUNTER_METRIC
};
constexpr std::string_view kSum = ".sum";

uint32_t set_named(std::string_view name) {
  if (name == "memory") return kMemory;
  if (name == "tensor") return kTensor;
  return name == "roofline" ? kRoofline : 0;
}

bool holds(const CounterMetrics& metrics, std::string_view name, std::string_view suffix) {
  for (uint32_t i = 0; i < metrics.count; ++i) {
    const std::string_view one(metrics.names[i]);
    if (one.size() == name.size() + suffix.size() && one.starts_with(name) && one.ends_with(suffix)) return true;
  }
  return false;
}

bool add(CounterMetrics& to, std::string_view name, std::string_view suffix) {
  if (holds(to, name, suffix)) return true;
  const size_t bytes = name.size() + suffix.size() + 1;
  if (to.count == CounterMetrics::kMost || bytes > sizeof to.text - to.used) return false;
  char* const at = to.text + to.used;
  std::memcpy(at, name.data(), name.size());
  if (!suffix.empty()) std::memcpy(at + name.size(), suffix.data(), suffix.size());
  at[bytes - 1] = '\0';
  to.used += bytes;
  to.names[to.count++] = at;
  return true;
}

const char* add_set(uint32_t set, const ChipMetrics& chip, CounterMetrics& into) {
  for (const SetMetric& metric : kSetMetrics) {
    if ((metric.sets & set) == 0 || chip.kind(chip.chip, metric.name) != MetricKind::Counter) continue;
    if (!add(into, metric.name, kSum)) return "more than 64 metrics";
  }
  return nullptr;
}

const char* add_one(std::string_view name, const ChipMetrics& chip, CounterMetrics& into) {
  const size_t dot = name.find('.');
  const std::string_view base(name.data(), dot < name.size() ? dot : name.size());
  const MetricKind kind = chip.kind(chip.chip, base);
  into.wrong = name;
  if (kind == MetricKind::Unknown) return "not a metric of this chip";
  const bool bare = dot == std::string_view::npos;
  if (bare && kind != MetricKind::Counter)
    return "no counter: it needs a suffix such as .ratio or .avg.pct_of_peak_sustained_elapsed";
  if (!add(into, name, bare ? kSum : std::string_view())) return "more than 64 metrics";
  into.wrong = {};
  return nullptr;
}

}  // namespace

const char* choose_metrics(std::string_view wanted, const ChipMetrics& chip, CounterMetrics& into) {
  into = {};
  if (const char* const why = add_one("gpu__time_duration", chip, into); why != nullptr) return why;
  while (!wanted.empty()) {
    const size_t comma = wanted.find(',');
    const std::string_view name(wanted.data(), comma < wanted.size() ? comma : wanted.size());
    wanted.remove_prefix(name.size() < wanted.size() ? name.size() + 1 : name.size());
    if (name.empty()) continue;
    const uint32_t set = set_named(name);
    const char* const why = set != 0 ? add_set(set, chip, into) : add_one(name, chip, into);
    if (why != nullptr) return why;
  }
  return nullptr;
}

}  // namespace prof::preload
