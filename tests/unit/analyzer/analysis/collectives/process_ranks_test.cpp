// Ranks of processes: their sources, and contradictions between them.
#include "analyzer/analysis/collectives/process_ranks.h"
#include "analyzer/model/process_names.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(RankInFileName, IsTheNumberAfterTheWordRankOrTheLetterR) {
  EXPECT_EQ(rank_in_file_name("traces/rank8.json.gz"), 8u);
  EXPECT_EQ(rank_in_file_name("job-rank_08.plog"), 8u);
  EXPECT_EQ(rank_in_file_name("Rank-137.123456.pt.trace.json"), 137u);
  EXPECT_EQ(rank_in_file_name("logs/r008.plog"), 8u);
  EXPECT_EQ(rank_in_file_name("node1-r3.plog"), 3u);
}

TEST(RankInFileName, IsNoOtherNumber) {
  for (const char* const name : {"prof.4711.plog", "rank3/prof.plog", "ranks.json", "forward5.json", "r5x.json",
                                 "rank99999999999999999999.json", "", "r"})
    EXPECT_EQ(rank_in_file_name(name), std::nullopt) << name;
}

Process& add(Trace& trace, uint32_t pid, const char* host, const char* rank) {
  Process& process = trace.processes.emplace_back();
  process.pid = pid, process.host = host, process.source = std::string(host) + ".plog";
  if (*rank != '\0') process.facts.emplace_back("rank", rank);
  return process;
}

// One call of NCCL on a thread of its own.
void call(Trace& trace, uint32_t process, std::string_view text) {
  Thread& thread = trace.threads.emplace_back();
  thread.process = ProcessId{process};
  Label& label = trace.labels.emplace_back();
  label.domain = trace.strings.intern("library"), label.text = trace.strings.intern(text);
  Range range;
  range.thread = ThreadId{static_cast<uint32_t>(trace.threads.size() - 1)};
  range.label = LabelId{static_cast<uint32_t>(trace.labels.size() - 1)};
  trace.ranges.push_back(range);
}

TEST(FindRanks, PrefersTheRecordedRankToCommunicatorsAndTheseToNamesOfFiles) {
  Trace trace;
  add(trace, 1, "a-rank7", "5");
  add(trace, 2, "b-rank7", "");
  add(trace, 3, "c-rank7", "-1");
  call(trace, 0, "ncclAllReduce(count=1, rank=1, ranks=4)");
  call(trace, 1, "ncclAllReduce(count=1, rank=0, ranks=2)");
  call(trace, 1, "ncclAllReduce(count=1, rank=3, ranks=4)");
  find_ranks(trace);
  EXPECT_EQ(trace.processes[0].rank, 5u);
  EXPECT_EQ(trace.processes[0].rank_from, RankFrom::Recorded);
  EXPECT_EQ(trace.processes[1].rank, 3u) << "of the larger communicator";
  EXPECT_EQ(trace.processes[1].rank_from, RankFrom::Communicator);
  EXPECT_EQ(trace.processes[2].rank, 7u);
  EXPECT_EQ(trace.processes[2].rank_from, RankFrom::FileName);
}

TEST(FindRanks, DoesNotTakeRanksOfCommunicatorsOfPartsOfTheJob) {
  Trace trace;
  add(trace, 1, "a", "");
  add(trace, 2, "b", "");
  call(trace, 0, "ncclAllReduce(count=1, rank=0, ranks=2)");
  call(trace, 1, "ncclAllReduce(count=1, rank=0, ranks=2)");
  find_ranks(trace);
  EXPECT_EQ(trace.processes[0].rank, std::nullopt);
  EXPECT_EQ(trace.processes[1].rank, std::nullopt);
  EXPECT_TRUE(rank_problems(trace).empty());
}

TEST(FindRanks, GivesNoRankToAProcessWithSeveralRanksOfOneCommunicator) {
  Trace trace;
  add(trace, 1, "a", "");
  call(trace, 0, "ncclAllReduce(count=1, rank=0, ranks=2)");
  call(trace, 0, "ncclAllReduce(count=1, rank=1, ranks=2)");
  find_ranks(trace);
  EXPECT_EQ(trace.processes[0].rank, std::nullopt);
}

TEST(RankProblems, NameARankThatTwoHostsClaim) {
  Trace trace;
  add(trace, 1, "a", "5");
  add(trace, 1, "b", "5");
  add(trace, 1, "c", "6");
  find_ranks(trace);
  const std::vector<std::string> lines = rank_problems(trace);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(
      lines[0].starts_with("rank 5 is claimed by several processes, such as pid 1 on a (a.plog) and pid 1 on b"))
      << lines[0];
}

TEST(RankProblems, AreNoneForPartsOfOneProcess) {
  Trace trace;
  add(trace, 1, "a", "5").source = "one.plog";
  add(trace, 1, "a", "5").source = "two.plog";
  find_ranks(trace);
  EXPECT_TRUE(rank_problems(trace).empty());
  EXPECT_FALSE(has_several_processes(trace));
}

TEST(RankProblems, NameSeveralJobsBySize) {
  Trace trace;
  add(trace, 1, "a", "0").facts.emplace_back("world_size", "2");
  add(trace, 1, "b", "1").facts.emplace_back("world_size", "4");
  add(trace, 1, "c", "2").facts.emplace_back("world_size", "4");
  find_ranks(trace);
  const std::vector<std::string> lines = rank_problems(trace);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("2 (1 process), 4 (2 processes)"), std::string::npos) << lines[0];
}

TEST(ProcessNames, HaveThePidAndHostOnlyWhereARankOrPidNamesSeveralProcesses) {
  Trace trace;
  add(trace, 1, "a", "5");
  add(trace, 1, "b", "5");
  add(trace, 1, "c", "6");
  add(trace, 7, "c", "");
  add(trace, 8, "c", "");
  add(trace, 8, "d", "");
  find_ranks(trace);
  for (Process& process : trace.processes) {
    if (process.rank_from != RankFrom::Recorded) process.rank = std::nullopt;
  }
  EXPECT_EQ(process_names(trace), (std::vector<std::string>{"rank 5 (pid 1 on a)", "rank 5 (pid 1 on b)", "rank 6",
                                                            "pid 7", "pid 8 on c", "pid 8 on d"}));
}

}  // namespace
}  // namespace prof::analyzer
