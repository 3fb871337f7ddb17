// Host samples divide the time of pieces: by hand, and as random experiments. Over many runs with random sampling
// times, the estimates have the true mean, and the 95 % interval covers the truth in 92 to 98 % of the runs.
#include "analyzer/analysis/idle/host_code_times.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

// One thread. Periods and times in ns.
struct SampledRun : HandTrace {
  explicit SampledRun(double period_ns) { trace.host_sampling.period_ns = period_ns; }
  void sample(int64_t time, uint32_t stack, HostState state = HostState::Running,
              BlockedIn blocked_in = BlockedIn::None, std::string_view detail = {}) {
    HostSamples& to = trace.host_sampling.samples;
    to.thread.push_back(ThreadId{0}), to.time_ns.push_back(time), to.state.push_back(state);
    to.blocked_in.push_back(blocked_in), to.stack.push_back(StackId{stack});
    to.detail.push_back(detail.empty() ? StringId{} : trace.strings.intern(detail));
  }
  void state(int64_t begin, int64_t end, HostState state) {
    ThreadStates& to = trace.host_sampling.states;
    to.thread.push_back(ThreadId{0}), to.begin_ns.push_back(begin), to.end_ns.push_back(end);
    to.state.push_back(state);
  }
  // "stack 1 running 5 samples 5000 …, not sampled 2000"
  std::string divided(const std::vector<Interval>& pieces) {
    const HostSampleRows& rows = host_sample_rows(views());
    HostCodeTimes times(trace, rows);
    for (const Interval& piece : pieces) times.add(0, piece);
    const HostCodeDivision division = times.divide([](uint32_t code) { return code; });
    std::string text;
    int64_t sum_ns = 0;
    for (const HostCodeTime& each : division.groups) {
      const HostCode& code = times.codes()[each.group];
      text += "stack " + std::to_string(static_cast<uint32_t>(code.stack)) + " " + host_state_text(trace, code) + " " +
              std::to_string(each.samples) + " samples " + std::to_string(each.time_ns) + "\n";
      sum_ns += each.time_ns;
    }
    text += "not sampled " + std::to_string(division.not_sampled_ns);
    for (const int64_t ns : division.not_sampled_in_state_ns) text += " " + std::to_string(ns);
    EXPECT_EQ(sum_ns + division.not_sampled_ns, division.total_ns);
    return text;
  }
};

