// Samples and states of host threads: by thread and time, whichever thread wrote them.
#include "analyzer/input/log/build/builder.h"
#include "tests/unit/analyzer/log_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

using tests::LogBuilder;

// Threads 1 and 2 are sampled, thread 3 writes. Ticks are ns.
class SampledLog {
 public:
  SampledLog() {
    format::StringPart part;
    part.id = format::StringId{7}, part.total_bytes = 7, part.text = "/data/x";
    log_.define(part);
    const uint64_t addresses[] = {4096, 8192};
    format::StackDef stack;
    stack.id = format::StackId{5}, stack.native = format::Numbers{addresses, nullptr, 2};
    log_.define(stack);
    for (const uint32_t thread : {1u, 2u}) {
      format::ThreadDef def;
      def.tid = 40 + thread;
      log_.add(thread, def);
      format::NvtxMark mark;
      mark.time = 1000;
      log_.add(thread, mark);
    }
  }
  void rate(uint64_t from, uint64_t period_ns, uint32_t flags) {
    log_.define(format::HostSampling{from, period_ns, flags});
  }
  void sample(uint32_t thread, uint64_t time, format::HostState state, uint32_t blocked_in = 0, uint32_t detail = 0,
              uint32_t stack = 0) {
    log_.add(3,
             format::HostSample{time, format::ThreadOrdinal{thread}, state, static_cast<format::BlockedIn>(blocked_in),
                                format::StringId{detail}, format::StackId{stack}});
  }
  void state(uint32_t thread, uint64_t begin, uint64_t end, format::HostState state) {
    log_.add(3, format::HostStateSpan{end, end - begin, format::ThreadOrdinal{thread}, state});
  }
  std::unique_ptr<Trace> build() {
    log_.seal_all();
    std::vector<std::unique_ptr<LogFile>> logs;
    logs.push_back(log_.open_log());
    return build_trace(std::move(logs));
  }

 private:
  LogBuilder log_;
};

std::string samples_text(const Trace& trace) {
  std::string text;
  const HostSamples& rows = trace.host_sampling.samples;
  for (size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("{}@{}:{}/{}/{}/{} ", trace.thread(rows.thread[i]).tid, rows.time_ns[i],
                        static_cast<int>(rows.state[i]), static_cast<int>(rows.blocked_in[i]),
                        trace.text(rows.detail[i]), trace.stacks.native(rows.stack[i]).size());
  }
  return text;
}

