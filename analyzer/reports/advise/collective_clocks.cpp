// See collective_clocks.h.
#include "analyzer/reports/advise/collective_clocks.h"

#include <algorithm>
#include <cstdlib>

namespace prof::analyzer {

namespace {

int64_t median_of(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// With fewer collectives, a difference of their ends shows nothing about clocks.
constexpr size_t kFewestCollectives = 3;

// Processes of one host share a clock. Traces of other tools do not name the host.
bool one_host(const Process& a, const Process& b) { return !a.host.empty() && a.host == b.host; }

}  // namespace

CollectiveClocks collective_clocks(const Trace& trace,
                                   const std::map<std::string_view, std::vector<uint32_t>>& by_name) {
  CollectiveClocks clocks;
  clocks.ahead_ns.assign(trace.processes.size(), 0);
  uint32_t reference = kNone;
  std::vector<std::vector<int64_t>> apart(trace.processes.size());  // ends, against the reference
  for (const auto& [name, rows] : by_name) {
    std::map<uint32_t, std::vector<uint32_t>> of_process;
    for (const uint32_t row : rows) of_process[index(trace.process_of(trace.operations[row].stream()))].push_back(row);
    if (of_process.size() < 2) continue;
    const uint32_t first = of_process.begin()->first;
    if (reference == kNone) reference = first;
    if (first != reference) continue;
    const std::vector<uint32_t>& of_first = of_process.begin()->second;
    for (const auto& [process, kernels] : of_process) {
      if (process == reference || one_host(trace.processes[process], trace.processes[reference])) continue;
      if (kernels.size() != of_first.size()) {
        clocks.unpaired = true;
        continue;
      }
      for (size_t k = 0; k < kernels.size(); ++k)
        apart[process].push_back(trace.operations[kernels[k]].last_ns() - trace.operations[of_first[k]].last_ns());
    }
  }
  int64_t least_ns = 0, most_ns = 0;
  for (uint32_t process = 0; process < apart.size(); ++process) {
    if (apart[process].empty()) continue;
    const int64_t ahead_ns = median_of(apart[process]);
    if (std::abs(ahead_ns) <= kEndTogetherNs) continue;
    for (int64_t& ns : apart[process]) ns = std::abs(ns - ahead_ns);
    const int64_t unsure_ns =
        apart[process].size() < kFewestCollectives ? std::abs(ahead_ns) : median_of(apart[process]);
    clocks.unsure_ns = std::max(clocks.unsure_ns, unsure_ns);
    least_ns = std::min(least_ns, ahead_ns);
    most_ns = std::max(most_ns, ahead_ns);
    // Ends that are apart by ever other times are no collectives, or their clocks drift.
    if (unsure_ns <= std::max(kEndTogetherNs, std::abs(ahead_ns) / 4)) clocks.ahead_ns[process] = ahead_ns;
  }
  clocks.differ_ns = most_ns - least_ns;
  return clocks;
}

}  // namespace prof::analyzer