TEST(HostCodeTimes, TheSamplesOfAPieceDivideItsTime) {
  SampledRun run(1000);
  for (int64_t i = 0; i < 6; ++i) run.sample(500 + 1000 * i, 1);
  for (int64_t i = 6; i < 10; ++i) run.sample(500 + 1000 * i, 2, HostState::Blocked, BlockedIn::File, "/data/x");
  EXPECT_EQ(run.divided({{0, 10'000}}),
            "stack 1 running 6 samples 6000\n"
            "stack 2 blocked in a file: /data/x 4 samples 4000\n"
            "not sampled 0 0 0 0");
}

TEST(HostCodeTimes, TimeFarFromEverySampleIsNotSampled) {
  SampledRun run(1000);
  for (int64_t i = 0; i < 10; ++i) run.sample(500 + 1000 * i, 1);
  run.sample(95'000, 2);
  // The samples reach from 0 to 13500 and from 91000 to 99000.
  EXPECT_EQ(run.divided({{0, 100'000}}),
            "stack 1 running 10 samples 10000\n"
            "stack 2 running 1 samples 1000\n"
            "not sampled 89000 0 0 0");
  EXPECT_EQ(run.divided({{20'000, 90'000}}), "not sampled 70000 0 0 0");
}

// prof ctl PID samples: sampled from 10000 to 20000 and from 22000 to 30000, then at another rate.
struct SwitchedRun : SampledRun {
  SwitchedRun() : SampledRun(1000) {
    for (const auto& [from_ns, period_ns] : std::vector<std::pair<int64_t, double>>{
             {10'000, 1000}, {20'000, 0}, {22'000, 1000}, {30'000, 0}, {30'000, 250}})
      trace.host_sampling.rates.push_back({ProcessId{0}, from_ns, period_ns, false, false});
    for (int64_t time = 10'500; time < 30'000; time += 1000) {
      if (time < 20'000 || time > 22'000) sample(time, time < 20'000 ? 1 : 2);
    }
    for (int64_t time = 30'125; time < 40'000; time += 250) sample(time, 3);
  }
};

TEST(HostCodeTimes, TimeInWhichSamplingWasOffIsNotSampledHoweverNearSamplesAre) {
  SwitchedRun run;
  EXPECT_EQ(run.divided({{0, 30'000}}),
            "stack 1 running 10 samples 10000\n"
            "stack 2 running 8 samples 8000\n"
            "not sampled 12000 0 0 0");
  EXPECT_EQ(run.divided({{20'100, 21'900}}), "not sampled 1800 0 0 0");
  EXPECT_EQ(run.divided({{9'000, 10'000}}), "not sampled 1000 0 0 0");
}

TEST(HostCodeTimes, TimeWithoutSamplingCountsInTheStateOfItsThread) {
  SwitchedRun run;
  run.state(0, 30'000, HostState::Running);
  run.state(30'000, 40'000, HostState::Blocked);
  EXPECT_EQ(run.divided({{0, 30'000}}),
            "stack 1 running 10 samples 10000\n"
            "stack 2 running 8 samples 8000\n"
            "not sampled 12000 12000 0 0");
}

TEST(HostCodeTimes, SamplesRepresentThePeriodsOfTheRateWithWhichTheyWereTaken) {
  SwitchedRun run;
  EXPECT_EQ(run.divided({{22'000, 40'000}}),
            "stack 3 running 40 samples 10000\n"
            "stack 2 running 8 samples 8000\n"
            "not sampled 0 0 0 0");
  run.state(10'000, 40'000, HostState::Running);
  const HostSampleRows rows(run.trace, run.views());
  for (uint32_t row = 0; row < 18; ++row) EXPECT_EQ(rows.weight_ns(0, row), 1000) << row;
  for (uint32_t row = 18; row < 58; ++row) EXPECT_EQ(rows.weight_ns(0, row), 250) << row;
}

TEST(HostCodeTimes, ShortPiecesAreRepresentedByTheSamplesOfOthers) {
  SampledRun run(1000);
  std::vector<Interval> pieces;
  for (int64_t i = 0; i < 1000; ++i) {
    pieces.push_back({10'000 * i, 10'000 * i + 200});
    if (i % 5 == 0) run.sample(10'000 * i + 100, i % 20 == 0 ? 1 : 2);
  }
  EXPECT_EQ(run.divided(pieces),
            "stack 2 running 150 samples 150000\n"
            "stack 1 running 50 samples 50000\n"
            "not sampled 0 0 0 0");
}

TEST(HostCodeTimes, SamplesRepresentNoMoreThanTheirPeriod) {
  SampledRun run(1000);
  std::vector<Interval> pieces;
  for (int64_t i = 0; i < 10'000; ++i) {
    pieces.push_back({10'000 * i, 10'000 * i + 200});
    if (i % 20 == 0) run.sample(10'000 * i + 100, 1);
  }
  EXPECT_EQ(run.divided(pieces), "stack 1 running 500 samples 500000\nnot sampled 1500000 0 0 0");
}

TEST(HostCodeTimes, StatesOfTheThreadBoundTheTime) {
  SampledRun run(1000);
  run.sample(500, 1);
  run.sample(1500, 1);
  for (const int64_t time : {4500, 5500, 6500}) run.sample(time, 2, HostState::Blocked, BlockedIn::Lock);
  for (const int64_t time : {7500, 8500, 9500}) run.sample(time, 3, HostState::Blocked, BlockedIn::Sleep);
  run.state(0, 3000, HostState::Running);
  run.state(3000, 4000, HostState::Runnable);
  run.state(4000, 10'000, HostState::Blocked);
  EXPECT_EQ(run.divided({{0, 10'000}}),
            "stack 1 running 2 samples 3000\n"
            "stack 2 waiting for a lock 3 samples 3000\n"
            "stack 3 sleeping 3 samples 3000\n"
            "not sampled 1000 0 1000 0");
}

// The recorder may be too late for a short wait.
TEST(HostCodeTimes, LongWaitsDoNotGetTheTimeOfShortOnesWithoutSamples) {
  SampledRun run(1000);
  for (int64_t begin = 0; begin < 100'000; begin += 10'000) {
    for (int64_t time = begin + 500; time < begin + 5000; time += 1000)
      run.sample(time, 2, HostState::Blocked, BlockedIn::Sleep);
    for (int64_t time = begin + 5500; time < begin + 9500; time += 1000) run.sample(time, 1);
    run.state(begin, begin + 5000, HostState::Blocked);
    run.state(begin + 5000, begin + 9500, HostState::Running);
    run.state(begin + 9500, begin + 10'000, HostState::Blocked);
  }
  EXPECT_EQ(run.divided({{0, 100'000}}),
            "stack 2 sleeping 50 samples 50000\n"
            "stack 1 running 40 samples 45000\n"
            "not sampled 5000 0 0 5000");
}

TEST(HostCodeTimes, ASampleIsInTheStateThatTheKernelReported) {
  SampledRun run(1000);
  run.sample(500, 1);
  run.state(0, 1000, HostState::Blocked);
  EXPECT_EQ(run.divided({{0, 1000}}), "stack 1 blocked 1 samples 1000\nnot sampled 0 0 0 0");
}

// The kernel samples a running thread by its CPU time. It may change the period.
TEST(HostCodeTimes, RunningSamplesRepresentTheRunningTimeBetweenThem) {
  SampledRun run(1000);
  int64_t time = 0;
  for (int i = 0; i < 100; ++i) run.sample(time += 600, 1);
  for (int i = 0; i < 60; ++i) run.sample(time += 1000, 2);
  run.state(0, time + 1, HostState::Running);
  HostCodeTimes times(run.trace, host_sample_rows(run.views()));
  times.add(0, {0, time + 1});
  for (const HostCodeTime& each : times.divide([](uint32_t code) { return code; }).groups)
    EXPECT_NEAR(static_cast<double>(each.time_ns), 60'000, 1'500);
}

// PROF_HOST_SAMPLES=starved: the recorder drops samples while it believes that the GPU works. A sample that it kept
// does not represent the time of those.
TEST(HostCodeTimes, AStarvedSampleDoesNotRepresentDroppedSamples) {
  for (const int64_t period_ns : {600, 1000, 1400}) {
    std::mt19937_64 random(static_cast<uint64_t>(period_ns));
    SampledRun run(1000);
    run.trace.host_sampling.starved_only = true;
    int64_t kept = 0, time = 0;
    for (int i = 0; i < 1000; ++i) {
      time += period_ns;
      if (random() % 2 == 0) run.sample(time, 1), ++kept;
    }
    run.state(0, time + 1, HostState::Running);
    HostCodeTimes times(run.trace, host_sample_rows(run.views()));
    times.add(0, {0, time + 1});
    const HostCodeDivision division = times.divide([](uint32_t code) { return code; });
    EXPECT_NEAR(static_cast<double>(division.sampled_ns()), static_cast<double>(kept * period_ns), 20'000) << period_ns;
  }
}

// A program whose thread is in random stacks in random pieces. Returns how far the estimates of stack 1 are off.
struct Experiment {
  double truth = 0, estimate = 0, half = 0;
};

struct Design {
  const char* name;
  double piece_ns, visit_ns;  // means
  double share;               // of stack 1
  int piece_count;
  bool periodic;  // all pieces have this length, and stack 1 has its share of each at its start
  bool jitter;    // distances of samples are between a half and one and a half periods; else exponential
};

Experiment experiment(const Design& design, uint32_t seed) {
  constexpr double kPeriod = 2'000'000;
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> piece(1 / design.piece_ns), visit(1 / design.visit_ns),
      independent(1 / kPeriod);
  std::uniform_real_distribution<double> jittered(0.5 * kPeriod, 1.5 * kPeriod);
  const auto gap = [&](std::mt19937_64& by) { return design.jitter ? jittered(by) : independent(by); };
  std::bernoulli_distribution first(design.share);
  SampledRun run(kPeriod);
  struct Visit {
    int64_t begin, end;
    uint32_t stack;
  };
  std::vector<Visit> visits;
  std::vector<Interval> pieces;
  Experiment result;
  int64_t now = 0;
  for (int i = 0; i < design.piece_count; ++i) {
    now += static_cast<int64_t>(design.periodic ? 5e6 : piece(random));  // a call, which is no piece
    const int64_t begin = now;
    const int64_t end = begin + static_cast<int64_t>(design.periodic ? design.piece_ns : piece(random)) + 1;
    pieces.push_back({begin, end});
    if (design.periodic) {
      const int64_t middle = begin + static_cast<int64_t>(design.share * design.piece_ns);
      visits.push_back({begin, middle, 1});
      visits.push_back({middle, end, 2});
      result.truth += static_cast<double>(middle - begin);
      now = end;
    }
    while (now < end) {
      const int64_t until = std::min(end, now + static_cast<int64_t>(visit(random)) + 1);
      visits.push_back({now, until, first(random) ? 1u : 2u});
      if (visits.back().stack == 1) result.truth += static_cast<double>(until - now);
      now = until;
    }
  }
  size_t at = 0;
  for (double time = gap(random); time < static_cast<double>(now); time += gap(random)) {
    const auto ns = static_cast<int64_t>(time);
    while (at < visits.size() && visits[at].end <= ns) ++at;
    const bool inside = at < visits.size() && visits[at].begin <= ns;
    const bool first_stack = inside && visits[at].stack == 1;
    run.sample(ns, inside ? visits[at].stack : 3, first_stack ? HostState::Running : HostState::Blocked);
  }
  HostCodeTimes times(run.trace, host_sample_rows(run.views()));
  for (const Interval& each : pieces) times.add(0, each);
  for (const HostCodeTime& each :
       times.divide([&](uint32_t code) { return static_cast<uint32_t>(times.codes()[code].stack); }).groups) {
    if (each.group != 1) continue;
    result.estimate = static_cast<double>(each.time_ns);
    result.half = static_cast<double>(each.half_ns);
  }
  return result;
}

// The recorder's way: the kernel samples running threads after a period of CPU time, which is another one after 32
// to 96 periods. Rounds at distances of 0.5 to 1.5 periods sample blocked threads. The states are known. Stacks 1
// and 2 run, stack 3 waits.
Experiment recorded_experiment(double stay_ns, uint32_t seed) {
  constexpr double kPeriod = 2'000'000, kRunNs = 4e9;
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> stay(1 / stay_ns);
  std::uniform_real_distribution<double> jittered(0.5 * kPeriod, 1.5 * kPeriod), reopened(32 * kPeriod, 96 * kPeriod);
  SampledRun run(kPeriod);
  Experiment result;
  double now = 0, round = jittered(random), left = jittered(random), period = left, reopen = reopened(random);
  uint32_t stack = 0;
  while (now < kRunNs) {
    const uint32_t before = stack;
    while (stack == before) stack = 1 + static_cast<uint32_t>(random() % 3);
    const double end = std::min(kRunNs, now + stay(random) + 1);
    if (stack == 1) result.truth += end - now;
    run.state(static_cast<int64_t>(now), static_cast<int64_t>(end),
              stack == 3 ? HostState::Blocked : HostState::Running);
    for (; round < end; round += jittered(random)) {
      if (stack == 3 && round >= now) run.sample(static_cast<int64_t>(round), 3, HostState::Blocked, BlockedIn::Sleep);
    }
    while (stack != 3 && now + left < end) {
      now += left;
      run.sample(static_cast<int64_t>(now), stack);
      if (now > reopen) {
        period = jittered(random);
        reopen = now + reopened(random);
      }
      left = period;
    }
    if (stack != 3) left -= end - now;
    now = end;
  }
  HostCodeTimes times(run.trace, host_sample_rows(run.views()));
  times.add(0, {0, static_cast<int64_t>(kRunNs)});
  for (const HostCodeTime& each :
       times.divide([&](uint32_t code) { return static_cast<uint32_t>(times.codes()[code].stack); }).groups) {
    if (each.group != 1) continue;
    result.estimate = static_cast<double>(each.time_ns);
    result.half = static_cast<double>(each.half_ns);
  }
  return result;
}

TEST(HostCodeTimes, TheIntervalHoldsForTheSamplerOfTheRecorder) {
  for (const double stay_ns : {0.3e6, 3e6, 15e6}) {
    constexpr int kRuns = 500;
    int covered = 0;
    double off = 0;
    for (int run = 0; run < kRuns; ++run) {
      const Experiment each = recorded_experiment(stay_ns, static_cast<uint32_t>(run + 1));
      covered += std::abs(each.estimate - each.truth) <= each.half ? 1 : 0;
      off += (each.estimate - each.truth) / each.truth / kRuns;
    }
    EXPECT_GE(covered, kRuns * 92 / 100) << stay_ns;
    EXPECT_LE(covered, kRuns * 98 / 100) << stay_ns;
    EXPECT_LT(std::abs(off), 0.005) << stay_ns;
  }
}

TEST(HostCodeTimes, TheIntervalCoversTheTruthIn92To98Percent) {
  const Design designs[] = {{"long pieces", 20e6, 7e6, 0.6, 80, false, false},
                            {"pieces of a period", 2e6, 1e6, 0.3, 600, false, false},
                            {"short pieces", 0.2e6, 0.1e6, 0.6, 5000, false, false},
                            {"a rare stack", 20e6, 1e6, 0.1, 100, false, false},
                            {"long stays, jitter", 40e6, 20e6, 0.6, 60, false, true},
                            {"long pieces, jitter", 20e6, 7e6, 0.6, 80, false, true},
                            {"stays of a period, jitter", 20e6, 2e6, 0.4, 80, false, true},
                            {"short stays, jitter", 20e6, 0.2e6, 0.4, 80, false, true},
                            {"short pieces, jitter", 0.2e6, 0.1e6, 0.6, 5000, false, true},
                            {"a periodic program", 15e6, 0, 2.0 / 3, 100, true, false},
                            {"a periodic program, jitter", 15e6, 0, 2.0 / 3, 100, true, true},
                            {"a fast periodic program, jitter", 3e6, 0, 2.0 / 3, 400, true, true}};
  for (const Design& design : designs) {
    constexpr int kRuns = 500;
    int covered = 0;
    double off = 0, squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      const Experiment each = experiment(design, static_cast<uint32_t>(run + 1));
      const double relative = (each.estimate - each.truth) / each.truth;
      covered += std::abs(each.estimate - each.truth) <= each.half ? 1 : 0;
      off += relative / kRuns;
      squares += relative * relative / kRuns;
    }
    const double deviation = std::sqrt(squares - off * off);
    EXPECT_GE(covered, kRuns * 92 / 100) << design.name;
    EXPECT_LE(covered, kRuns * 98 / 100) << design.name;
    EXPECT_LT(std::abs(off), 4 * deviation / std::sqrt(kRuns) + 0.002) << design.name;
  }
}

}  // namespace
}  // namespace prof::analyzer
