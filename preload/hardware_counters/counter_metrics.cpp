#include "preload/hardware_counters/counter_metrics.h"

#include <cstring>
#include <iterator>

namespace prof::preload {

namespace {

constexpr std::string_view kSum = ".sum";

constexpr uint32_t set_bit(option::CounterSet set) { return option::SomeOf<option::CounterSet>::bit(set); }
constexpr uint32_t kMemory = set_bit(option::CounterSet::Memory), kTensor = set_bit(option::CounterSet::Tensor),
                   kRoofline = set_bit(option::CounterSet::Roofline);
constexpr SetMetric kLaunchMetrics[] = {
#define PROF_COUNTER_METRIC(sets, metric) {sets, #metric, kSum},
#include "preload/format/counter_sets.def"
#undef PROF_COUNTER_METRIC
};

constexpr uint32_t set_bit(option::SampledSet set) { return option::SomeOf<option::SampledSet>::bit(set); }
constexpr uint32_t kOverview = set_bit(option::SampledSet::Overview), kTraffic = set_bit(option::SampledSet::Memory),
                   kLinks = set_bit(option::SampledSet::Links);
constexpr SetMetric kSampledMetrics[] = {
#define PROF_SAMPLED_METRIC(sets, metric, suffix) {sets, #metric, #suffix},
#include "preload/hardware_counters/sampling_sets.def"
#undef PROF_SAMPLED_METRIC
};

// The index of a metric. kMost: it is not in the list.
uint32_t find(const CounterMetrics& metrics, std::string_view name, std::string_view suffix) {
  for (uint32_t i = 0; i < metrics.count; ++i) {
    const std::string_view one(metrics.names[i]);
    if (one.size() == name.size() + suffix.size() && one.starts_with(name) && one.ends_with(suffix)) return i;
  }
  return CounterMetrics::kMost;
}

// The index of a metric, new or not. kMost: there is no room for it.
uint32_t add(CounterMetrics& to, std::string_view name, std::string_view suffix) {
  if (const uint32_t known = find(to, name, suffix); known != CounterMetrics::kMost) return known;
  const size_t bytes = name.size() + suffix.size() + 1;
  if (to.count == CounterMetrics::kMost || bytes > sizeof to.text - to.used) return CounterMetrics::kMost;
  char* const at = to.text + to.used;
  std::memcpy(at, name.data(), name.size());
  if (!suffix.empty()) std::memcpy(at + name.size(), suffix.data(), suffix.size());
  at[bytes - 1] = '\0';
  to.used += bytes;
  to.names[to.count] = at;
  return to.count++;
}

const char* add_set(uint32_t set, const MetricSets& sets, const ChipMetrics& chip, CounterMetrics& into) {
  for (const SetMetric* metric = sets.metrics; metric != sets.metrics + sets.count; ++metric) {
    if ((metric->sets & set) == 0 || chip.kind(chip.chip, metric->name) == MetricKind::Unknown) continue;
    if (add(into, metric->name, metric->suffix) == CounterMetrics::kMost) return "more than 64 metrics";
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
  const std::string_view suffix = bare ? kSum : std::string_view();
  const uint32_t index = add(into, name, suffix);
  if (index >= CounterMetrics::kMost) return "more than 64 metrics";
  into.by_name |= uint64_t{1} << index;
  into.wrong = {};
  return nullptr;
}

}  // namespace

constexpr MetricSets kLaunchSets{kLaunchMetrics, std::size(kLaunchMetrics), "gpu__time_duration"};
constexpr MetricSets kSampledSets{kSampledMetrics, std::size(kSampledMetrics), {}};

std::string_view join_names(const CounterMetrics& metrics, char* to) {
  size_t used = 0;
  for (uint32_t i = 0; i < metrics.count; ++i) {
    const size_t length = std::strlen(metrics.names[i]);
    if (i != 0) to[used++] = '\n';
    std::memcpy(to + used, metrics.names[i], length);
    used += length;
  }
  return {to, used};
}

const char* choose_metrics(const option::WantedMetrics& wanted, const MetricSets& sets, const ChipMetrics& chip,
                           CounterMetrics& into) {
  into = {};
  if (!sets.first.empty()) {
    if (const char* const why = add_one(sets.first, chip, into); why != nullptr) return why;
  }
  for (uint32_t i = 0; i < wanted.count; ++i) {
    const option::WantedMetrics::Item& item = wanted.items[i];
    const char* const why = item.set != 0 ? add_set(item.set, sets, chip, into) : add_one(item.metric, chip, into);
    if (why != nullptr) return why;
  }
  return into.count != 0 ? nullptr : "the chip has none of these metrics";
}

}  // namespace prof::preload
