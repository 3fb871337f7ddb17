#include "analyzer/analysis/diff/line_diff.h"

#include "analyzer/analysis/two_samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace prof::analyzer {

namespace {

using LinesOfRuns = std::span<const std::vector<RunLine>>;

// A kernel of one side: what a line that has no samples there is compared with.
struct KernelRun {
  uint64_t launches = 0;
  size_t blocks = 0;
};
using KernelRuns = std::map<std::string, std::vector<KernelRun>>;  // by name, by run

KernelRuns kernels_of(LinesOfRuns runs) {
  KernelRuns kernels;
  for (size_t r = 0; r < runs.size(); ++r) {
    for (const RunLine& line : runs[r]) {
      std::vector<KernelRun>& of = kernels[line.kernel];
      of.resize(runs.size());
      of[r] = {line.launches, line.launch_ns.size()};
    }
  }
  return kernels;
}

double mean_of_runs(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

LineSide line_side_of(const std::vector<const RunLine*>& lines, const std::vector<KernelRun>* kernel,
                      bool between_runs) {
  LineSide side;
  if (kernel == nullptr) return side;
  std::vector<double> launch_ns;  // by run
  for (size_t r = 0; r < kernel->size(); ++r) {
    const KernelRun& of = (*kernel)[r];
    const RunLine* const line = r < lines.size() ? lines[r] : nullptr;
    if (line != nullptr) {
      side.samples += line->samples;
      side.ns_a_run += line->total_ns / static_cast<double>(kernel->size());
    }
    if (of.launches == 0) continue;
    launch_ns.push_back(line == nullptr ? 0 : line->total_ns / static_cast<double>(of.launches));
    if (between_runs) continue;
    const std::vector<double> none(of.blocks), &blocks = line == nullptr ? none : line->launch_ns;
    side.repetitions.insert(side.repetitions.end(), blocks.begin(), blocks.end());
  }
  if (between_runs) side.repetitions = launch_ns;
  if (!launch_ns.empty()) side.mean_ns = mean_of_runs(launch_ns);
  return side;
}

}  // namespace

std::vector<LineDiffRow> line_diff(LinesOfRuns now, LinesOfRuns before, bool between_runs) {
  using Lines = std::pair<std::vector<const RunLine*>, std::vector<const RunLine*>>;
  std::map<std::tuple<std::string, std::string, std::string>, Lines> matched;
  const auto add = [&](LinesOfRuns runs, std::vector<const RunLine*> Lines::*side) {
    for (size_t r = 0; r < runs.size(); ++r) {
      for (const RunLine& line : runs[r]) {
        std::vector<const RunLine*>& lines = matched[{line.kernel, line.function, line.place}].*side;
        lines.resize(runs.size());
        lines[r] = &line;
      }
    }
  };
  add(now, &Lines::first);
  add(before, &Lines::second);
  const KernelRuns kernels_now = kernels_of(now), kernels_before = kernels_of(before);
  const auto kernel_in = [](const KernelRuns& kernels, const std::string& name) {
    const auto found = kernels.find(name);
    return found == kernels.end() ? nullptr : &found->second;
  };
  std::vector<LineDiffRow> rows;
  std::vector<double> p;
  for (const auto& [key, lines] : matched) {
    LineDiffRow& row = rows.emplace_back();
    std::tie(row.kernel, row.function, row.place) = key;
    const std::vector<KernelRun>* const kernel = kernel_in(kernels_now, row.kernel);
    row.now = line_side_of(lines.first, kernel, between_runs);
    row.before = line_side_of(lines.second, kernel_in(kernels_before, row.kernel), between_runs);
    for (size_t r = 0; kernel != nullptr && r < kernel->size(); ++r)
      row.launches_a_run += static_cast<double>((*kernel)[r].launches) / static_cast<double>(kernel->size());
    row.p = between_runs ? welch(row.now.repetitions, row.before.repetitions)
                         : mann_whitney(row.now.repetitions, row.before.repetitions);  // reorders them
    if (row.p) p.push_back(*row.p);
  }
  const std::vector<double> rates = false_discovery_rates(p);
  size_t next = 0;
  for (LineDiffRow& row : rows) {
    if (row.p) row.false_discovery = rates[next++];
  }
  std::stable_sort(rows.begin(), rows.end(), [](const LineDiffRow& a, const LineDiffRow& b) {
    return std::abs(a.effect_ns()) > std::abs(b.effect_ns());
  });
  return rows;
}

}  // namespace prof::analyzer
