// Whom did a thread wait for, and what did that one do meanwhile?
#include "analyzer/analysis/idle/awaited_threads.h"

#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

// Thread 500 of process 100 waits. Process 200 has the threads 200 and 201. Times in ns, the period is 1000.
struct Waiting : HandTrace {
  uint32_t worker = 0, main = 0, feeder = 0, owner = 0;

  Waiting() {
    worker = process(200);
    owner = thread(0, 501);
    main = thread(worker, 200);
    feeder = thread(worker, 201);
    trace.host_sampling.period_ns = 1000;
  }
  // Samples of a thread must be added one thread after the other.
  void sample(uint32_t thread, int64_t time, uint32_t stack, HostState state = HostState::Running,
              std::string_view detail = {}) {
    HostSamples& to = trace.host_sampling.samples;
    to.thread.push_back(ThreadId{thread}), to.time_ns.push_back(time), to.state.push_back(state);
    to.blocked_in.push_back(detail.empty() ? BlockedIn::None : BlockedIn::Pipe), to.stack.push_back(StackId{stack});
    to.detail.push_back(detail.empty() ? StringId{} : trace.strings.intern(detail));
  }
  void samples(uint32_t thread, int64_t from, int64_t to, uint32_t stack, HostState state = HostState::Running,
               std::string_view detail = {}) {
    for (int64_t time = from + 500; time < to; time += 1000) sample(thread, time, stack, state, detail);
  }
  void state(uint32_t thread, int64_t begin, int64_t end, HostState state) {
    ThreadStates& to = trace.host_sampling.states;
    to.thread.push_back(ThreadId{thread}), to.begin_ns.push_back(begin), to.end_ns.push_back(end);
    to.state.push_back(state);
  }
  void holder(std::string_view pipe, uint32_t pid, bool logged) {
    PipeHolder row;
    row.pipe = trace.strings.intern(pipe);
    row.pid = pid;
    row.command = trace.strings.intern("python3 worker.py");
    if (logged) row.holder = ProcessId{worker};
    trace.host_sampling.holders.push_back(row);
  }
  // "process 200 (python3 worker.py) waited 10000: stack 2 10 samples 10000"
  std::string awaited(const std::vector<Interval>& pieces) {
    AwaitedTimes times(trace, views());
    for (const Interval& piece : pieces) times.add(0, piece);
    std::string text;
    for (const AwaitedTimes::Sum* sum : times.sums()) {
      text += awaited_text(trace, sum->who) + " waited " + std::to_string(sum->waited_ns) + ":";
      for (const HostCodeTime& each : sum->times.divide([](uint32_t code) { return code; }).groups) {
        text += " stack " + std::to_string(static_cast<uint32_t>(sum->times.codes()[each.group].stack)) + " " +
                std::to_string(each.samples) + " samples " + std::to_string(each.time_ns);
      }
      text += "\n";
    }
    return text;
  }
};

