// Stacks in the log: each is written once however often it occurs, cut where an option requests it, and omitted if
// there is no space for it.
#include "preload/stacks/call_stack.h"

#include "preload/record/intern.h"
#include "tests/unit/preload/capture_log.h"
#include "tests/unit/preload/recording_child.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace prof::test {
namespace {

// Like a hook of a call that waits.
__attribute__((noinline)) void wait_call() {
  preload::CallScope scope(format::ApiId{7}, PROF_HOOK_FRAME());
  if (!scope.recording()) return;
  scope.end();
  format::StackedCall call;
  call.end = scope.end_tick();
  call.duration = scope.duration();
  call.stack = preload::stack_for(preload::StackUse::Sync);
  preload::emit(call);
  scope.leave();
}

// Every value of `levels` gives another stack.
__attribute__((noinline)) void wait_below(int levels) {
  if (levels == 0) {
    wait_call();
  } else {
    wait_below(levels - 1);
  }
  __asm__ volatile("" ::: "memory");
}

struct StackLog {
  std::vector<std::string> calls;   // the stack of each call, as text
  std::vector<std::string> stacks;  // definitions
  ScannedLog log;
};

std::string field(const std::string& line, const std::string& name) {
  const size_t at = line.find(' ' + name + '=');
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

StackLog record(const std::vector<std::string>& options, const std::function<void()>& body) {
  const TempFolder folder;
  EXPECT_EQ(run_child(folder.path(), options, body), 0);
  StackLog read;
  const std::vector<std::string> logs = folder.logs();
  EXPECT_EQ(logs.size(), 1u);
  if (logs.empty()) return read;
  for (const std::string& line : log_lines(logs[0], "stacked_call")) read.calls.push_back(field(line, "stack"));
  read.stacks = log_lines(logs[0], "stack");
  read.log = scan(logs[0]);
  EXPECT_TRUE(read.log.whole) << read.log.damage;
  return read;
}

size_t frames_of(const std::string& stack) {
  const std::string native = field(stack, "native");
  return static_cast<size_t>(std::count(native.begin(), native.end(), ';'));
}

TEST(StackIds, AStackIsWrittenOnceHoweverOftenAndByWhomItComes) {
  const StackLog log = record({"PROF_STACKS=sync"}, [] {
    for (int i = 0; i < 300; ++i) wait_below(i % 3);
    for (int i = 0; i < 3; ++i) std::thread([] { wait_below(1); }).join();
  });
  ASSERT_EQ(log.calls.size(), 303u);
  EXPECT_EQ(log.stacks.size(), 4u);  // three, and the stack of the threads
  EXPECT_EQ(std::set<std::string>(log.calls.begin(), log.calls.end()).size(), 4u);
  for (size_t i = 3; i < 300; ++i) EXPECT_EQ(log.calls[i], log.calls[i - 3]);
  std::set<size_t> depths;
  for (const std::string& stack : log.stacks) depths.insert(frames_of(stack));
  EXPECT_GE(depths.size(), 3u);
  EXPECT_EQ(log.log.counters.at("stacks_skipped"), 0u);
}

TEST(StackIds, OnlyTheCallsThatAreAskedForHaveOne) {
  for (const char* const uses : {"off", "launch,copy,alloc"}) {
    const StackLog log = record({std::string("PROF_STACKS=") + uses}, [] { wait_below(1); });
    ASSERT_EQ(log.calls.size(), 1u);
    EXPECT_EQ(log.calls[0], "0");
    EXPECT_TRUE(log.stacks.empty());
  }
  EXPECT_NE(record({"PROF_STACKS=launch,sync"}, [] { wait_below(1); }).calls.at(0), "0");
  EXPECT_EQ(record({"PROF_STACKS=lunch", "PROF_QUIET=1"}, [] { wait_below(1); }).calls.at(0), "0");
}

TEST(StackIds, TheDepthCanBeLimited) {
  const StackLog log = record({"PROF_STACKS=all", "PROF_STACK_DEPTH=5"}, [] { wait_below(20); });
  ASSERT_EQ(log.stacks.size(), 1u);
  EXPECT_EQ(frames_of(log.stacks[0]), 5u);
  EXPECT_EQ(field(log.stacks[0], "flags"), std::to_string(format::kStackNativeCut));
  EXPECT_EQ(log.log.counters.at("stacks_cut"), 1u);
  EXPECT_EQ(log.log.counters.at("stacks_broken"), 0u);
  EXPECT_EQ(log.log.counters.at("stacks_without_python"), 0u);
}

TEST(StackIds, StacksThatATableHasNoRoomForAreWrittenBeforeEachUse) {
  const StackLog log = record({"PROF_STACKS=all"}, [] {
    wait_call();  // the recorder starts here
    static preload::InternTable::Slot slots[16];
    preload::g_intern.stacks.open(slots, 16, 1);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 40; ++i) wait_below(i);
    }
  });
  ASSERT_EQ(log.calls.size(), 81u);
  EXPECT_EQ(std::count(log.calls.begin(), log.calls.end(), "0"), 0);
  const uint64_t again = log.log.counters.at("definitions_inline");
  EXPECT_GE(again, 2 * (40u - 14));
  EXPECT_GE(log.stacks.size(), 1 + again) << "each has its definition";
  EXPECT_GE(log.log.counters.at("definitions_inline_bytes"), 20 * again);
}

TEST(StackIds, ASignalHandlerInTheMiddleOfARecordTakesNone) {
  const StackLog log = record({"PROF_STACKS=all"}, [] {
    wait_call();
    preload::t_local.passing |= preload::kPassingBusy;  // the state that a handler sees
    wait_below(2);
    preload::t_local.passing = 0;
    wait_below(2);
  });
  EXPECT_EQ(log.calls.size(), 2u);
  EXPECT_EQ(log.stacks.size(), 2u) << "the handler's stack would have been a third, in the middle of a record";
  EXPECT_EQ(log.log.counters.at("stacks_skipped"), 0u);
  EXPECT_EQ(log.log.counters.at("records_dropped_busy"), 1u);
}

}  // namespace
}  // namespace prof::test
