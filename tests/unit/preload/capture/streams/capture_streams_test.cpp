// Which stream a call refers to, and what was launched into it.
#include "tests/unit/preload/capture/streams/capture_fixture.h"

#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace prof::test {
namespace {

using namespace preload;
using Streams = CaptureTest;

TEST_F(Streams, NullStreamIsOneAContextWhateverItsHandle) {
  StreamState* const first = stream_state(nullptr, NullStream::Legacy);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first, stream_state(CU_STREAM_LEGACY, NullStream::PerThread));
  FakeDriver::current = context_handle(1);
  StreamState* const second = stream_state(nullptr, NullStream::Legacy);
  EXPECT_NE(first, second);
  EXPECT_NE(stream_id(first), stream_id(second));
  FakeDriver::current = context_handle(0);
  EXPECT_EQ(first, stream_state(nullptr, NullStream::Legacy));
}

TEST_F(Streams, PerThreadStreamIsOneAThread) {
  StreamState* const here = stream_state(nullptr, NullStream::PerThread);
  EXPECT_EQ(here, stream_state(CU_STREAM_PER_THREAD, NullStream::Legacy));
  EXPECT_NE(here, stream_state(nullptr, NullStream::Legacy));
  std::set<format::StreamId> ids{stream_id(here)};
  for (int i = 0; i < 8; ++i) {  // one after another: they get the same memory for their thread-local storage
    std::thread([&] {
      enter_thread();
      StreamState* const there = stream_state(nullptr, NullStream::PerThread);
      EXPECT_NE(there, here);
      EXPECT_EQ(depth_before(there), 0u);
      launched(there, 3, now_ticks());
      ids.insert(stream_id(there));
    }).join();
  }
  EXPECT_EQ(ids.size(), 9u);
}

TEST_F(Streams, HandleUsedAgainIsANewStream) {
  StreamState* const old = stream(1);
  const format::StreamId old_id = stream_id(old);
  launched(old, 5, now_ticks());
  EXPECT_EQ(depth_before(old), 5u);
  stream_destroyed(stream_handle(1));
  StreamState* const fresh = stream(1);
  EXPECT_NE(stream_id(fresh), old_id);
  EXPECT_EQ(depth_before(fresh), 0u);
}

TEST_F(Streams, AThreadThatLastUsedADestroyedStreamDoesNotTakeItsSlotsNextStreamForIt) {
  StreamState* const old = stream(1);  // cached by this thread
  const format::StreamId old_id = stream_id(old);
  stream_destroyed(stream_handle(1));
  StreamState* other = nullptr;
  std::thread([&] {
    enter_thread();
    other = stream(2);
  }).join();
  ASSERT_EQ(other, old) << "the slot is used again, else this tests nothing";
  StreamState* const again = stream(1);
  EXPECT_NE(again, other);
  EXPECT_NE(stream_id(again), old_id);
  EXPECT_EQ(stream(2), other);
}

TEST_F(Streams, ARecordOfAThreadWithoutAStateIsCountedNotWritten) {
  const uint64_t before = counted(format::LossCounter::no_thread_state);
  bool written = true;
  // outside of any scope: the thread has no state
  std::thread([&] { written = preload::emit(format::NvtxPop{}); }).join();
  EXPECT_FALSE(written);
  EXPECT_EQ(counted(format::LossCounter::no_thread_state), before + 1);
}

TEST_F(Streams, WhatIsToldLateOfADestroyedStreamDoesNotTouchTheNextOne) {
  StreamState* const old = stream(1);
  launched(old, 5, now_ticks());
  record_event(event_handle(1), old);
  const uint64_t upto = old->launched.load();
  stream_destroyed(stream_handle(1));
  StreamState* const fresh = stream(2);
  ASSERT_EQ(fresh, old) << "the slot is used again, else this tests nothing";
  launched(fresh, 4, now_ticks());
  finish_event(event_handle(1));
  completed(old, {upto, 0});
  EXPECT_EQ(depth_before(fresh), 4u);
}

TEST_F(Streams, AFullTableOfContextsIsCountedAndDestroyedContextsMakeRoom) {
  for (uint64_t n = 0; n < kMaxContexts; ++n) ASSERT_NE(context_id(context_handle(n)), format::ContextId{}) << n;
  const uint64_t before = counted(format::LossCounter::depth_streams_full);
  EXPECT_EQ(context_id(context_handle(kMaxContexts)), format::ContextId{});
  EXPECT_EQ(find_context(context_handle(kMaxContexts)), nullptr);
  EXPECT_EQ(counted(format::LossCounter::depth_streams_full), before + 1);
  EXPECT_NE(find_context(context_handle(kMaxContexts - 1)), nullptr);
  context_destroyed(context_handle(77));
  EXPECT_NE(context_id(context_handle(kMaxContexts)), format::ContextId{});
}

TEST_F(Streams, FullTableIsCountedAndDestroyedStreamsMakeRoom) {
  for (uint64_t n = 0; n < kMaxStreams; ++n) ASSERT_NE(stream(n), nullptr) << n;
  const uint64_t before = counted(format::LossCounter::depth_streams_full);
  EXPECT_EQ(stream(kMaxStreams), nullptr);
  EXPECT_EQ(counted(format::LossCounter::depth_streams_full), before + 1);
  EXPECT_EQ(depth_before(nullptr), 0u);
  EXPECT_EQ(stream_id(nullptr), format::StreamId{});
  stream_destroyed(stream_handle(77));
  EXPECT_NE(stream(kMaxStreams), nullptr);
}

