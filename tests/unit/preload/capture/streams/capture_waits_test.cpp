// What a finished stream proves about the streams that it waited for, and what it does not prove.
#include "tests/unit/preload/capture/streams/capture_fixture.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace prof::test {
namespace {

using namespace preload;

constexpr uint64_t kOne = 1, kTwo = 2, kThree = 3;

class Waits : public CaptureTest {
 protected:
  static void launch(StreamState* state, uint64_t operations = 1) { launched(state, operations, now_ticks()); }
  // `waiting` waits for all that `awaited` has launched.
  static void join(StreamState* waiting, const StreamState* awaited, uint64_t event = 100) {
    record_event(event_handle(event), awaited);
    wait_event(waiting, event_handle(event));
  }
};

TEST_F(Waits, AFinishedEventProvesWhatItsStreamWaitedFor) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  launch(a, 5);
  join(b, a);
  launch(a, 2);
  record_event(event_handle(1), b);  // nothing was launched on b
  finish_event(event_handle(1));
  EXPECT_EQ(depth_before(a), 2u);
}

TEST_F(Waits, AnEventBeforeTheWaitProvesNothing) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  launch(a, 5);
  launch(b, 3);
  record_event(event_handle(1), b);
  const StreamPoint before = point_so_far(b);
  join(b, a);
  finish_event(event_handle(1));
  completed(b, before);
  EXPECT_EQ(depth_before(b), 0u);
  EXPECT_EQ(depth_before(a), 5u);
  synchronize(b);
  EXPECT_EQ(depth_before(a), 0u);
}

// Completion marks and a context that was synchronised prove operations only.
TEST_F(Waits, AnOperationAfterTheWaitProvesItAndOneBeforeItDoesNot) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  launch(a, 5);
  launch(b, 3);
  join(b, a);
  completed(b, {3, 0});
  EXPECT_EQ(depth_before(a), 5u);
  launch(b, 1);
  completed(b, {3, 0});
  EXPECT_EQ(depth_before(a), 5u);
  completed(b, {4, 0});
  EXPECT_EQ(depth_before(a), 0u);
}

TEST_F(Waits, AChainOfStreamsIsFollowed) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo), *const c = stream(kThree);
  launch(a, 5);
  join(b, a);
  launch(b, 4);
  join(c, b);
  launch(b, 2);
  launch(c, 1);
  synchronize(c);
  EXPECT_EQ(depth_before(c), 0u);
  EXPECT_EQ(depth_before(b), 2u);
  EXPECT_EQ(depth_before(a), 0u);
}

TEST_F(Waits, ARingOfStreamsThatWaitForEachOtherEnds) {
  std::array<StreamState*, 40> ring{};
  for (uint64_t i = 0; i < ring.size(); ++i) launch(ring[i] = stream(i + 1));
  for (size_t round = 0; round < 2; ++round) {
    for (size_t i = 0; i < ring.size(); ++i) join(ring[(i + 1) % ring.size()], ring[i]);
  }
  for (size_t times = 0; times < ring.size(); ++times) synchronize(ring[0]);
  EXPECT_EQ(depth_before(ring[0]), 0u);
  EXPECT_EQ(depth_before(ring[39]), 0u);
  EXPECT_EQ(depth_before(ring[30]), 0u);
}

TEST_F(Waits, AnEventRecordedAgainAfterTheWaitProvesNoMoreThanWhatWasAwaited) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  launch(a, 5);
  join(b, a, 1);
  launch(a, 7);
  record_event(event_handle(1), a);
  synchronize(b);
  EXPECT_EQ(depth_before(a), 7u);
}

TEST_F(Waits, AnEventRecordedAgainDuringACallProvesNothing) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  launch(a, 5);
  record_event(event_handle(1), a);
  const EventPoint old = event_point(event_handle(1));
  launch(a, 1);
  event_changes(event_handle(1));  // another thread is inside its call
  event_finished(event_handle(1), old);
  event_awaited(b, event_handle(1), old);
  event_recorded(event_handle(1), a, point_so_far(a));
  event_finished(event_handle(1), old);
  event_awaited(b, event_handle(1), old);
  synchronize(b);
  EXPECT_EQ(depth_before(a), 6u) << "the result may be of either recording";
}

