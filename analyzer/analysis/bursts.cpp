#include "analyzer/analysis/bursts.h"

#include <algorithm>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// Threads cross the edge of a burst at slightly different times.
constexpr int64_t kEdgeNs = 1'000'000;

bool counts(const HostEvent& event) {
  if (!event.is_launch() || event.has(kHostCaptured) || event.result() != 0) return false;
  return event.kind() != HostKind::MemoryLaunch || event.subject != 0;
}

bool is_timed(const HostEvent& launch) { return launch.has(kHostHasGpu) && !launch.has(kHostNoGpuTimes); }

uint64_t kind_key(const Trace& trace, const HostEvent& launch) {
  const uint64_t kind = static_cast<uint64_t>(launch.kind()) << 60;
  switch (launch.kind()) {
    case HostKind::KernelLaunch: return kind | index(trace.kernels[launch.subject].name);
    case HostKind::GraphLaunch: return kind | launch.subject;
    default: return kind | launch.api();
  }
}

}  // namespace

std::string budget_of(const Process& process) {
  return process.fact("gpu_times") == "in bursts" ? process.fact("budget") : std::string();
}

Bursts::Bursts(const Trace& trace) : applies_(trace.processes.size()) {
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    applies_[p] = !budget_of(trace.processes[p]).empty();
    if (applies_[p]) find(trace, ProcessId{p});
  }
}

uint64_t Bursts::count(ProcessId process) const {
  return static_cast<uint64_t>(std::count(process_of_.begin(), process_of_.end(), index(process)));
}

// A burst is a run of timed launches between launches without GPU times.
void Bursts::find(const Trace& trace, ProcessId process) {
  std::vector<uint32_t> rows;
  for (const Thread& thread : trace.threads) {
    if (thread.process != process) continue;
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      if (counts(trace.host[row])) rows.push_back(row);
    }
  }
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return trace.host[a].begin_ns < trace.host[b].begin_ns; });
  if (launches_.empty()) launches_.resize(trace.host.size());
  std::unordered_map<uint64_t, uint32_t> kinds;
  int64_t last_timed_ns = 0;
  bool first = true, others_between = true;
  for (const uint32_t row : rows) {
    const HostEvent& launch = trace.host[row];
    const auto [found, added] = kinds.try_emplace(kind_key(trace, launch), kinds_);
    kinds_ += added ? 1 : 0;
    launches_[row].kind = found->second + 1;
    if (!is_timed(launch)) {
      others_between |= launch.has(kHostNoGpuTimes);
      continue;
    }
    if (first || (others_between && launch.begin_ns - last_timed_ns > kEdgeNs)) process_of_.push_back(index(process));
    first = others_between = false;
    last_timed_ns = launch.begin_ns;
    launches_[row].burst = static_cast<uint32_t>(process_of_.size());
  }
}

}  // namespace prof::analyzer
