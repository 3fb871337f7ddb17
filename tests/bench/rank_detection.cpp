// How often does the comparison of ranks find a slow kernel, and how often is a finding false? Prints the table of
// docs/ranks.md: jobs with the durations of a real one resampled (tests/golden/job_noise.h).
// rank_detection [JOBS]: number of jobs of each cell; 100 without it.
#include "analyzer/base/parallel.h"
#include "tests/golden/noisy_job.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  using prof::tests::NoisyJob;
  const size_t jobs = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100;
  fmt::print("| ranks | slower by | found | jobs with a false finding |\n|---|---|---|---|\n");
  for (const uint32_t ranks : {8u, 64u, 512u}) {
    for (const double factor : {1.0, 1.05, 1.1, 1.3}) {
      std::atomic<size_t> found{0}, wrong{0};
      prof::analyzer::parallel_for(jobs, [&](size_t i) {
        NoisyJob plan;
        plan.ranks = ranks;
        plan.seed = 1000 * ranks + i;
        plan.slow_rank = static_cast<uint32_t>(i * 37 % ranks);
        plan.slow_factor = factor;
        prof::analyzer::Trace trace;
        const prof::analyzer::RankJob job = make_noisy_job(plan, trace);
        bool is_found = false, is_wrong = false;
        for (const auto& each : prof::analyzer::compare_ranks(job).findings) {
          const bool right = factor > 1 && job.rows()[each.row].sums.process == plan.slow_rank &&
                             each.key < job.keys().size() && job.keys()[each.key].name == "gemm";
          (right ? is_found : is_wrong) = true;
        }
        found += is_found ? 1 : 0;
        wrong += is_wrong ? 1 : 0;
      });
      fmt::print("| {} | {:.2f}x | {} | {} of {} |\n", ranks, factor,
                 factor > 1 ? fmt::format("{} of {}", found.load(), jobs) : "", wrong.load(), jobs);
      std::fflush(stdout);
    }
  }
  return 0;
}
