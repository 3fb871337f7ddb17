// How long does each report take over ten million launches, reading the log included? Every report by itself, as a user starts it,
// its text to /dev/null. A report over the limit gets a second run, of which the faster one counts.
//   report_bench [LAUNCHES]
#include "analyzer/analysis/analysis.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

constexpr double kLimitSeconds = 5;

struct Cost {
  std::string_view report;
  double wall_s = 0, cpu_s = 0, peak_mb = 0;
  int status = 0;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Cost run(std::string_view report, const std::string& log) {
  Cost cost{report};
  std::vector<std::string> words{PROF_BENCH_PROF, "report", std::string(report), log};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
    cost.status = -1;
  } else {
    rusage usage{};
    wait4(child, &cost.status, 0, &usage);
    cost.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    cost.peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  }
  cost.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  posix_spawn_file_actions_destroy(&actions);
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string launches = argc > 1 && std::atol(argv[1]) > 0 ? argv[1] : "10000000";
  const std::filesystem::path folder = std::filesystem::path(argv[0]).parent_path();
  const std::string log = folder / "report_bench.plog";
  const std::string make =
      fmt::format("'{}' --make '{}' {}", (folder / "analyzer_model_bench").string(), log, launches);
  if (std::system(make.c_str()) != 0) return 1;
  std::vector<Cost> costs;
  for (const prof::analyzer::Analysis& analysis : prof::analyzer::kAnalyses) {
    Cost cost = run(analysis.name, log);
    if (cost.wall_s > kLimitSeconds) {
      if (const Cost again = run(analysis.name, log); again.wall_s < cost.wall_s) cost = again;
    }
    costs.push_back(cost);
  }
  std::filesystem::remove(log);
  std::stable_sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.wall_s > b.wall_s; });
  fmt::print("{} launches, {} reports, limit {} s each\n{:24} {:>8} {:>8} {:>9}\n", launches, costs.size(),
             kLimitSeconds, "report", "wall (s)", "CPU (s)", "peak (MB)");
  bool met = true;
  for (const Cost& cost : costs) {
    const bool failed = cost.status != 0 || cost.wall_s > kLimitSeconds;
    met = met && !failed;
    fmt::print("{:24} {:8.2f} {:8.2f} {:9.0f}{}\n", cost.report, cost.wall_s, cost.cpu_s, cost.peak_mb,
               cost.status != 0 ? "  FAIL: it did not end well"
               : failed         ? "  FAIL"
                                : "");
  }
  return met ? 0 : 1;
}
