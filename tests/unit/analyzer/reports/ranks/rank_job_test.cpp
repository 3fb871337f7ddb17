// Which ranks does the comparison find, in jobs with the noise of a real one?
#include "analyzer/reports/ranks/rank_job.h"
#include "tests/golden/noisy_job.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::make_noisy_job;
using tests::NoisyJob;

std::string finding_texts(const RankJob& job, const RankComparison& comparison) {
  std::string text;
  for (const RankFinding& each : comparison.findings)
    text += std::to_string(job.rows()[each.row].sums.process) + " " +
            (each.key == kNone ? "most kernels" : job.keys()[each.key].name) + "; ";
  return text;
}

TEST(RankJob, AtMostOneOfAHundredJobsWithoutASlowRankHasAFinding) {
  int with_findings = 0;
  std::string texts;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    NoisyJob plan;
    plan.seed = seed;
    plan.ranks = seed % 10 == 0 ? 256 : 32;
    Trace trace;
    const RankJob job = make_noisy_job(plan, trace);
    const RankComparison comparison = compare_ranks(job);
    EXPECT_GT(comparison.pairs, plan.ranks * uint64_t{tests::kRealKernels});
    with_findings += comparison.findings.empty() ? 0 : 1;
    texts += finding_texts(job, comparison);
  }
  EXPECT_LE(with_findings, 1) << texts;
}

TEST(RankJob, ASlowKernelIsFoundWithItsRankAndCost) {
  NoisyJob plan;
  plan.slow_rank = 41;
  plan.slow_factor = 1.3;
  Trace trace;
  const RankJob job = make_noisy_job(plan, trace);
  const RankComparison comparison = compare_ranks(job);
  ASSERT_EQ(finding_texts(job, comparison), "41 gemm; ");
  EXPECT_NEAR(comparison.findings[0].ratio(), 1.3, 0.02);
  EXPECT_NEAR(static_cast<double>(comparison.findings[0].cost_ns), 0.3 * 88'256, 2'000);  // one call a step
  EXPECT_GT(comparison.findings[0].z, comparison.findings[0].limit);
}

TEST(RankJob, ASlowGpuIsOneFinding) {
  NoisyJob plan;
  plan.first_rate = 0.999;
  plan.last_rate = 1.001;
  Trace trace;
  RankJob made = make_noisy_job(plan, trace);
  RankJob job;
  for (uint32_t r = 0; r < made.rows().size(); ++r) {
    RankSums sums = made.rows()[r].sums;
    for (auto [key, item] : made.rows()[r].items) {
      const bool slow = r == 9 && made.keys()[key].kind == RankItemKind::Kernel;
      for (double* const value : {&item.typical, &item.low, &item.high}) *value *= slow ? 2 : 1;
      sums.items[made.keys()[key]] = item;
    }
    job.add(std::move(sums));
  }
  job.finish(trace);
  const RankComparison comparison = compare_ranks(job);
  ASSERT_EQ(finding_texts(job, comparison), "9 most kernels; ");
  EXPECT_NEAR(comparison.findings[0].ratio(), 2, 0.05);
}

TEST(RankJob, ARankThatIsLateBecauseOfAnotherFindingIsNotListedForItsCollectives) {
  const auto finding_count = [](int64_t kernel_ns) {
    Trace trace;
    RankJob job;
    for (uint32_t r = 0; r < 32; ++r) {
      trace.processes.emplace_back().rank = r;
      trace.processes.back().pid = 100 + r;
      RankSums sums;
      sums.process = r;
      sums.steps = 20;
      sums.step_ns = 1e6;
      const double kernel = 100'000 + r % 4 * 100 + (r == 7 ? static_cast<double>(kernel_ns) : 0);
      const double wait = r == 7 ? 100'000 : 400'000 + r % 5 * 1000;
      sums.items[{RankItemKind::Kernel, "gemm", ""}] = {20, 0, 0, kernel, kernel, kernel};
      sums.items[{RankItemKind::Collective, "nccl", ""}] = {20, 0, 0, wait, wait, wait};
      job.add(std::move(sums));
    }
    job.finish(trace);
    const RankComparison comparison = compare_ranks(job);
    EXPECT_EQ(comparison.explained, kernel_ns == 300'000 ? 1u : 0u);
    return finding_texts(job, comparison);
  };
  EXPECT_EQ(finding_count(300'000), "7 gemm; ");
  EXPECT_EQ(finding_count(0), "7 nccl; ");
}

TEST(RankJob, TheOrderOfTheRanksDoesNotMatter) {
  NoisyJob plan;
  plan.ranks = 16;
  plan.slow_rank = 3;
  plan.slow_factor = 1.5;
  Trace trace;
  const RankJob made = make_noisy_job(plan, trace);
  RankJob job;
  for (uint32_t r = plan.ranks; r-- > 0;) {
    RankSums sums = made.rows()[r].sums;
    for (const auto& [key, item] : made.rows()[r].items) sums.items[made.keys()[key]] = item;
    job.add(std::move(sums));
  }
  job.finish(trace);
  EXPECT_EQ(job.keys(), made.keys());
  EXPECT_EQ(finding_texts(job, compare_ranks(job)), finding_texts(made, compare_ranks(made)));
}

TEST(RankJob, LogsOfOneProcessAreOneRow) {
  Trace trace;
  RankJob job;
  for (uint32_t part = 0; part < 2; ++part) {
    Process& process = trace.processes.emplace_back();
    process.pid = 5;
    process.host = "node";
    process.rank = 0;
    RankSums sums;
    sums.process = part;
    sums.busy_ns = 10;
    sums.steps = 1 + 2 * part;
    sums.step_ns = 100 + 40 * part;
    sums.items[{RankItemKind::Kernel, "gemm", ""}] = {1 + 2 * part, 0, 7, 100.0 + 40 * part, 0, 0};
    job.add(std::move(sums));
  }
  job.finish(trace);
  ASSERT_EQ(job.rows().size(), 1u);
  EXPECT_EQ(job.rows()[0].sums.busy_ns, 20);
  EXPECT_EQ(job.rows()[0].sums.steps, 4u);
  EXPECT_EQ(job.rows()[0].sums.step_ns, 130);
  EXPECT_EQ(job.rows()[0].items[0].second.count, 4u);
  EXPECT_EQ(job.rows()[0].items[0].second.typical, 130);
}

TEST(RankJob, WhatMakesTheAnswerIncompleteIsNamed) {
  Trace trace;
  RankJob job;
  for (const uint32_t rank : {0u, 1u, 2u, 4u, 5u}) {
    Process& process = trace.processes.emplace_back();
    process.rank = rank;
    process.pid = 100 + rank;
    process.facts.emplace_back("world_size", "8");
    RankSums sums;
    sums.process = static_cast<uint32_t>(trace.processes.size() - 1);
    sums.gpu = rank == 4 ? "NVIDIA A100" : "NVIDIA H200";
    sums.steps = rank == 2 ? 7 : 10;
    job.add(std::move(sums));
  }
  job.finish(trace);
  EXPECT_EQ(job_problems(trace, job),
            (std::vector<std::string>{
                "3 of 8 ranks are not in the input, or have no GPU operation: 3, 6, 7",
                "most ranks have 10 steps, but rank 2 (7 steps): 1 of 5 ranks have another number",
                "rank 4 runs on NVIDIA A100, most ranks on NVIDIA H200: too few to be compared with each other"}));
}

}  // namespace
}  // namespace prof::analyzer
