#include "analyzer/input/kineto/kineto_counter_rows.h"

#include "analyzer/input/kineto/kineto_numbers.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace prof::analyzer {

void KinetoCounterRowMaker::start_stretch() {
  last_metrics_.clear();
  last_metrics_text_ = {};
}

// Adds the values; a value that is no number is NaN.
KinetoCounterValues KinetoCounterRowMaker::read(const KinetoEvent& event) {
  KinetoCounterValues row;
  row.first = rows_.counter_values.size();
  std::string names;
  for (const KinetoEvent::Metric& metric : event.metrics) {
    names.append(names.empty() ? "" : "\n").append(metric.name);
    const char* const end = metric.value.data() + metric.value.size();
    double value = 0;
    const auto [read, error] = std::from_chars(metric.value.data(), end, value);
    if (error != std::errc() || read != end) {
      rows_.tally.aside(KinetoAside::BadNumber);
      value = NAN;
    }
    rows_.counter_values.push_back(value);
  }
  if (last_metrics_text_ == StretchText{} || names != last_metrics_) {
    last_metrics_text_ = numbering_.made_text(names);
    last_metrics_ = std::move(names);
  }
  row.metrics = last_metrics_text_;
  return row;
}

void KinetoCounterRowMaker::add_to_operation(const KinetoEvent& event) {
  if (event.metrics.empty()) return;
  KinetoCounterValues row = read(event);
  row.of = KinetoCounterValues::Operation;
  row.row = row_count(rows_.operations) - 1;
  row.device = read_device(event, rows_.tally);
  rows_.counted.push_back(row);
}

void KinetoCounterRowMaker::add_to_range(const KinetoEvent& event) {
  if (event.metrics.empty()) return;
  KinetoCounterValues row = read(event);
  row.of = KinetoCounterValues::Range;
  row.row = row_count(rows_.ranges) - 1;
  if (event.has(KinetoArgument::DeviceOrdinal)) row.device = read_device(event, rows_.tally);
  rows_.counted.push_back(row);
}

void KinetoCounterRowMaker::add_event(const KinetoEvent& event, int64_t begin_ns) {
  if (event.metrics.empty()) {
    rows_.tally.aside(KinetoAside::NoMetrics);
    return;
  }
  KinetoCounterValues row = read(event);
  row.of = KinetoCounterValues::Own;
  row.device = read_device(event, rows_.tally);
  row.name = numbering_.text(event.name);
  row.pid = numbering_.pid(event.pid);
  row.begin_ns = begin_ns;
  rows_.counted.push_back(row);
}

}  // namespace prof::analyzer
