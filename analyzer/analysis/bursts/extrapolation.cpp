#include "analyzer/analysis/bursts/extrapolation.h"

#include <algorithm>
#include <cmath>

namespace prof::analyzer {

double student_t_975(size_t degrees) {
  constexpr double kExact[] = {0, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706};
  if (degrees < std::size(kExact)) return kExact[degrees];
  // Abramowitz and Stegun, 26.7.5, to the third order: within 0.1 % from six degrees on.
  constexpr double z = 1.959964;
  const double v = static_cast<double>(degrees), z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

void Extrapolation::launch(uint32_t row, uint32_t stratum) {
  const uint32_t kind = bursts_.kind_of(row);
  if (kind == kNone) return;
  const auto [found, added] =
      numbers_.try_emplace(uint64_t{stratum} << 32 | kind, static_cast<uint32_t>(cells_.size()));
  if (added) {
    cells_.emplace_back().process = index(trace_.thread(trace_.host[row].thread).process);
    of_stratum_[stratum].push_back(found->second);
  }
  Cell& cell = cells_[found->second];
  ++cell.launches;
  const uint32_t burst = bursts_.burst_of(row);
  if (burst == kNone) return;
  ++cell.timed;
  if (cell.in_bursts.empty() || cell.in_bursts.back().first != burst) cell.in_bursts.emplace_back(burst, 0);
  ++cell.in_bursts.back().second;
  cell.several_bursts |= cell.in_bursts.front().first != burst;
}

void Extrapolation::add(const GpuOperation& operation, uint32_t stratum, uint32_t group, double value) {
  if (!bursts_.applies(trace_.process_of(operation.stream()))) {
    Group& of = groups_[group];
    ++of.operations;
    of.total += value;
    return;
  }
  if (!operation.linked()) return;
  const uint32_t kind = bursts_.kind_of(operation.launch), burst = bursts_.burst_of(operation.launch);
  if (kind == kNone || burst == kNone) return;
  const auto cell = numbers_.find(uint64_t{stratum} << 32 | kind);
  if (cell == numbers_.end()) return;
  Sum& sum = groups_[group].of_cell[cell->second];
  ++sum.operations;
  if (sum.in_bursts.empty() || sum.in_bursts.back().first != burst) sum.in_bursts.emplace_back(burst, 0);
  sum.in_bursts.back().second += value;
}

void Extrapolation::over(const Group& group, Extrapolated& total, std::vector<Off>& off) const {
  total.operations += group.operations;
  total.total += group.total;
  for (const auto& [number, sum] : group.of_cell) {
    const Cell& cell = cells_[number];
    const double scale = cell.weight() * std::sqrt(std::max(0.0, 1 - 1 / cell.weight()));
    double value = 0;
    for (const auto& [burst, in_burst] : sum.in_bursts) {
      value += in_burst;
      off[burst].value += scale * in_burst;
    }
    total.operations += cell.weight() * static_cast<double>(sum.operations);
    total.total += cell.weight() * value;
    const double mean = cell.several_bursts ? value / static_cast<double>(cell.timed) : 0;
    for (const auto& [burst, timed] : cell.in_bursts) {
      off[burst].value -= scale * mean * static_cast<double>(timed);
      off[burst].met = true;
    }
  }
}

double Extrapolation::half_of(const std::vector<Off>& off) const {
  double variance = 0;
  size_t degrees = 0;
  for (size_t b = 0; b < off.size();) {  // bursts of one process are adjacent
    const uint32_t process = bursts_.process_of_burst(static_cast<uint32_t>(b));
    double squares = 0;
    size_t met = 0;
    for (; b < off.size() && bursts_.process_of_burst(static_cast<uint32_t>(b)) == process; ++b) {
      squares += off[b].value * off[b].value;
      met += off[b].met ? 1 : 0;
    }
    if (squares == 0) {
      degrees += met < 2 ? 0 : met - 1;
      continue;
    }
    if (met < 2) return -1;
    variance += static_cast<double>(met) / static_cast<double>(met - 1) * squares;
    degrees += met - 1;
  }
  return variance == 0 ? 0 : student_t_975(degrees) * std::sqrt(variance);
}

Extrapolated Extrapolation::of(std::span<const uint32_t> groups) const {
  Extrapolated total;
  std::vector<Off> off(bursts_.count());
  for (const uint32_t group : groups) {
    const auto found = groups_.find(group);
    if (found != groups_.end()) over(found->second, total, off);
  }
  total.half = half_of(off);
  return total;
}

Extrapolated Extrapolation::all() const {
  Extrapolated total;
  std::vector<Off> off(bursts_.count());
  for (const auto& [number, group] : groups_) over(group, total, off);
  total.half = half_of(off);
  return total;
}

uint64_t Extrapolation::not_met(uint32_t stratum, std::optional<ProcessId> process) const {
  uint64_t launches = 0;
  const auto found = of_stratum_.find(stratum);
  if (found == of_stratum_.end()) return 0;
  for (const uint32_t number : found->second) {
    const Cell& cell = cells_[number];
    if (cell.timed == 0 && (!process || index(*process) == cell.process)) launches += cell.launches;
  }
  return launches;
}

}  // namespace prof::analyzer
