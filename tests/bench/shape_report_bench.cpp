// The cost of FLOPs, bytes and rooflines for a gigabyte of a Kineto trace, compared with reading it alone, and the time
// of a diff of two such traces. Rounds in turn, medians.
//   shape_report_bench [MEGABYTES [ROUNDS]]
#include "tests/bench/child.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using prof::bench::Cost;
using prof::bench::cost_of;

constexpr double kLimitRatio = 1.2, kLimitDiffSeconds = 12;

struct Row {
  std::string name;
  std::vector<std::string> words;
  std::vector<Cost> costs = {};

  double median(double Cost::*of) const {
    std::vector<double> values;
    for (const Cost& cost : costs) values.push_back(cost.*of);
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  double slowest() const {
    return std::max_element(costs.begin(), costs.end(),
                            [](const Cost& a, const Cost& b) { return a.wall_s < b.wall_s; })
        ->wall_s;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::string megabytes = argc > 1 ? argv[1] : "1000";
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  const std::filesystem::path folder = std::filesystem::path(argv[0]).parent_path();
  const std::string importer = folder / "kineto_import_bench", trace = folder / "shape_report_bench.json";
  if (cost_of({importer, "--make", trace, megabytes}).status != 0) return 1;
  const std::string bytes = std::to_string(std::filesystem::file_size(trace));
  std::vector<Row> rows = {{"reading alone", {importer, "--run", trace, "2", bytes}},
                           {"kernels --peaks", {PROF_BENCH_PROF, "report", "kernels", "--peaks", trace}},
                           {"roofline", {PROF_BENCH_PROF, "report", "roofline", trace}},
                           {"diff with itself", {PROF_BENCH_PROF, "diff", trace, "--vs", trace}}};
  bool ended_well = true;
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : rows) {
      row.costs.push_back(cost_of(row.words));
      ended_well = ended_well && row.costs.back().status == 0;
    }
  }
  std::filesystem::remove(trace);
  std::filesystem::remove(trace + ".gz");
  const double alone = rows[0].median(&Cost::wall_s);
  fmt::print(
      "{} MB of trace, {} rounds; limits: {:.1f} × reading alone, diff {:.0f} s\n{:18} {:>10} {:>12} {:>8} {:>9} "
      "{:>7}\n",
      megabytes, rounds, kLimitRatio, kLimitDiffSeconds, "", "median (s)", "slowest (s)", "CPU (s)", "peak (MB)",
      "ratio");
  bool met = ended_well;
  for (const Row& row : rows) {
    const double wall = row.median(&Cost::wall_s);
    const bool is_diff = &row == &rows.back();
    const bool failed = is_diff ? wall > kLimitDiffSeconds : wall > kLimitRatio * alone;
    met = met && !failed;
    fmt::print("{:18} {:10.2f} {:12.2f} {:8.2f} {:9.0f} {:7.2f}{}\n", row.name, wall, row.slowest(),
               row.median(&Cost::cpu_s), row.median(&Cost::peak_mb), wall / alone, failed ? "  FAIL" : "");
  }
  if (!ended_well) fmt::print("FAIL: not every run ended well\n");
  return met ? 0 : 1;
}