TEST_F(Waits, AnEventWhoseCallFailedProvesNothing) {
  StreamState* const a = stream(kOne);
  launch(a, 5);
  record_event(event_handle(1), a);
  event_changes(event_handle(1));  // not followed by event_recorded()
  finish_event(event_handle(1));
  EXPECT_EQ(depth_before(a), 5u);
}

TEST_F(Waits, AnEventThatGraphsOrProcessesRecordTooProvesNothingUntilItIsDestroyed) {
  StreamState* const a = stream(kOne);
  launch(a, 5);
  record_event(event_handle(1), a);
  event_shared(event_handle(1));
  record_event(event_handle(1), a);
  finish_event(event_handle(1));
  EXPECT_FALSE(event_point(event_handle(1)).known());
  EXPECT_EQ(depth_before(a), 5u);
  event_destroyed(event_handle(1));
  record_event(event_handle(1), a);  // a new event with the same handle
  finish_event(event_handle(1));
  EXPECT_EQ(depth_before(a), 0u);
}

TEST_F(Waits, OfAStreamForItselfAndForWhatIsKnownAreNotKept) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  launch(a, 5);
  join(a, a);
  EXPECT_EQ(point_so_far(a).waits, 0u);
  synchronize(a);
  join(b, a);
  EXPECT_EQ(point_so_far(b).waits, 0u);
  launch(a);
  join(b, a);
  join(b, a);
  EXPECT_EQ(point_so_far(b).waits, 1u) << "twice for the same place";
}

TEST_F(Waits, OfMoreThanEightTheOldestAndTheNewestAreKept) {
  constexpr uint64_t kMany = 50;
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  for (uint64_t i = 1; i <= kMany; ++i) {
    launch(a);
    join(b, a);
    launch(b);
  }
  for (uint64_t i = 1; i <= kMany; ++i) {
    completed(b, {i, 0});
    const uint64_t depth = depth_before(a);
    ASSERT_GE(depth, kMany - i);
    if (i <= 4 || i > kMany - 4) {
      ASSERT_EQ(depth, kMany - i) << i;
    }
  }
  EXPECT_EQ(depth_before(a), 0u);
}

TEST_F(Waits, ForAStreamOfAnotherContextProveThatOne) {
  StreamState* const a = stream(kOne);
  FakeDriver::current = context_handle(1);
  StreamState* const other = stream(kTwo);
  FakeDriver::current = context_handle(0);
  launch(other, 5);
  join(a, other);
  launch(a);
  context_synchronized(context_handle(0), now_ticks());
  EXPECT_EQ(depth_before(a), 0u);
  EXPECT_EQ(depth_before(other), 0u);
}

TEST_F(Waits, OfADestroyedStreamProveNothing) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  launch(a, 5);
  join(b, a);
  record_event(event_handle(1), b);
  stream_destroyed(stream_handle(kTwo));
  StreamState* const fresh = stream(kThree);
  ASSERT_EQ(fresh, b) << "the slot is used again, else this tests nothing";
  launch(fresh);
  record_event(event_handle(2), fresh);
  finish_event(event_handle(2));
  synchronize(fresh);
  EXPECT_EQ(depth_before(a), 5u);
  launch(a);
  join(fresh, a);
  finish_event(event_handle(1));  // of the old stream
  EXPECT_EQ(depth_before(a), 6u);
  synchronize(fresh);
  EXPECT_EQ(depth_before(a), 0u);
}

TEST_F(Waits, ForADestroyedStreamProveNothingAboutTheNextOne) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo), *const c = stream(kThree);
  launch(c, 9);
  launch(a, 5);
  join(a, c);
  join(b, a);
  stream_destroyed(stream_handle(kOne));
  StreamState* const fresh = stream(4);
  ASSERT_EQ(fresh, a) << "the slot is used again, else this tests nothing";
  launch(fresh, 3);
  join(fresh, c);
  synchronize(b);
  EXPECT_EQ(depth_before(fresh), 3u);
  EXPECT_EQ(depth_before(c), 9u);
}

