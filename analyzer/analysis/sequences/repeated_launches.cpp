#include "analyzer/analysis/sequences/repeated_launches.h"

namespace prof::analyzer {

RepeatedLaunches::RepeatedLaunches(const Trace& trace) : trace_(trace) {
  std::vector<bool> repeats(trace.labels.size());
  bool any = false;
  for (size_t label = 0; label < repeats.size(); ++label) {
    const Label& each = trace.labels[label];
    repeats[label] = trace.text(each.domain) == "prof" && trace.text(each.text).starts_with("repeat ");
    any = any || repeats[label];
  }
  if (!any) return;
  for (const auto& thread : trace.threads) {
    for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) {
      if (repeats[index(trace.ranges[row].label)]) ranges_.push_back(row);
    }
  }
}

uint32_t RepeatedLaunches::range_at_or_behind(const HostEvent& launch) const {
  for (const uint32_t row : ranges_) {  // one range per process or per part of a recording
    const Range& range = trace_.ranges[row];
    if (range.thread == launch.thread && launch.begin_ns < range.end_ns) return row;
  }
  return kNone;
}

uint32_t RepeatedLaunches::range_around(const HostEvent& launch) const {
  const uint32_t row = range_at_or_behind(launch);
  return row != kNone && launch.begin_ns >= trace_.ranges[row].begin_ns ? row : kNone;
}

}  // namespace prof::analyzer
