// How long each report takes for ten million launches, including reading the log. Every report runs alone, as a user
// starts it, with its text to /dev/null. A report over the limit runs again, and the faster run counts. In the first
// log the GPU is always busy. The reports that divide idle time also read a log with a gap after each kernel.
//   report_bench [LAUNCHES]
#include "analyzer/reports/reports.h"
#include "tests/bench/child.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr double kLimitSeconds = 5;
constexpr std::string_view kGapReports[] = {"idle",   "idle-gaps", "op-idle",       "op-idle-trace",
                                            "advise", "what-if",   "critical-path", "breakdown"};

prof::bench::Cost run(std::string_view report, const std::string& log) {
  return prof::bench::cost_of({PROF_BENCH_PROF, "report", std::string(report), log});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string launches = argc > 1 && std::atol(argv[1]) > 0 ? argv[1] : "10000000";
  const std::filesystem::path folder = std::filesystem::path(argv[0]).parent_path();
  const std::string log = folder / "report_bench.plog";
  const auto make = [&](const char* form) {
    return std::system(
               fmt::format("'{}' --make '{}' {}{}", (folder / "analyzer_model_bench").string(), log, launches, form)
                   .c_str()) == 0;
  };
  std::vector<std::pair<std::string, prof::bench::Cost>> costs;
  const auto measure = [&](std::string_view report, const char* of) {
    prof::bench::Cost cost = run(report, log);
    if (cost.wall_s > kLimitSeconds) {
      if (const prof::bench::Cost again = run(report, log); again.wall_s < cost.wall_s) cost = again;
    }
    costs.emplace_back(std::string(report) + of, cost);
  };
  if (!make("")) return 1;
  for (const prof::analyzer::Report& report : prof::analyzer::kReports) measure(report.name, "");
  if (!make(" 0 gaps")) return 1;
  for (const std::string_view report : kGapReports) measure(report, ", gaps");
  std::filesystem::remove(log);
  std::stable_sort(costs.begin(), costs.end(),
                   [](const auto& a, const auto& b) { return a.second.wall_s > b.second.wall_s; });
  fmt::print("{} launches, {} reports, limit {} s each\n{:24} {:>8} {:>8} {:>9}\n", launches, costs.size(),
             kLimitSeconds, "report", "wall (s)", "CPU (s)", "peak (MB)");
  bool met = true;
  for (const auto& [report, cost] : costs) {
    const bool failed = cost.status != 0 || cost.wall_s > kLimitSeconds;
    met = met && !failed;
    fmt::print("{:24} {:8.2f} {:8.2f} {:9.0f}{}\n", report, cost.wall_s, cost.cpu_s, cost.peak_mb,
               cost.status != 0 ? "  FAIL: it did not end well"
               : failed         ? "  FAIL"
                                : "");
  }
  return met ? 0 : 1;
}
