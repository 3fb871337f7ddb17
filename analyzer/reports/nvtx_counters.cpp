// nvtx-counters: one row per counter that the program sampled through NVTX's counter extension. A counter group has one
// row for each of its numbers. Definitions: docs/reports/nvtx-counters.md.
#include "analyzer/reports/reports.h"

#include <algorithm>
#include <optional>
#include <string>

namespace prof::analyzer {

namespace {

// What the program declared about the values: their kind, and the time for which they hold.
std::string kind_of(const ProgramCounter& counter) {
  std::string kind;
  switch (counter.flags & kCounterValueMask) {
    case kCounterAbsolute: kind = "absolute"; break;
    case kCounterDelta: kind = "deltas"; break;
    case kCounterSinceStart: kind = "since start"; break;
    default: break;
  }
  const auto add = [&](std::string_view more) {
    if (!kind.empty()) kind += ", ";
    kind += more;
  };
  if ((counter.flags & kCounterNormalized) != 0) add("normalised");
  switch (counter.flags & kCounterBetweenMask) {
    case kCounterPoint: add("at the moment"); break;
    case kCounterSinceLast: add("since the last"); break;
    case kCounterUntilNext: add("until the next"); break;
    case kCounterLinear: add("linear between"); break;
    default: break;
  }
  return kind;
}

}  // namespace

Table report_nvtx_counters(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  struct Sums {
    uint64_t samples = 0, outside = 0;
    double sum = 0, least = 0, most = 0, last = 0;
    int64_t first_ns = 0, last_ns = 0;
  };
  std::vector<Sums> sums(trace.program_counters.size());
  for (const CounterSample& sample : trace.counter_samples) {  // by counter, then by time
    if (!input.selection.in_window(sample.time_ns, sample.time_ns)) continue;
    Sums& to = sums[sample.counter];
    const ProgramCounter& counter = trace.program_counters[sample.counter];
    if (to.samples++ == 0) {
      to.least = to.most = sample.value;
      to.first_ns = sample.time_ns;
    }
    if (sample.value < counter.min.value_or(sample.value) || sample.value > counter.max.value_or(sample.value))
      ++to.outside;
    to.sum += sample.value;
    to.least = std::min(to.least, sample.value);
    to.most = std::max(to.most, sample.value);
    to.last = sample.value;
    to.last_ns = sample.time_ns;
  }
  Table table("nvtx-counters", "Counters that the program sampled");
  table.add_columns({ColumnId::counter, ColumnId::unit, ColumnId::domain, ColumnId::scope, ColumnId::pid,
                     ColumnId::samples, ColumnId::without_value, ColumnId::value_min, ColumnId::value_mean,
                     ColumnId::value_max, ColumnId::value_last, ColumnId::first_at, ColumnId::last_at,
                     ColumnId::limit_min, ColumnId::limit_max, ColumnId::outside_limits, ColumnId::kind});
  bool any_delta = false;
  for (size_t i = 0; i < sums.size(); ++i) {
    const ProgramCounter& counter = trace.program_counters[i];
    if (!input.selection.has_process(counter.process)) continue;
    Table::Row row = table.row();
    row.add(trace.text(counter.name)).add(trace.text(counter.unit)).add(trace.text(counter.domain));
    row.add(trace.text(counter.scope));
    row.add_owner(counter.process).add(sums[i].samples).add(counter.without_value);
    if (const Sums& of = sums[i]; of.samples != 0) {
      row.add(of.least).add(of.sum / static_cast<double>(of.samples)).add(of.most).add(of.last);
      row.add(of.first_ns).add(of.last_ns);
    } else {
      for (int empty = 0; empty < 6; ++empty) row.empty();
    }
    for (const std::optional<double>& limit : {counter.min, counter.max}) {
      row.add(limit);
    }
    if (counter.min || counter.max) {
      row.add(sums[i].outside);
    } else {
      row.empty();
    }
    row.add(kind_of(counter));
    any_delta = any_delta || (counter.flags & kCounterValueMask) == kCounterDelta;
  }
  table.notes.push_back("mean: of the samples, however far apart they are");
  if (any_delta) table.notes.push_back("deltas are added up, from 0 before a counter's first sample");
  return table;
}

}  // namespace prof::analyzer