TEST_F(Waits, MayBeMadeAndProvenByManyThreads) {
  constexpr uint64_t kThreads = 4, kTimes = 2000;
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      enter_thread();
      for (uint64_t i = 0; i < kTimes; ++i) {
        launch(a);
        join(t % 2 == 0 ? b : a, t % 2 == 0 ? a : b, 10 + t);
        launch(b);
        if (i % 3 == 0) synchronize(b);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(point_so_far(a).launched, kThreads * kTimes);
  launch(a);
  join(b, a, 200);
  synchronize(b);
  EXPECT_EQ(depth_before(a), 0u) << "no thread kept the right to change the waits";
}

// A GPU that runs each stream in order and obeys its waits, at random speed. Handles of streams and events are used
// again. The depth is never less than the number of operations that are really outstanding, and never more than without
// the waits.
TEST_F(Waits, AreAnUpperBoundWhateverTheGpuDoes) {
  enum class What { Operation, Wait, Event };
  struct Item {
    What what;
    size_t stream = 0, upto = 0;  // of a wait: so many items of that stream
  };
  struct Stream {
    std::vector<Item> items;
    size_t done = 0;
    uint64_t told = 0;  // operations, by calls that name the stream or its events
    uint64_t count(size_t from, size_t to) const {
      return static_cast<uint64_t>(std::count_if(items.begin() + static_cast<ptrdiff_t>(from),
                                                 items.begin() + static_cast<ptrdiff_t>(to),
                                                 [](const Item& item) { return item.what == What::Operation; }));
    }
  };
  uint64_t gained = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    ASSERT_TRUE(open_streams());
    std::mt19937_64 random(seed);
    std::vector<Stream> gpu(4);
    std::array<size_t, 4> of_handle = {0, 1, 2, 3};
    std::map<uint64_t, std::pair<size_t, size_t>> events;  // stream, items before it
    const auto run = [&](const auto& self, size_t which, size_t upto) -> void {
      while (gpu[which].done < upto) {
        const Item item = gpu[which].items[gpu[which].done];
        if (item.what == What::Wait) self(self, item.stream, item.upto);
        ++gpu[which].done;
      }
    };
    for (int step = 0; step < 400; ++step) {
      const uint64_t handle = random() % of_handle.size(), event = random() % 5;
      const size_t which = of_handle[handle];
      StreamState* const state = stream(handle);
      switch (random() % 12) {
        case 0:
        case 1:
        case 2:
          launch(state);
          gpu[which].items.push_back({What::Operation});
          break;
        case 3:
        case 4:
          record_event(event_handle(event), state);
          gpu[which].items.push_back({What::Event});
          events[event] = {which, gpu[which].items.size()};
          break;
        case 5:
        case 6:
        case 7:
          if (!events.contains(event)) break;
          wait_event(state, event_handle(event));
          gpu[which].items.push_back({What::Wait, events[event].first, events[event].second});
          break;
        case 8: run(run, which, gpu[which].done + random() % (gpu[which].items.size() - gpu[which].done + 1)); break;
        case 9:
          if (!events.contains(event) || gpu[events[event].first].done < events[event].second) break;
          finish_event(event_handle(event));
          gpu[events[event].first].told =
              std::max(gpu[events[event].first].told, gpu[events[event].first].count(0, events[event].second));
          break;
        case 10:
          if (random() % 4 != 0) break;
          run(run, which, gpu[which].items.size());
          synchronize(state);
          gpu[which].told = gpu[which].count(0, gpu[which].items.size());
          break;
        case 11:
          if (random() % 8 == 0) {
            stream_destroyed(stream_handle(handle));
            of_handle[handle] = gpu.size();
            gpu.emplace_back();
          } else if (random() % 8 == 0) {
            event_destroyed(event_handle(event));
            events.erase(event);
          }
          break;
      }
      for (uint64_t each = 0; each < of_handle.size(); ++each) {
        const Stream& truth = gpu[of_handle[each]];
        const uint64_t depth = depth_before(stream(each));
        ASSERT_GE(depth, truth.count(truth.done, truth.items.size())) << "seed " << seed << " step " << step;
        const uint64_t without = truth.count(0, truth.items.size()) - truth.told;
        ASSERT_LE(depth, without) << "seed " << seed << " step " << step;
        gained += without - depth;
      }
    }
  }
  EXPECT_GT(gained, 10'000u);
}

// Events of the program, which the recorder queries before they are recorded again or destroyed.
class EventQueries : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    open_marks(preload::Marks::Events, kPause);
  }
  void TearDown() override {
    EXPECT_EQ(FakeDriver::forbidden, 0u) << "a query while somebody captured, or outside DriverCall";
    open_marks(preload::Marks::None, 0);
  }
  void launch(StreamState* state, uint64_t operations = 1) { launched(state, operations, tick_ += 2 * kPause); }

  bool query(uint64_t event) { return query_program_event(event_handle(event), tick_); }

  static constexpr uint64_t kPause = 1'000'000;
  uint64_t tick_ = 1'000'000'000;
};