TEST(AwaitedThreads, ThreadsOfTheProcessThatHasThePipeAreChargedForTheBlockedIntervalsOfTheWaitingThread) {
  Waiting run;
  run.samples(0, 0, 5000, 1);
  run.samples(0, 5000, 15'000, 1, HostState::Blocked, "pipe:[7]");
  run.state(0, 0, 5000, HostState::Running);
  run.state(0, 5000, 15'000, HostState::Blocked);
  run.samples(run.main, 0, 20'000, 2);
  run.samples(run.feeder, 0, 10'000, 3);
  run.holder("pipe:[7]", 200, true);
  EXPECT_EQ(run.awaited({{0, 20'000}}),
            "process 200 (python3 worker.py) waited 10000: stack 2 10 samples 10000\n"
            "process 200 thread 201 (python3 worker.py) waited 10000: stack 3 5 samples 8500\n");
  EXPECT_EQ(run.awaited({{0, 7000}, {14'000, 16'000}}),
            "process 200 (python3 worker.py) waited 3000: stack 2 3 samples 3000\n"
            "process 200 thread 201 (python3 worker.py) waited 3000: stack 3 2 samples 3000\n");
}

TEST(AwaitedThreads, WithoutStatesASampleRepresentsTheTimeAroundIt) {
  Waiting run;
  run.samples(0, 0, 4000, 1);
  run.samples(0, 4000, 10'000, 1, HostState::Blocked, "pipe:[6] pipe:[7]");
  run.samples(run.main, 0, 20'000, 2);
  run.holder("pipe:[7]", 200, true);
  // The last sample reaches two periods further.
  EXPECT_EQ(run.awaited({{0, 20'000}}), "process 200 (python3 worker.py) waited 7500: stack 2 7 samples 7500\n");
}

TEST(AwaitedThreads, AProcessThatHasTwoAwaitedEndsIsChargedOnce) {
  Waiting run;
  run.samples(0, 0, 10'000, 1, HostState::Blocked, "pipe:[6] pipe:[7]");
  run.state(0, 0, 10'000, HostState::Blocked);
  run.samples(run.main, 0, 10'000, 2);
  run.holder("pipe:[6]", 200, true);
  run.holder("pipe:[7]", 200, true);
  EXPECT_EQ(run.awaited({{0, 10'000}}), "process 200 (python3 worker.py) waited 10000: stack 2 10 samples 10000\n");
}

TEST(AwaitedThreads, AProcessWithoutALogIsNamedAndNotCharged) {
  Waiting run;
  run.samples(0, 0, 10'000, 1, HostState::Blocked, "pipe:[7]");
  run.state(0, 0, 10'000, HostState::Blocked);
  run.samples(run.main, 0, 10'000, 2);
  run.holder("pipe:[7]", 300, false);
  run.holder("pipe:[8]", 200, true);
  EXPECT_EQ(run.awaited({{0, 10'000}}), "process 300 (python3 worker.py) waited 10000:\n");
}

TEST(AwaitedThreads, TheOwnerOfALockIsCharged) {
  Waiting run;
  run.samples(0, 0, 10'000, 1, HostState::Blocked, "held by thread 501");
  run.state(0, 0, 10'000, HostState::Blocked);
  run.samples(run.owner, 0, 10'000, 4);
  EXPECT_TRUE(any_awaited(run.trace));
  EXPECT_EQ(run.awaited({{2000, 8000}}), "thread 501 waited 6000: stack 4 6 samples 6000\n");
}

TEST(AwaitedThreads, AProcessForWhichAnotherThreadWaitsMeanwhileIsNamedAsNotProven) {
  Waiting run;
  run.samples(0, 0, 10'000, 1, HostState::Blocked, "");
  for (BlockedIn& blocked_in : std::span(&run.trace.host_sampling.samples.blocked_in[0], 10))
    blocked_in = BlockedIn::Condition;
  run.state(0, 0, 10'000, HostState::Blocked);
  run.samples(run.owner, 0, 10'000, 4, HostState::Blocked, "pipe:[7]");
  run.samples(run.main, 0, 10'000, 2);
  run.holder("pipe:[7]", 200, true);
  EXPECT_EQ(run.awaited({{0, 10'000}}), "process 200 (python3 worker.py) waited 10000:\n");
  AwaitedTimes times(run.trace, run.views());
  times.add(0, {0, 10'000});
  EXPECT_EQ(why_not_charged(times.sums().front()->who), "not proven: another thread waits for it");
}

TEST(AwaitedThreads, AWaitThatNamesNobodyChargesNobody) {
  Waiting run;
  run.samples(0, 0, 10'000, 1, HostState::Blocked, "/data/x");
  run.state(0, 0, 10'000, HostState::Blocked);
  run.samples(run.main, 0, 10'000, 2);
  EXPECT_FALSE(any_awaited(run.trace));
  EXPECT_EQ(run.awaited({{0, 10'000}}), "");
}

}  // namespace
}  // namespace prof::analyzer
