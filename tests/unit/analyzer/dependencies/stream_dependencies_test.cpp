// What a stream waits for if the log does not name an event: words of memory, functions of the program, events that a
// capture or a graph owns. Answers computed by hand.
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/dependencies/dependencies.h"
#include "analyzer/dependencies/value_waits.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace prof::analyzer {
namespace {

constexpr uint32_t kWait32 = 1, kWrite32 = 2, kWait64 = 4, kWrite64 = 5;  // CUstreamBatchMemOpType
constexpr uint32_t kGeq = 0, kEq = 1, kAnd = 2, kNor = 3;
constexpr uint64_t kWord = 0x7000;

// A log of two streams, 0 and 1.
struct StreamLog : tests::HandTrace {
  StreamLog() {
    stream(0, 13);
    trace.processes[0].format = "prof log";
  }
  void launched(int64_t begin, int64_t start, int64_t end, uint32_t on) {
    launch(begin, begin + 5, ++next_id);
    kernel(start, end, next_id, on);
  }
  // The begin of a call identifies it.
  void on_stream(std::string_view api, int64_t begin, uint32_t on, uint64_t subject = 0) {
    call(api, begin, begin + 5, 0, 0, subject);
    streams.push_back({begin, on});
  }
  void memory_op(int64_t begin, uint32_t on, uint32_t what, uint64_t value, uint32_t flags = 0,
                 uint64_t address = kWord) {
    on_stream(what == kWait32 || what == kWait64 ? "cuStreamWaitValue32" : "cuStreamWriteValue32", begin, on, address);
    ops.push_back({begin, what, value, flags, address});
  }
  Dependencies dependencies() {
    finish();
    for (HostStream& row : trace.host_streams) row.type = 2, row.flags = 1;
    for (uint32_t row = 0; row < trace.host.size(); ++row) {
      for (const auto& [begin, on] : streams) {
        if (trace.host[row].begin_ns == begin) trace.host[row].stream = HostStreamId{1 + on};
      }
      for (const Op& op : ops) {
        if (trace.host[row].begin_ns != op.begin) continue;
        trace.memory_ops.push_back({op.begin + 5, op.address, op.value, row, ThreadId{0}, op.what, op.flags});
      }
    }
    return Dependencies(trace);
  }

