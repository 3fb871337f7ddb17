// What reports show of host samples: the code that kept a GPU waiting, with its time, and what no sample represents.
#include "analyzer/analysis/stacks/stack_tree.h"
#include "tests/unit/analyzer/analysis/stacks/stack_program.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::cell_text;
using tests::row_text;
using tests::StackProgram;

// Two kernels of 1 ms with 40 ms between them. Thread 500 tokenizes for 20 ms, waits 10 ms for a lock and was not
// sampled for 10 ms.
struct Sampled : StackProgram {
  Sampled() {
    trace.processes[0].rank = 3;
    launch(0, 10'000, 1);
    kernel(10'000, 1'010'000, 1);
    const uint32_t tokenize = stack({}, {"tokenize (app.py:41)", "handle (app.py:90)", "main (app.py:99)"});
    const uint32_t other = stack({}, {"tokenize (app.py:41)", "warm_up (app.py:12)"});
    const uint32_t wait = stack({}, {"get (queue.py:171)", "handle (app.py:92)", "main (app.py:99)"});
    for (int64_t i = 0; i < 20; ++i) sample(1'500'000 + 1'000'000 * i, i < 2 ? other : tokenize);
    for (int64_t i = 20; i < 30; ++i) sample(1'500'000 + 1'000'000 * i, wait, HostState::Blocked, BlockedIn::Lock);
    launch(41'010'000, 41'020'000, 2);
    kernel(41'020'000, 42'020'000, 2);
    trace.host_sampling.period_ns = 1'000'000;
    finish();
  }
  void sample(int64_t time, uint32_t stack, HostState state = HostState::Running,
              BlockedIn blocked_in = BlockedIn::None) {
    HostSamples& to = trace.host_sampling.samples;
    to.thread.push_back(ThreadId{0}), to.time_ns.push_back(time), to.state.push_back(state);
    to.blocked_in.push_back(blocked_in), to.stack.push_back(StackId{stack}), to.detail.push_back(StringId{});
  }
};

TEST(HostSampleReports, IdleDividesTheRowOfACauseByCode) {
  Sampled run;
  const Table table = run.report(report_idle);
  std::string rows;
  int64_t parts_ns = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    rows += row_text(table, row, {"cause", "host_code", "host_state", "gaps", "time", "samples"}) + "\n";
    if (!cell_text(table, row, "host_code").empty()) parts_ns += std::stoll(cell_text(table, row, "time"));
  }
  EXPECT_EQ(rows,
            "outside any call |  |  | 1 | 40000000 | \n"
            "outside any call | tokenize (app.py:41) | running |  | 22326667 | 20\n"
            "outside any call | get (queue.py:171) | waiting for a lock |  | 11163333 | 10\n"
            "outside any call | not sampled |  |  | 6510000 | 0\n"
            "launch call |  |  | 1 | 10000 | \n");
  EXPECT_EQ(parts_ns, 40'000'000);
}

TEST(HostSampleReports, IdleGapsNameTheCodeWithTheMostSamples) {
  Sampled run;
  const Table gaps = run.report(report_idle_gaps);
  ASSERT_EQ(gaps.rows(), 1u);
  EXPECT_EQ(row_text(gaps, 0, {"host_code", "host_state", "host_code_time", "samples", "host_samples"}),
            "tokenize (app.py:41) | running | 22326667 | 20 | 30");
  run.options.group_by = {"stack:2"};
  const Table grouped = run.report(report_idle_gaps);
  std::string rows;
  for (size_t row = 0; row < grouped.rows(); ++row)
    rows += row_text(grouped, row, {"cause", "gaps", "time", "host_state", "samples", "stack"}) + "\n";
  EXPECT_EQ(rows,
            "outside any call |  | 20094000 | running | 18 | tokenize (app.py:41);handle (app.py:90)\n"
            "outside any call |  | 11163333 | waiting for a lock | 10 | get (queue.py:171);handle (app.py:92)\n"
            "outside any call |  | 6510000 | not sampled | 0 | \n"
            "outside any call |  | 2232667 | running | 2 | tokenize (app.py:41);warm_up (app.py:12)\n"
            "launch call | 1 | 10000 |  |  | \n");
}

TEST(HostSampleReports, AdviseBeginsWithTheCodeThatKeptTheGpuWaiting) {
  Sampled run;
  const Table table = run.report(report_advise);
  ASSERT_FALSE(table.notes.empty());
  EXPECT_EQ(
      table.notes[0],
      "the GPU of rank 3 is idle 95 % of the run. 56 % (+-13) of that is tokenize (app.py:41), called from "
      "handle (app.py:90); 28 % (+-13) is waiting for a lock in get (queue.py:171), called from handle "
      "(app.py:92); 16 % is not sampled; do: make it cheaper, take it out of the loop, or run it in another thread "
      "or process while the GPU works");
}

TEST(HostSampleReports, FlameGraphsGoDownToTheStateOfTheThread) {
  Sampled run;
  run.options.metric = "idle";
  const Table idle = run.report(report_flame);
  std::string rows;
  for (size_t row = 0; row < idle.rows(); ++row) rows += row_text(idle, row, {"total", "frame"}) + "\n";
  EXPECT_EQ(rows,
            "31257333 | app.py(99): main\n"
            "20094000 |   app.py(90): handle\n"
            "20094000 |     app.py(41): tokenize\n"
            "20094000 |       running\n"
            "11163333 |   app.py(92): handle\n"
            "11163333 |     queue.py(171): get\n"
            "11163333 |       waiting for a lock\n"
            "6510000 | outside any call: not sampled\n"
            "2232667 | app.py(12): warm_up\n"
            "2232667 |   app.py(41): tokenize\n"
            "2232667 |     running\n");
  run.options.metric = "host-time";
  const Table host = run.report(report_hot_stacks);
  EXPECT_EQ(row_text(host, 0, {"self", "total", "count", "function", "source"}),
            "20000000 | 20000000 | 20 | tokenize | app.py:41");
  EXPECT_EQ(cell_text(host, 1, "self"), "0");
}

TEST(HostSampleReports, HostTimeHasAllSampledThreadsOfAProcessThatLaunchesNothing) {
  Sampled run;
  for (Thread& thread : run.trace.threads) thread.host = {};
  run.options.metric = "host-time";
  const Table host = run.report(report_hot_stacks);
  EXPECT_EQ(row_text(host, 0, {"self", "function"}), "20000000 | tokenize");
}

TEST(HostSampleReports, HostTimeNotesThatTheRateChanged) {
  const auto note_of = [](std::vector<HostSamplingRate> rates) {
    Sampled run;
    run.trace.host_sampling.rates = std::move(rates);
    run.options.metric = "host-time";
    std::string notes;
    for (const std::string& note : run.report(report_hot_stacks).notes) {
      if (note.find("outstanding") != std::string::npos || note.find("switched") != std::string::npos)
        notes += note + "\n";
    }
    return notes;
  };
  const ProcessId one{0};
  EXPECT_EQ(note_of({{one, 0, 1e6, false, false}, {one, 50'000'000, 0, false, false}}), "");
  EXPECT_EQ(note_of({{one, 0, 1e6, true, false}, {one, 50'000'000, 0, true, false}}),
            "host samples were taken only while no device had anything outstanding\n");
  EXPECT_EQ(
      note_of({{one, 0, 1e6, false, false}, {one, 9'000'000, 0, false, false}, {one, 10'000'000, 1e6, true, false}}),
      "in a part of the run or of the processes, host samples were taken only while no device had anything "
      "outstanding\n"
      "host samples were switched off and on again, or got another rate, 1 times while the program ran; time "
      "without them is not shown\n");
}

}  // namespace
}  // namespace prof::analyzer