TEST_F(Streams, AHundredThousandShortLivedOnesFit) {
  for (uint64_t n = 0; n < 100'000; ++n) {
    StreamState* const one = stream(n);
    ASSERT_NE(one, nullptr) << n;
    launched(one, 1, now_ticks());
    stream_destroyed(stream_handle(n));
  }
  EXPECT_LE(detail::g_streams->high_water.load(), 2u);
}

TEST_F(Streams, DestroyedContextTakesItsStreamsAlong) {
  StreamState* const mine = stream(1);
  FakeDriver::current = context_handle(1);
  StreamState* const other = stream(2);
  context_destroyed(context_handle(0));
  EXPECT_FALSE(mine->live.load());
  EXPECT_TRUE(other->live.load());
}

TEST_F(Streams, ThreadsThatMeetAtANewStreamShareIt) {
  for (uint64_t round = 0; round < 100; ++round) {
    StreamState* seen[4] = {};
    std::barrier ready(4);
    std::vector<std::thread> threads;
    for (StreamState*& slot : seen) {
      threads.emplace_back([&] {
        enter_thread();
        ready.arrive_and_wait();
        slot = stream(round);
        launched(slot, 1, now_ticks());
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (StreamState* const slot : seen) ASSERT_EQ(slot, seen[0]);
    ASSERT_EQ(depth_before(seen[0]), 4u);
  }
}

// A thread that adds or removes a stream may be descheduled in the middle for any length of time.
TEST_F(Streams, AThreadThatMeetsAnAdditionThatTakesLongWaitsForIt) {
  const uint64_t given_up = counted(format::LossCounter::depth_streams_full);
  detail::g_streams->gate.store(1);
  std::atomic<StreamState*> seen{nullptr};
  std::thread waiting([&] {
    enter_thread();
    seen.store(stream(1));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(seen.load(), nullptr);
  EXPECT_EQ(counted(format::LossCounter::depth_streams_full), given_up);
  detail::g_streams->gate.store(0);
  waiting.join();
  EXPECT_NE(seen.load(), nullptr);
}

// A thread that holds the lock for ever (stopped by a debugger) must not stop the program.
TEST_F(Streams, AnAdditionThatNeverEndsIsWaitedForASecondAndCounted) {
  const uint64_t given_up = counted(format::LossCounter::depth_streams_full);
  detail::g_streams->gate.store(1);
  const auto begin = std::chrono::steady_clock::now();
  errno = EXDEV;
  EXPECT_EQ(stream(1), nullptr);
  EXPECT_EQ(errno, EXDEV);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
  EXPECT_GT(counted(format::LossCounter::depth_streams_full), given_up);
  detail::g_streams->gate.store(0);
  EXPECT_NE(stream(1), nullptr);
}

// A record is dropped only while another record is being packed, like any record of a handler. The table itself never
// causes it.
TEST_F(Streams, ASignalHandlerThatInterruptsAnAdditionNeverFindsTheTableBusy) {
  static std::atomic<uint64_t> handled, added;
  handled = added = 0;
  stream(2'000'000);  // the first stream also defines its context, which is a second record that may be dropped
  const uint64_t given_up = counted(format::LossCounter::depth_streams_full);
  const uint64_t dropped = counted(format::LossCounter::records_dropped_busy);
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {
    const uint64_t n = 1'000'000 + handled.fetch_add(1);
    if (stream(n) != nullptr) added.fetch_add(1);
    stream_destroyed(stream_handle(n));
  };
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval every = {{0, 50}, {0, 50}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &every, nullptr), 0);
  for (uint64_t n = 0; handled.load() < 2000; ++n) {
    if (counted(format::LossCounter::depth_streams_full) != given_up) break;
    stream(n);
    stream_destroyed(stream_handle(n));
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(counted(format::LossCounter::depth_streams_full), given_up);
  EXPECT_GT(added.load(), 0u);
  EXPECT_EQ(added.load() + counted(format::LossCounter::records_dropped_busy) - dropped, handled.load());
}

TEST_F(Streams, AddedAndDestroyedByManyThreadsWhileOthersLaunch) {
  StreamState* const shared = stream(1'000'000);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      enter_thread();
      for (uint64_t i = 0; i < 2000; ++i) {
        const uint64_t n = t * 10'000 + i % 50;
        StreamState* const own = stream(n);
        ASSERT_NE(own, nullptr);
        ASSERT_EQ(depth_before(own), 0u);
        launched(own, 1, now_ticks());
        launched(shared, 1, now_ticks());
        if (i % 7 == 0) synchronize(shared);
        if (i % 3 == 0) context_synchronized(context_handle(0), 1);
        stream_destroyed(stream_handle(n));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared->launched.load(), 8000u);
}

TEST_F(Streams, LaunchesOfTheFirstThreadAndOfAllOthersAreCounted) {
  StreamState* const shared = stream(1);  // the count belongs to this thread
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      enter_thread();
      for (int i = 0; i < 100'000; ++i) launched(shared, 2, now_ticks());
    });
  }
  for (int i = 0; i < 100'000; ++i) launched(shared, 3, now_ticks());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared->launched.load(), 900'000u);
}

// Launches of a signal handler between any two instructions of the interrupted launch are not lost.
TEST_F(Streams, LaunchesOfASignalHandlerOnTheSameStreamAreCounted) {
  static StreamState* shared;
  static std::atomic<uint64_t> handled;
  handled = 0;
  shared = stream(1);
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {
    launched(shared, 1, 0);
    handled.fetch_add(1);
  };
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval every = {{0, 50}, {0, 50}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &every, nullptr), 0);
  uint64_t own = 0;
  for (; handled.load() < 500; ++own) launched(shared, 1, 0);
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(shared->launched.load(), own + handled.load());
}

}  // namespace
}  // namespace prof::test