  struct OnStream {
    int64_t begin;
    uint32_t on;
  };
  struct Op {
    int64_t begin;
    uint32_t what;
    uint64_t value;
    uint32_t flags;
    uint64_t address;
  };
  std::vector<OnStream> streams;
  std::vector<Op> ops;
  uint32_t next_id = 0;
};

StreamMemoryOp wait_for(uint32_t what, uint64_t value, uint32_t flags) {
  StreamMemoryOp op;
  op.what = what, op.value = value, op.flags = flags;
  return op;
}

TEST(ValueWaits, EachConditionIsThatOfTheDriver) {
  EXPECT_TRUE(ends_wait(wait_for(kWait32, 5, kGeq), 5));
  EXPECT_FALSE(ends_wait(wait_for(kWait32, 5, kGeq), 4));
  EXPECT_TRUE(ends_wait(wait_for(kWait32, 0xffffffff, kGeq), 0)) << "the difference is signed: counters may wrap";
  EXPECT_FALSE(ends_wait(wait_for(kWait64, 0xffffffff, kGeq), 0));
  EXPECT_TRUE(ends_wait(wait_for(kWait32, 7, kEq), 7));
  EXPECT_FALSE(ends_wait(wait_for(kWait32, 7, kEq), 8));
  EXPECT_TRUE(ends_wait(wait_for(kWait64, uint64_t{1} << 40, kAnd), uint64_t{3} << 40));
  EXPECT_FALSE(ends_wait(wait_for(kWait64, uint64_t{1} << 40, kAnd), uint64_t{1} << 41));
  EXPECT_TRUE(ends_wait(wait_for(kWait32, 0xfffffffe, kNor), 2));
  EXPECT_FALSE(ends_wait(wait_for(kWait32, 0xfffffffe, kNor), 1)) << "all bits of one or the other are set";
}

// The write comes before the wait or, in the other case, after it.
TEST(Dependencies, WhatComesBehindAWaitForAValueWaitsForWhatRanBeforeTheWrite) {
  for (const bool write_first : {true, false}) {
    StreamLog log;
    log.launched(0, 10, 100, 0);
    log.memory_op(write_first ? 10 : 20, 0, kWrite32, 5);
    log.memory_op(write_first ? 20 : 10, 1, kWait32, 4, kGeq);
    log.launched(30, 110, 120, 1);
    const Dependencies waits = log.dependencies();
    ASSERT_EQ(waits.of_operations.size(), 1u);
    EXPECT_EQ(log.trace.operations[waits.of_operations[0].operation].end_ns, 100);
    EXPECT_EQ(log.trace.operations[waits.of_operations[0].waiter].start_ns, 110);
    EXPECT_EQ(waits.unknown + waits.contradicted, 0u);
  }
}

TEST(Dependencies, AWriteOfAnotherWordWidthOrValueEndsNoWait) {
  struct Other {
    uint32_t what;
    uint64_t value, address;
  };
  for (const Other other : {Other{kWrite32, 5, kWord + 4}, Other{kWrite64, 5, kWord}, Other{kWrite32, 3, kWord}}) {
    StreamLog log;
    log.launched(0, 10, 100, 0);
    log.memory_op(10, 0, other.what, other.value, 0, other.address);
    log.memory_op(20, 1, kWait32, 4, kGeq);
    log.launched(30, 110, 120, 1);
    const Dependencies waits = log.dependencies();
    EXPECT_TRUE(waits.of_operations.empty());
    EXPECT_EQ(waits.unknown, 1u);
  }
}

// A flag that is set and cleared: each wait belongs to the write of its own round. A counter: a wait belongs to the
// first write that is large enough.
TEST(Dependencies, OfSeveralWritesTheFirstThatFitsSinceOneThatDoesNotIsWaitedFor) {
  for (const bool counter : {false, true}) {
    StreamLog log;
    log.launched(0, 10, 100, 0);
    log.memory_op(10, 0, kWrite32, 1);
    log.launched(20, 101, 200, 0);
    log.memory_op(30, 0, kWrite32, counter ? 2 : 0);
    log.launched(40, 201, 300, 0);
    log.memory_op(50, 0, kWrite32, counter ? 3 : 1);
    log.memory_op(60, 1, kWait32, counter ? 2 : 1, counter ? kGeq : kEq);
    log.launched(70, 310, 320, 1);
    const Dependencies waits = log.dependencies();
    ASSERT_EQ(waits.of_operations.size(), 1u);
    EXPECT_EQ(log.trace.operations[waits.of_operations[0].operation].end_ns, counter ? 200 : 300);
  }
}

TEST(Dependencies, AWaitForAValueThatTheTimesDenyIsDroppedAndCounted) {
  StreamLog log;
  log.launched(0, 10, 100, 0);
  log.memory_op(10, 0, kWrite32, 5);
  log.memory_op(20, 1, kWait32, 5, kGeq);  // the word was 5 before
  log.launched(30, 40, 50, 1);
  const Dependencies waits = log.dependencies();
  EXPECT_TRUE(waits.of_operations.empty());
  EXPECT_EQ(waits.contradicted, 1u);
}

// If more writes match than are examined, the dependency is unknown. The same holds for a write with nothing before it.
TEST(Dependencies, WhatCannotBeToldIsNotGuessed) {
  StreamLog log;
  log.launched(0, 10, 100, 0);
  for (int64_t i = 0; i < 70; ++i) log.memory_op(10 + 10 * i, 0, kWrite32, 1);
  log.memory_op(800, 1, kWait32, 1, kGeq);
  log.launched(810, 900, 910, 1);
  const Dependencies waits = log.dependencies();
  EXPECT_TRUE(waits.of_operations.empty());
  EXPECT_EQ(waits.unknown, 1u);

  StreamLog early;
  early.memory_op(0, 0, kWrite32, 1);
  early.launched(10, 20, 100, 0);
  early.memory_op(30, 1, kWait32, 1, kGeq);
  early.launched(40, 110, 120, 1);
  const Dependencies none = early.dependencies();
  EXPECT_TRUE(none.of_operations.empty());
  EXPECT_EQ(none.unknown, 0u);
}

// Under capture an event marks a place in the graph: operations after the capture wait for nothing.
TEST(Dependencies, EventsOfACaptureOrderNothingOutsideIt) {
  StreamLog log;
  log.launched(0, 10, 100, 0);
  log.on_stream("cuStreamBeginCapture_v2", 10, 0);
  log.on_stream("cuEventRecord", 20, 0, 0xe1);
  log.on_stream("cuStreamWaitEvent", 30, 1, 0xe1);
  log.on_stream("cuEventRecord", 40, 1, 0xe2);
  log.on_stream("cuStreamWaitEvent", 50, 0, 0xe2);
  log.on_stream("cuStreamEndCapture", 60, 0);
  log.launched(70, 110, 120, 1);
  const Dependencies waits = log.dependencies();
  EXPECT_TRUE(waits.of_operations.empty());
  EXPECT_EQ(waits.unknown, 0u);

  StreamLog behind;  // and outside the capture these are streams again
  behind.on_stream("cuStreamBeginCapture_v2", 0, 0);
  behind.on_stream("cuStreamEndCapture", 10, 0);
  behind.launched(20, 30, 100, 0);
  behind.on_stream("cuEventRecord", 30, 0, 0xe1);
  behind.on_stream("cuStreamWaitEvent", 40, 1, 0xe1);
  behind.launched(50, 110, 120, 1);
  EXPECT_EQ(behind.dependencies().of_operations.size(), 1u);
}

TEST(Dependencies, WaitsForEventsOfGraphsContextsAndOfNoRecordAreCountedAsNotKnown) {
  for (const std::string_view record : {"", "cuCtxRecordEvent", "cuEventRecordWithFlags"}) {
    StreamLog log;
    log.launched(0, 10, 100, 0);
    if (!record.empty()) {
      log.on_stream("cuEventRecord", 10, 0, 0xe1);  // is overwritten
      log.call(record, 20, 25, 0, 0, 0xe1);
    }
    log.on_stream("cuStreamWaitEvent", 30, 1, 0xe1);
    log.launched(40, 110, 120, 1);
    if (record == "cuEventRecordWithFlags") {
      GraphNode node;
      node.type = 7, node.call = 2, node.thread = ThreadId{0};
      log.streams.push_back({20, 0});
      log.trace.graph_nodes.push_back(node);
    }
    const Dependencies waits = log.dependencies();
    EXPECT_TRUE(waits.of_operations.empty()) << record;
    EXPECT_EQ(waits.unknown, 1u) << record;
  }
}

std::vector<Gap> gaps_of(StreamLog& log, const Interval& window) {
  log.dependencies();
  return find_gaps(log.trace, log.views(), log.selection, window);
}

TEST(Gaps, AStreamThatWaitedForAWordOfMemorySaysSo) {
  for (const bool written : {true, false}) {  // false: written by the program
    StreamLog log;
    log.launched(0, 10, 100, 0);
    if (written) log.memory_op(10, 0, kWrite32, 5);
    log.memory_op(20, 1, kWait32, 5, kEq);
    log.launched(30, 50'100, 50'200, 1);
    const std::vector<Gap> gaps = gaps_of(log, {10, 50'200});
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_EQ(gaps[0].cause, GapCause::ValueWait);
    EXPECT_EQ(log.trace.api_name(log.trace.host[gaps[0].call]), "cuStreamWaitValue32");
  }
}

TEST(Gaps, WhatWaitsBehindAHostFunctionIsNotHeldByTheUnknown) {
  for (const int64_t start : {200, 80'000}) {
    StreamLog log;
    log.launched(0, 10, 100, 0);
    log.on_stream("cuLaunchHostFunc", 10, 0);
    log.launched(20, start, start + 100, 0);
    const std::vector<Gap> gaps = gaps_of(log, {10, start + 100});
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_EQ(gaps[0].cause, GapCause::HostFunction);
    EXPECT_EQ(log.trace.api_name(log.trace.host[gaps[0].call]), "cuLaunchHostFunc");
  }
}

// The function started when the operation before it on its stream had ended, long before the GPU became idle.
TEST(Gaps, AHostFunctionThatBeganBeforeAShortGapDoesNotExplainIt) {
  StreamLog log;
  log.launched(0, 10, 100, 0);
  log.on_stream("cuLaunchHostFunc", 10, 0);
  log.launched(20, 30, 5000, 1);
  log.launched(40, 5100, 5200, 0);
  const std::vector<Gap> gaps = gaps_of(log, {10, 5200});
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].cause, GapCause::Queued);
}

}  // namespace
}  // namespace prof::analyzer
