#include "preload/control/budget.h"

#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/gpu_activity.h"
#include "preload/capture/gpu_bursts.h"
#include "preload/control/budget_controller.h"
#include "preload/log/count.h"
#include "preload/record/launch_extras.h"
#include "preload/record/own_time.h"
#include "preload/record/texts.h"
#include "preload/record/thread_scope.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace prof::preload {

namespace {

// Every 17th launch of a thread is measured. The number is prime. Completion marks come every 32nd launch, if launches
// are not too fast for that, and every 2nd sample must not be one of them.
constexpr uint32_t kSampled = 17;
// After a burst CUPTI continues to collect. kSettleNs: from then on the number of records is trusted. kDrainNs: the
// longest wait.
constexpr uint64_t kSettleNs = 50'000'000, kDrainNs = 2'000'000'000;
constexpr uint64_t kReportNs = 1'000'000'000;  // after this time the rate of launches is taken as stable
// What CUPTI adds to a launch, in ns, measured on an H200 (2026-11-21). Used until this machine has been measured.
constexpr double kRestNs = 550, kBurstNs = 700;

// Durations in ticks, in 32 steps per power of two: medians are within 3 %.
class Histogram {
 public:
  void clear() {
    for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
  }
  void add(uint64_t ticks) { counts_[bucket(ticks)].fetch_add(1, std::memory_order_relaxed); }
  // Returns -1 if there are fewer than 32 values.
  double median() const {
    uint64_t all = 0, below = 0;
    for (const auto& count : counts_) all += count.load(std::memory_order_relaxed);
    if (all < 32) return -1;
    for (uint32_t i = 0; i < kBuckets; ++i) {
      below += counts_[i].load(std::memory_order_relaxed);
      if (2 * below >= all) return value(i);
    }
    return -1;
  }
  // The mean of all but the longest 0.5 %, in which the thread was taken off its core. Marks are 3 % of the launches
  // and are included. Returns -1 if there are fewer than 32 values.
  double mean() const {
    uint64_t all = 0, taken = 0;
    for (const auto& count : counts_) all += count.load(std::memory_order_relaxed);
    if (all < 32) return -1;
    const uint64_t most = all - all / 200;
    double sum = 0;
    for (uint32_t i = 0; i < kBuckets && taken < most; ++i) {
      const uint64_t here = std::min<uint64_t>(counts_[i].load(std::memory_order_relaxed), most - taken);
      sum += static_cast<double>(here) * value(i);
      taken += here;
    }
    return sum / static_cast<double>(taken);
  }

 private:
  static constexpr uint32_t kSteps = 32, kBuckets = 40 * kSteps;
  static uint32_t bucket(uint64_t ticks) {
    if (ticks < kSteps) return static_cast<uint32_t>(ticks);
    const auto power = static_cast<uint32_t>(std::bit_width(ticks)) - 6;  // ticks >> power is 32 to 63
    const uint64_t at = (power + 1) * kSteps + ((ticks >> power) - kSteps);
    return at < kBuckets ? static_cast<uint32_t>(at) : kBuckets - 1;
  }
  static double value(uint32_t bucket) {
    if (bucket < kSteps) return bucket;
    const uint32_t power = bucket / kSteps - 1;
    return (static_cast<double>(bucket % kSteps + kSteps) + 0.5) * static_cast<double>(uint64_t{1} << power);
  }
  std::atomic<uint32_t> counts_[kBuckets]{};
};

enum Phase : uint32_t { kBefore, kRest, kBurst, kPhases };  // of CUPTI: not attached yet, attached, collecting
Histogram g_calls[kPhases], g_after_call;
std::atomic<uint64_t> g_launches{0};
std::atomic<uint32_t> g_phase{kBefore};
constinit thread_local uint32_t t_turn __attribute__((tls_model("initial-exec"))) = 0;

BudgetController g_controller;
double g_share = 0, g_guard_ns = 0;
uint64_t g_begin_ns = 0, g_drain_begin_ns = 0;
bool g_refusal_reported = false;
BudgetController::Spent g_told;  // what the loss counters contain
uint64_t g_reported_elapsed_ns = 0;

double ns_of(double ticks) { return ticks * 1e9 / static_cast<double>(g_clock.ticks_per_second); }

// Measures what every hook does: the guard of the recorder and two clock readings.
void time_guard() {
  constexpr uint32_t kRounds = 1000;
  uint64_t sum = 0;
  const uint64_t begin = now_ticks();
  for (uint32_t i = 0; i < kRounds; ++i) {
    const ThreadScope scope;
    sum += now_ticks() + now_ticks();
  }
  const uint64_t end = now_ticks();
  asm volatile("" ::"r"(sum));
  g_guard_ns = ns_of(static_cast<double>(end - begin)) / kRounds;
}

LaunchCosts costs_now() {
  LaunchCosts costs{g_guard_ns, kRestNs, kBurstNs};
  if (const double after = g_after_call.mean(); after >= 0) costs.hook_ns += ns_of(after);
  const double before = g_calls[kBefore].median(), rest = g_calls[kRest].median(), burst = g_calls[kBurst].median();
  if (before >= 0 && rest >= 0) costs.rest_ns = std::max(0.0, ns_of(rest - before));
  if (before >= 0 && burst >= 0) costs.burst_ns = std::max(costs.rest_ns, ns_of(burst - before));
  return costs;
}

BudgetController::Totals totals_now() {
  return {monotonic_ns() - g_begin_ns, g_launches.load(std::memory_order_relaxed),
          static_cast<uint64_t>(ns_of(static_cast<double>(g_own_ticks.load(std::memory_order_relaxed))))};
}

// Adds what was spent to the loss counters, which survive a kill.
void tell(const BudgetController::Totals& now) {
  const auto add = [](format::LossCounter counter, double total, double& told) {
    const double more = total - told;
    if (more < 1) return;
    count(counter, static_cast<uint64_t>(more));
    told += static_cast<double>(static_cast<uint64_t>(more));
  };
  const BudgetController::Spent& spent = g_controller.spent();
  add(format::LossCounter::budget_own_ns, spent.own_ns, g_told.own_ns);
  add(format::LossCounter::budget_hooks_ns, spent.hooks_ns, g_told.hooks_ns);
  add(format::LossCounter::budget_cupti_ns, spent.cupti_ns, g_told.cupti_ns);
  count(format::LossCounter::budget_elapsed_ns, now.elapsed_ns - g_reported_elapsed_ns);
  g_reported_elapsed_ns = now.elapsed_ns;
}

// The first burst opens CUPTI, which takes longer than any later start of a burst.
void start_burst() {
  const uint64_t begin = now_ticks();
  if (!begin_gpu_burst()) return;
  if (const uint64_t opening = g_cupti_open_ticks.exchange(0, std::memory_order_relaxed); opening != 0) {
    const ThreadScope scope;
    const double ns = ns_of(static_cast<double>(opening + (now_ticks() - begin)));
    if (scope.recording()) define_meta("budget_opening_ns", Decimal(static_cast<uint64_t>(ns)).text());
  }
  g_phase.store(kBurst, std::memory_order_relaxed);
  count(format::LossCounter::budget_bursts);
}

void end_burst() {
  g_phase.store(kRest, std::memory_order_relaxed);
  end_gpu_burst();
  g_drain_begin_ns = monotonic_ns();
}

BurstDrain drain_now() {
  const uint64_t waited = monotonic_ns() - g_drain_begin_ns;
  return waited >= kDrainNs ? BurstDrain::Late : waited >= kSettleNs ? BurstDrain::Settled : BurstDrain::Early;
}

}  // namespace

