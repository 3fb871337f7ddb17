// Extrapolation from the launches in bursts to all launches: sums and intervals compared with the formula computed by
// hand.
#include "analyzer/analysis/bursts/extrapolation.h"
#include "analyzer/reports/gpu_times.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace prof::tests {
namespace {

using namespace analyzer;

constexpr int64_t kApart = 10'000'000;  // between launches: far longer than the edge of a burst

// One kernel launched repeatedly. A launch takes 1 µs; its kernel takes `ns` or has no record.
class BudgetRun {
 public:
  void launch(int64_t ns, bool flagged = false) {
    const auto begin = static_cast<int64_t>(flags_.size()) * kApart;
    const auto correlation = static_cast<uint32_t>(flags_.size() + 1);
    made_.launch(begin, begin + 1000, correlation);
    if (ns != 0) made_.kernel(begin + 2000, begin + 2000 + ns, correlation);
    flags_.push_back(flagged);
  }
  Trace& finish() {
    Trace& trace = made_.finish();
    for (size_t i = 0; i < flags_.size(); ++i) {
      trace.host[i].subject = trace.host[0].subject;
      if (flags_[i]) trace.host[i].word |= kHostNoGpuTimes << HostEvent::kFlagShift;
    }
    trace.processes[0].facts = {{"gpu_times", "in bursts"}, {"budget", "2%"}};
    return trace;
  }

 private:
  HandTrace made_;
  std::vector<bool> flags_;
};

// The sum of all operations, with all launches in one stratum.
Extrapolated of_all(const Trace& trace) {
  const Bursts bursts(trace);
  Extrapolation made(trace, bursts);
  for (uint32_t row = 0; row < trace.host.size(); ++row) made.launch(row, 0);
  for (const GpuOperation& operation : trace.operations)
    made.add(operation, 0, 0, static_cast<double>(operation.duration_ns()));
  return made.of(0);
}

// How many launches were in bursts, and how many launches have a kernel that no burst contains.
std::pair<uint64_t, uint64_t> timed_and_not_met(const Trace& trace) {
  const Bursts bursts(trace);
  Extrapolation made(trace, bursts);
  uint64_t timed = 0;
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    made.launch(row, 0);
    timed += bursts.burst_of(row) == kNone ? 0 : 1;
  }
  return {timed, made.not_met(0)};
}

TEST(Extrapolation, IsTheRatioEstimatorOverBurstsWithStudentsInterval) {
  BudgetRun run;
  for (const int64_t ns : {0, 10, 20, 0, 0, 30, 40, 0, 0, 0}) run.launch(ns, ns == 0);
  const Trace& trace = run.finish();
  EXPECT_EQ(timed_and_not_met(trace), std::pair(uint64_t{4}, uint64_t{0}));
  EXPECT_EQ(Bursts(trace).count(), 2u);
  const Extrapolated sum = of_all(trace);
  EXPECT_DOUBLE_EQ(sum.operations, 10);
  EXPECT_DOUBLE_EQ(sum.total, 250);
  // Each burst deviates by 20; weight 2.5, four of ten launches were timed, two bursts.
  EXPECT_NEAR(sum.half, 12.7062 * std::sqrt(2.0 * 2 * 2.5 * 2.5 * 0.6 * 20 * 20), 1e-6);
}

TEST(Extrapolation, LeavesOutWhatHasItsTimeOnlyByLuck) {
  BudgetRun run;
  for (const int64_t ns : {0, 10, 20, 0, 0, 30, 40, 0, 0}) run.launch(ns, ns == 0);
  run.launch(1000, true);  // running when a burst ended: a longer kernel would have got no record
  const Trace& trace = run.finish();
  EXPECT_EQ(timed_and_not_met(trace).first, 4u);
  EXPECT_DOUBLE_EQ(of_all(trace).total, 250);
}