std::string states_text(const Trace& trace) {
  std::string text;
  const ThreadStates& rows = trace.host_sampling.states;
  for (size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("{}:{}-{}={} ", trace.thread(rows.thread[i]).tid, rows.begin_ns[i], rows.end_ns[i],
                        static_cast<int>(rows.state[i]));
  return text;
}

TEST(PlaceHostSamples, OrdersThemByThreadAndTimeAndCountsThoseOfUnknownThreads) {
  using enum format::HostState;
  SampledLog log;
  log.rate(1000, 2'000'000, 0);
  log.sample(2, 3000, Running, 0, 0, 5);
  log.sample(1, 2000, Blocked, 1, 7, 5);
  log.sample(2, 1500, Runnable);
  log.sample(9, 1500, Running);      // the log has no thread 9
  log.sample(1, 1200, Blocked, 99);  // a reason of a newer recorder
  const auto trace = log.build();
  EXPECT_EQ(samples_text(*trace), "41@200:2/11//0 41@1000:2/1//data/x/2 42@500:1/0//0 42@2000:0/0//2 ");
  EXPECT_EQ(trace->processes[0].coverage.host_samples, 4u);
  EXPECT_EQ(trace->processes[0].coverage.host_samples_unplaced, 1u);
  EXPECT_EQ(trace->host_sampling.period_ns, 2e6);
  EXPECT_FALSE(trace->host_sampling.starved_only);
}

TEST(PlaceHostSamples, StatesOfAThreadDoNotOverlap) {
  using enum format::HostState;
  SampledLog log;
  log.rate(1000, 1000, format::kHostStarvedOnly);
  log.rate(5000, 0, format::kHostWithoutPerf);
  log.state(1, 2000, 3000, Blocked);
  log.state(2, 1000, 9000, Running);
  log.state(1, 1000, 2100, Running);
  log.state(1, 2200, 2800, Runnable);
  const auto trace = log.build();
  EXPECT_EQ(states_text(*trace), "41:0-1100=0 41:1100-2000=2 42:0-8000=0 ");
  ASSERT_EQ(trace->host_sampling.rates.size(), 2u);
  EXPECT_TRUE(trace->host_sampling.rates[0].starved_only);
  EXPECT_EQ(trace->host_sampling.rates[1].from_ns, 4000);
  EXPECT_EQ(trace->host_sampling.rates[1].period_ns, 0);
  EXPECT_TRUE(trace->host_sampling.rates[1].without_perf);
  EXPECT_TRUE(trace->host_sampling.starved_only);
}

// A log whose process has this pid and namespace, sampled from 1000 to 9000. Ticks are ns.
std::unique_ptr<LogFile> log_of_process(uint32_t pid, std::string_view space,
                                        const std::vector<format::PipeHolder>& holders = {}) {
  LogBuilder log;
  log.header.pid = pid;
  log.define(format::MetaDef{"boot_id", "b"});
  log.define(format::MetaDef{"pid_namespace", space});
  log.define(format::HostSampling{1000, 1000, 0});
  for (const format::PipeHolder& holder : holders) log.define(holder);
  for (const uint64_t time : {1000u, 9000u}) {
    format::NvtxMark mark;
    mark.time = time;
    log.add(1, mark);
  }
  log.seal_all();
  return log.open_log();
}

TEST(PlaceHostSamples, TheHolderOfAPipeIsTheProcessWithItsPidInTheSameNamespaceAtThatTime) {
  constexpr uint64_t kLate = 2'000'000'000;
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(log_of_process(40, "pid:[1]",
                                {{5000, 43, 0, "pipe:[7]", "worker a"},
                                 {5000, 44, 0, "pipe:[7]", "worker b"},
                                 {5000, 43, format::kHolderOfOtherNamespace, "pipe:[8]", ""},
                                 {kLate, 43, 0, "pipe:[9]", ""},
                                 {5000, 45, 0, "pipe:[7]", ""}}));
  logs.push_back(log_of_process(43, "pid:[1]"));
  logs.push_back(log_of_process(44, "pid:[2]"));
  const auto trace = build_trace(std::move(logs));
  std::string text;
  for (const PipeHolder& each : trace->host_sampling.holders)
    text += fmt::format("{} of {} {} '{}': {}\n", trace->text(each.pipe), trace->processes[index(each.waiting)].pid,
                        each.pid, trace->text(each.command),
                        each.holder ? std::to_string(trace->processes[index(*each.holder)].pid) : "no log");
  EXPECT_EQ(text,
            "pipe:[7] of 40 43 'worker a': 43\n"
            "pipe:[7] of 40 44 'worker b': no log\n"
            "pipe:[8] of 40 43 '': no log\n"
            "pipe:[7] of 40 45 '': no log\n"
            "pipe:[9] of 40 43 '': no log\n");
}

TEST(PlaceHostSamples, AThreadThatRecordsNothingItselfHasSamplesIfAnotherOneDefinesIt) {
  LogBuilder log;
  format::ThreadDef def;
  def.thread = format::ThreadOrdinal{9};
  def.tid = 49;
  def.name = "feeder";
  log.define(def);
  format::NvtxMark mark;
  mark.time = 1000;
  log.add(1, mark);
  log.add(1, format::HostSample{1500, format::ThreadOrdinal{9}, format::HostState::Running, {}, {}, {}});
  log.seal_all();
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(log.open_log());
  const auto trace = build_trace(std::move(logs));
  ASSERT_EQ(trace->host_sampling.samples.size(), 1u);
  const Thread& thread = trace->thread(trace->host_sampling.samples.thread[0]);
  EXPECT_EQ(thread.tid, 49u);
  EXPECT_EQ(thread.name, "feeder");
}

}  // namespace
}  // namespace prof::analyzer
