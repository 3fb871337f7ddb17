// The sums of a job of many ranks, made without logs: what compare_ranks() gets. Used by tests and by the benchmark of
// the comparison.
#pragma once

#include "analyzer/reports/ranks/rank_job.h"
#include "tests/golden/job_noise.h"

#include <string>
#include <utility>
#include <vector>

namespace prof::tests {

struct NoisyJob {
  uint32_t ranks = 64, steps = 24;
  uint64_t seed = 1;
  uint32_t slow_rank = UINT32_MAX;  // one kernel takes slow_factor of its time
  size_t slow_kernel = 0;
  double slow_factor = 1;
  double first_rate = 0.99, last_rate = 1.01;  // clock rates of the GPUs
};

// `trace` gets the processes.
inline analyzer::RankJob make_noisy_job(const NoisyJob& plan, analyzer::Trace& trace) {
  using analyzer::RankItem;
  using analyzer::RankItemKind;
  using analyzer::WeightedValue;
  JobNoise noise(plan.seed);
  analyzer::RankJob job;
  const auto item_of = [](std::vector<WeightedValue> values, double bytes) {
    RankItem item;
    item.count = values.size();
    item.bytes = static_cast<uint64_t>(bytes);
    const analyzer::RankValue limits = analyzer::limits_of_median(std::move(values));
    item.typical = limits.value, item.low = limits.low, item.high = limits.high;
    return item;
  };
  for (uint32_t r = 0; r < plan.ranks; ++r) {
    analyzer::Process& process = trace.processes.emplace_back();
    process.pid = 100 + r;
    process.rank = r;
    const double rate = noise.uniform(plan.first_rate, plan.last_rate);
    analyzer::RankSums sums;
    sums.process = r;
    sums.steps = plan.steps;
    sums.step_ns = 1e6;
    sums.window_ns = 1'000'000 * int64_t{plan.steps};
    for (size_t k = 0; k < kRealKernels; ++k) {
      const double factor = rate * (r == plan.slow_rank && k == plan.slow_kernel ? plan.slow_factor : 1);
      std::vector<WeightedValue> values;
      for (uint32_t s = 0; s < plan.steps; ++s) values.push_back({noise.duration_ns(k) * factor, 1});
      sums.items[{RankItemKind::Kernel, std::string(kRealDurations[k].name), "64x1x1 of 128x1x1"}] =
          item_of(std::move(values), 0);
    }
    std::vector<WeightedValue> copies, host, waits;
    for (uint32_t s = 0; s < plan.steps; ++s) {
      copies.push_back({noise.duration_ns(kRealCopy) / kRealCopyBytes, kRealCopyBytes});
      host.push_back({noise.host_ns(), 1});
      // How long a rank waits in a collective depends on who is last, and that changes.
      waits.push_back({150'000 + 2 * noise.host_ns(), 1});
    }
    sums.items[{RankItemKind::Copy, "HtoD Pinned -> Device", ""}] =
        item_of(std::move(copies), kRealCopyBytes * plan.steps);
    sums.items[{RankItemKind::Idle, "outside any call", ""}] = item_of(std::move(host), 0);
    sums.items[{RankItemKind::Collective, "ncclDevKernel_AllReduce", "64x1x1 of 128x1x1"}] =
        item_of(std::move(waits), 0);
    job.add(std::move(sums));
  }
  job.finish(trace);
  return job;
}

}  // namespace prof::tests
