#include "analyzer/analysis/extrapolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace prof::analyzer {

namespace {

// Threads cross the edge of a burst at slightly different times.
constexpr int64_t kEdgeNs = 1'000'000;

bool counts(const HostEvent& event) {
  if (!event.is_launch() || event.has(kHostCaptured) || event.result() != 0) return false;
  return event.kind() != HostKind::MemoryLaunch || event.subject != 0;
}

// A burst held it from its begin to its end. Others may have GPU times by luck, short ones rather than long ones: they do not count.
bool is_sampled(const HostEvent& launch) { return launch.has(kHostHasGpu) && !launch.has(kHostNoGpuTimes); }

}  // namespace

std::string budget_of(const Process& process) {
  return process.fact("gpu_times") == "in bursts" ? process.fact("budget") : std::string();
}

void need_all_times(std::string_view what, const Trace& trace) {
  for (const Process& process : trace.processes) {
    const std::string budget = budget_of(process);
    if (budget.empty()) continue;
    throw std::runtime_error(
        fmt::format("{}: GPU times of process {} were taken in bursts (PROF_BUDGET={}), and what a GPU did between "
                    "them is not known; summary and kernels "
                    "extrapolate to all of it, and a recording without PROF_BUDGET times all of it",
                    what, process.pid, budget));
  }
}

double student_t_975(size_t degrees) {
  constexpr double kExact[] = {0, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706};
  if (degrees < std::size(kExact)) return kExact[degrees];
  // Abramowitz and Stegun, 26.7.5, to the third order: within 0.1 % from six on.
  constexpr double z = 1.959964;
  const double v = static_cast<double>(degrees), z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

Extrapolation::Extrapolation(const Trace& trace, ProcessId process) : trace_(trace) {
  budget_ = budget_of(trace.processes[index(process)]);
  if (budget_.empty()) return;
  std::vector<const HostEvent*> launches;
  for (const Thread& thread : trace.threads) {
    if (thread.process != process) continue;
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      if (counts(trace.host[row])) launches.push_back(&trace.host[row]);
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const HostEvent* a, const HostEvent* b) { return a->begin_ns < b->begin_ns; });
  count(launches);
}

// A burst is a run of timed launches between others.
void Extrapolation::count(const std::vector<const HostEvent*>& launches) {
  int64_t last_timed_ns = 0;
  bool others_between = true;
  for (const HostEvent* const launch : launches) {
    ++launches_;
    const auto [found, added] = numbers_.try_emplace(class_key(*launch), static_cast<uint32_t>(classes_.size()));
    if (added) classes_.emplace_back();
    Class& of = classes_[found->second];
    ++of.launches;
    if (!is_sampled(*launch)) {
      others_between |= launch->has(kHostNoGpuTimes);
      continue;
    }
    if (first_ns_.empty() || (others_between && launch->begin_ns - last_timed_ns > kEdgeNs))
      first_ns_.push_back(launch->begin_ns);
    others_between = false;
    last_timed_ns = launch->begin_ns;
    ++timed_, ++of.timed;
    const auto burst = static_cast<uint32_t>(first_ns_.size() - 1);
    if (of.in_bursts.empty() || of.in_bursts.back().first != burst) of.in_bursts.emplace_back(burst, 0);
    ++of.in_bursts.back().second;
  }
  for (const Class& of : classes_) never_timed_ += of.timed == 0 ? of.launches : 0;
}

uint64_t Extrapolation::class_key(const HostEvent& launch) const {
  const uint64_t kind = static_cast<uint64_t>(launch.kind()) << 60;
  switch (launch.kind()) {
    case HostKind::KernelLaunch: return kind | index(trace_.kernels[launch.subject].name);
    case HostKind::GraphLaunch: return kind | launch.subject;
    default: return kind | launch.api();
  }
}

uint32_t Extrapolation::burst_of(int64_t begin_ns) const {
  const auto after = std::upper_bound(first_ns_.begin(), first_ns_.end(), begin_ns);
  return static_cast<uint32_t>(after == first_ns_.begin() ? 0 : after - first_ns_.begin() - 1);
}

void Extrapolation::add(const GpuOperation& operation, uint32_t group) {
  if (!applies() || !operation.linked()) return;
  const HostEvent& launch = trace_.host[operation.launch];
  if (!counts(launch) || !is_sampled(launch)) return;
  const auto found = numbers_.find(class_key(launch));
  if (found == numbers_.end() || classes_[found->second].timed == 0) return;
  Sum& sum = groups_[group][found->second];
  ++sum.operations;
  sum.ns[burst_of(launch.begin_ns)] += static_cast<double>(operation.duration_ns());
}

// Adds each burst's deviation to `off`.
Extrapolated Extrapolation::over(const std::unordered_map<uint32_t, Sum>& by_class, std::vector<double>& off) const {
  Extrapolated total;
  for (const auto& [number, sum] : by_class) {
    const Class& of = classes_[number];
    double ns = 0;
    for (const auto& [burst, in_burst] : sum.ns) ns += in_burst;
    total.operations += of.weight() * static_cast<double>(sum.operations);
    total.total_ns += of.weight() * ns;
    const double mean = ns / static_cast<double>(of.timed);
    const double scale = of.weight() * std::sqrt(std::max(0.0, 1 - 1 / of.weight()));
    for (const auto& [burst, timed] : of.in_bursts) {
      const auto found = sum.ns.find(burst);
      off[burst] += scale * ((found == sum.ns.end() ? 0 : found->second) - mean * static_cast<double>(timed));
    }
  }
  return total;
}

Extrapolated Extrapolation::finished(Extrapolated sum, const std::vector<double>& off) const {
  const auto bursts = static_cast<double>(off.size());
  sum.half_ns = -1;
  if (off.size() < 2) return sum;
  double squares = 0;
  for (const double each : off) squares += each * each;
  sum.half_ns = student_t_975(off.size() - 1) * std::sqrt(bursts / (bursts - 1) * squares);
  return sum;
}

Extrapolated Extrapolation::of(uint32_t group) const {
  std::vector<double> off(first_ns_.size());
  const auto found = groups_.find(group);
  return finished(found == groups_.end() ? Extrapolated{} : over(found->second, off), off);
}

Extrapolated Extrapolation::all() const {
  std::vector<double> off(first_ns_.size());
  Extrapolated total;
  for (const auto& [group, by_class] : groups_) {
    const Extrapolated one = over(by_class, off);
    total.operations += one.operations, total.total_ns += one.total_ns;
  }
  return finished(total, off);
}

std::string Extrapolation::text() const {
  std::string text = fmt::format(
      "PROF_BUDGET={}: GPU times of {} of {} launches, in {} bursts; extrapolated to all of them, with 95 % intervals",
      budget_, timed_, launches_, bursts());
  if (never_timed_ != 0) text += fmt::format("; {} launches of what no burst met are in no sum", never_timed_);
  return text;
}

}  // namespace prof::analyzer