void open_budget() {
  set_launch_extra(kLaunchBudget, false);
  g_share = options().budget.share;
  if (g_share == 0) return;
  for (Histogram& calls : g_calls) calls.clear();
  g_after_call.clear();
  g_launches.store(0, std::memory_order_relaxed);
  g_own_ticks.store(0, std::memory_order_relaxed);
  g_cupti_open_ticks.store(0, std::memory_order_relaxed);
  g_phase.store(kBefore, std::memory_order_relaxed);
  g_controller = BudgetController(g_share, now_ticks() * 0x9e3779b97f4a7c15);
  g_told = {};
  g_reported_elapsed_ns = g_drain_begin_ns = 0;
  g_refusal_reported = false;
  g_guard_ns = 0;
  g_begin_ns = monotonic_ns();
  set_launch_extra(kLaunchBudget, true);
}

void describe_budget() {
  if (budget_on()) define_meta("budget", options().budget.text);
}

void budget_launch(const format::KernelLaunch& event) {
  if (++t_turn % kSampled != 0) return;
  const uint32_t phase = g_phase.load(std::memory_order_relaxed);
  g_calls[phase].add(event.duration);
  g_launches.fetch_add(kSampled, std::memory_order_relaxed);
  g_after_call.add(now_ticks() - event.end);
}

uint64_t tend_budget() {
  if (!budget_on()) return 0;
  const uint64_t begin = now_ticks();
  if (g_guard_ns == 0) time_guard();
  const LaunchCosts costs = costs_now();
  BudgetController::Totals now = totals_now();
  const auto step = gpu_bursts_possible() ? g_controller.look(now, costs) : BudgetController::Step::None;
  switch (step) {
    case BudgetController::Step::Begin: start_burst(); break;
    case BudgetController::Step::End: end_burst(); break;
    case BudgetController::Step::None: break;
  }
  // Not in the round that ended the burst: launches in progress are counted a moment later.
  const bool draining =
      g_controller.state() == BudgetController::State::Draining && step != BudgetController::Step::End;
  const bool drained = draining && gpu_burst_drained(drain_now());
  budget_spend(now_ticks() - begin);
  now = totals_now();
  if (drained) g_controller.drained(now, costs);
  if (g_controller.refused() && !g_refusal_reported && now.elapsed_ns > kReportNs) {
    const ThreadScope scope;
    g_refusal_reported = scope.recording();
    const auto percent = static_cast<uint64_t>(100 * g_controller.share_needed(costs)) + 1;
    if (scope.recording()) define_meta("budget_needed", Decimal(percent).text());
  }
  tell(now);
  return g_controller.pause_ns(now);
}

}  // namespace prof::preload
