// From the launches of bursts to all launches: sums and intervals against what the formula gives by hand.
#include "analyzer/analysis/extrapolation.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace prof::tests {
namespace {

using namespace analyzer;

constexpr int64_t kApart = 10'000'000;  // between launches: far more than the edge of a burst takes

// One kernel launched again and again; a launch takes 1 µs, its kernel `ns` or has no record.
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

Extrapolated of_all(const Trace& trace, const Extrapolation& made) {
  Extrapolation copy = made;
  for (const GpuOperation& operation : trace.operations) copy.add(operation, 0);
  return copy.of(0);
}

TEST(Extrapolation, IsTheRatioEstimatorOverBurstsWithStudentsInterval) {
  BudgetRun run;
  for (const int64_t ns : {0, 10, 20, 0, 0, 30, 40, 0, 0, 0}) run.launch(ns, ns == 0);
  const Trace& trace = run.finish();
  const Extrapolation made(trace, ProcessId{0});
  EXPECT_EQ(made.launches(), 10u);
  EXPECT_EQ(made.timed(), 4u);
  EXPECT_EQ(made.bursts(), 2u);
  const Extrapolated sum = of_all(trace, made);
  EXPECT_DOUBLE_EQ(sum.operations, 10);
  EXPECT_DOUBLE_EQ(sum.total_ns, 250);
  // Each burst is 20 off; weight 2.5, four of ten were seen, two bursts.
  EXPECT_NEAR(sum.half_ns, 12.7062 * std::sqrt(2.0 * 2 * 2.5 * 2.5 * 0.6 * 20 * 20), 1e-6);
}

TEST(Extrapolation, LeavesOutWhatHasItsTimeOnlyByLuck) {
  BudgetRun run;
  for (const int64_t ns : {0, 10, 20, 0, 0, 30, 40, 0, 0}) run.launch(ns, ns == 0);
  run.launch(1000, true);  // under way when a burst ended: longer ones would have got no record
  const Trace& trace = run.finish();
  const Extrapolation made(trace, ProcessId{0});
  EXPECT_EQ(made.timed(), 4u);
  EXPECT_DOUBLE_EQ(of_all(trace, made).total_ns, 250);
}

TEST(Extrapolation, SaysNothingOfWhatNoBurstHeldFromBeginToEnd) {
  BudgetRun run;
  for (const int64_t ns : {0, 0, 0}) run.launch(ns, true);
  run.launch(1000, true);
  const Trace& trace = run.finish();
  const Extrapolation made(trace, ProcessId{0});
  EXPECT_EQ(made.never_timed(), 4u);
  EXPECT_FALSE(of_all(trace, made).known());
}

TEST(Extrapolation, OfOneBurstHasNoInterval) {
  BudgetRun run;
  for (const int64_t ns : {10, 20, 0, 0}) run.launch(ns, ns == 0);
  const Trace& trace = run.finish();
  const Extrapolated sum = of_all(trace, Extrapolation(trace, ProcessId{0}));
  EXPECT_DOUBLE_EQ(sum.total_ns, 60);
  EXPECT_LT(sum.half_ns, 0);
}

TEST(Extrapolation, OfARunThatWasTimedWholeSaysItsSumAndNoError) {
  BudgetRun run;
  for (const int64_t ns : {10, 20, 30}) run.launch(ns);
  const Trace& trace = run.finish();
  const Extrapolation made(trace, ProcessId{0});
  EXPECT_DOUBLE_EQ(of_all(trace, made).total_ns, 60);
  EXPECT_EQ(made.bursts(), 1u);
}

TEST(Extrapolation, DoesNotApplyWithoutABudgetAndOtherReportsAreThenNotRefused) {
  BudgetRun run;
  run.launch(10);
  Trace& trace = run.finish();
  EXPECT_THROW(need_all_times("idle", trace), std::runtime_error);
  trace.processes[0].facts = {{"gpu_times", "on"}};
  EXPECT_FALSE(Extrapolation(trace, ProcessId{0}).applies());
  EXPECT_NO_THROW(need_all_times("idle", trace));
}

TEST(Extrapolation, StudentsQuantilesAreThoseOfTables) {
  for (const auto& [degrees, value] :
       {std::pair<size_t, double>{1, 12.7062}, {5, 2.5706}, {6, 2.4469}, {10, 2.2281}, {30, 2.0423}, {1000, 1.9623}})
    EXPECT_NEAR(student_t_975(degrees), value, 0.001 * value) << degrees;
}

}  // namespace
}  // namespace prof::tests