TEST_F(EventQueries, ProveWhatWasBeforeTheEvent) {
  StreamState* const a = stream(kOne);
  launch(a, 5);
  record_event(event_handle(1), a);
  launch(a, 2);
  EXPECT_TRUE(query(1));
  EXPECT_EQ(depth_before(a), 2u);
  tick_ += 10 * kPause;
  EXPECT_FALSE(query(1)) << "it proves nothing new";
  EXPECT_FALSE(query(2)) << "it was never recorded";
  EXPECT_EQ(FakeDriver::event_queries, 1u);
  EXPECT_EQ(FakeDriver::event_records, 0u);
}

TEST_F(EventQueries, OfAnOutstandingEventProveNothing) {
  StreamState* const a = stream(kOne);
  launch(a, 5);
  record_event(event_handle(1), a);
  for (const CUresult result : {CUDA_ERROR_NOT_READY, CUDA_ERROR_INVALID_HANDLE}) {
    FakeDriver::event_result = result;
    EXPECT_TRUE(query(1));
    EXPECT_EQ(depth_before(a), 5u);
    tick_ += 10 * kPause;
  }
}

TEST_F(EventQueries, AreMadeOnlyIfTheyCanHalveTheDepth) {
  StreamState* const a = stream(kOne);
  launch(a, 4);
  record_event(event_handle(1), a);
  launch(a, 5);
  record_event(event_handle(2), a);
  EXPECT_FALSE(query(1)) << "4 of 9";
  EXPECT_TRUE(query(2));
  EXPECT_EQ(depth_before(a), 0u);
}

TEST_F(EventQueries, AreNotMadeOftenerThanMarksOrRightAfterOne) {
  StreamState* const a = stream(kOne);
  const auto is_queried = [&](uint64_t ticks_later) {
    launched(a, 1, tick_ += ticks_later);
    record_event(event_handle(1), a);
    return query(1);
  };
  EXPECT_TRUE(is_queried(10 * kPause));
  EXPECT_FALSE(is_queried(kPause / 2));
  EXPECT_TRUE(is_queried(10 * kPause));
  launched(a, 1, tick_ += 10 * kPause);
  record_event(event_handle(1), a);
  a->mark_tick = tick_;
  a->marked = a->launched.load();
  EXPECT_FALSE(query(1));
}

TEST_F(EventQueries, AreNotDelayedByMarksThatAreNotPlaced) {
  StreamState* const a = stream(kOne);
  for (const bool programmatic : {true, false}) {
    launch(a, kMarkEvery);
    record_event(event_handle(1), a);
    mark_if_due(a, programmatic);
    EXPECT_TRUE(query(1));
    EXPECT_EQ(depth_before(a), 0u);
  }
  EXPECT_EQ(FakeDriver::event_records, 0u) << "no mark on a stream with programmatic dependent launch";
}

TEST_F(EventQueries, AreNotMadeWhileAnybodyCapturesOrWithoutMarks) {
  StreamState* const a = stream(kOne);
  launch(a, 5);
  record_event(event_handle(1), a);
  capture_begins(stream_handle(2));
  FakeDriver::captures = true;
  EXPECT_FALSE(query(1));
  FakeDriver::captures = false;
  capture_ended();
  open_marks(preload::Marks::None, 0);
  launch(a);
  record_event(event_handle(1), a);
  EXPECT_FALSE(query(1));
  EXPECT_EQ(FakeDriver::event_queries, 0u);
  EXPECT_EQ(depth_before(a), 6u);
}

TEST_F(EventQueries, FollowTheWaitsOfTheEventsStream) {
  StreamState *const a = stream(kOne), *const b = stream(kTwo);
  launch(a, 5);
  record_event(event_handle(1), a);
  wait_event(b, event_handle(1));
  launch(b);
  record_event(event_handle(2), b);
  EXPECT_TRUE(query(2));
  EXPECT_EQ(depth_before(b), 0u);
  EXPECT_EQ(depth_before(a), 0u);
}

}  // namespace
}  // namespace prof::test