TEST(Extrapolation, SaysNothingOfWhatNoBurstHeldFromBeginToEnd) {
  BudgetRun run;
  for (const int64_t ns : {0, 0, 0}) run.launch(ns, true);
  run.launch(1000, true);
  const Trace& trace = run.finish();
  EXPECT_EQ(timed_and_not_met(trace).second, 4u);
  EXPECT_FALSE(of_all(trace).known());
}

TEST(Extrapolation, OfOneBurstHasNoInterval) {
  BudgetRun run;
  for (const int64_t ns : {10, 20, 0, 0}) run.launch(ns, ns == 0);
  const Extrapolated sum = of_all(run.finish());
  EXPECT_DOUBLE_EQ(sum.total, 60);
  EXPECT_LT(sum.half, 0);
}

// One burst alone gives no estimate of the variation between bursts, even if other kernels were in several bursts.
TEST(Extrapolation, OfAKernelThatOneOfManyBurstsMetHasNoInterval) {
  BudgetRun run;
  for (const int64_t ns : {0, 10, 0, 0, 20, 0, 0, 30, 0}) run.launch(ns, ns == 0);
  Trace& trace = run.finish();
  Kernel& rare = trace.kernels.emplace_back();
  rare.name = trace.strings.intern("rare");
  for (const size_t row : {3, 4}) trace.host[row].subject = trace.kernels.size() - 1;
  const Bursts bursts(trace);
  Extrapolation made(trace, bursts);
  for (uint32_t row = 0; row < trace.host.size(); ++row) made.launch(row, 0);
  for (const GpuOperation& operation : trace.operations)
    made.add(operation, 0, operation.launch == 4 ? 1 : 0, static_cast<double>(operation.duration_ns()));
  EXPECT_DOUBLE_EQ(made.of(1).total, 40);
  EXPECT_LT(made.of(1).half, 0);
  EXPECT_GT(made.of(0).half, 0);
  // In the sum of both, the whole of the rare kernel is uncertain: √(3/2 · ((w √(1 − 1/w) 10)² · 2 + (2 √½
  // 20)²)), w = 7/2, two degrees of freedom.
  const double common = 3.5 * std::sqrt(1 - 1 / 3.5) * 10, whole = 2 * std::sqrt(0.5) * 20;
  EXPECT_NEAR(made.all().half, 4.3027 * std::sqrt(1.5 * (2 * common * common + whole * whole)), 1e-6);
}

TEST(Extrapolation, OfARunThatWasTimedWholeSaysItsSumAndNoError) {
  BudgetRun run;
  for (const int64_t ns : {10, 20, 30}) run.launch(ns);
  const Trace& trace = run.finish();
  EXPECT_DOUBLE_EQ(of_all(trace).total, 60);
  EXPECT_DOUBLE_EQ(of_all(trace).half, 0);
  EXPECT_EQ(Bursts(trace).count(), 1u);
}

TEST(Extrapolation, DoesNotApplyWithoutABudgetAndOtherReportsAreThenNotRefused) {
  BudgetRun run;
  run.launch(10);
  Trace& trace = run.finish();
  EXPECT_THROW(need_all_times("idle", trace), std::runtime_error);
  trace.processes[0].facts = {{"gpu_times", "on"}};
  EXPECT_FALSE(Bursts(trace).applies(ProcessId{0}));
  EXPECT_DOUBLE_EQ(of_all(trace).total, 10);
  EXPECT_NO_THROW(need_all_times("idle", trace));
}

TEST(Extrapolation, StudentsQuantilesAreThoseOfTables) {
  for (const auto& [degrees, value] :
       {std::pair<size_t, double>{1, 12.7062}, {5, 2.5706}, {6, 2.4469}, {10, 2.2281}, {30, 2.0423}, {1000, 1.9623}})
    EXPECT_NEAR(student_t_975(degrees), value, 0.001 * value) << degrees;
}

}  // namespace
}  // namespace prof::tests
