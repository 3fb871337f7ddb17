// Completion marks: when they are placed, when they must not be, and what they report.
#include "tests/unit/preload/capture/streams/capture_fixture.h"

#include <thread>

namespace prof::test {
namespace {

using namespace preload;

class Marks : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    open_marks(preload::Marks::Values, 0);
  }
  void TearDown() override {
    EXPECT_EQ(FakeDriver::forbidden, 0u) << "a mark while somebody captured, or outside DriverCall";
    open_marks(prof::preload::Marks::None, 0);
  }
  static void launch(StreamState* state, uint64_t times, bool programmatic = false) {
    for (uint64_t i = 0; i < times; ++i) {
      launched(state, 1, now_ticks());
      mark_if_due(state, programmatic);
    }
  }
};

TEST_F(Marks, ArePlacedEverySoManyOperationsAndTellTheDepth) {
  StreamState* const one = stream(1);
  FakeDriver::write_is_late = true;
  launch(one, 2 * kMarkEvery + 8);
  EXPECT_EQ(FakeDriver::writes, 2u);
  EXPECT_EQ(depth_before(one), 2 * kMarkEvery + 8);
  FakeDriver::finish_writes();
  EXPECT_EQ(depth_before(one), 8u);
}

TEST_F(Marks, AreNotPlacedOftenerThanThePauseAllows) {
  constexpr uint64_t kPause = 1000;
  open_marks(prof::preload::Marks::Values, kPause);
  StreamState* const one = stream(1);
  uint64_t tick = 1'000'000;
  const auto launch_every = [&](uint64_t ticks, uint64_t times) {
    for (uint64_t i = 0; i < times; ++i) {
      launched(one, 1, tick += ticks);
      mark_if_due(one, false);
    }
  };
  launch_every(1, kMarkEvery);
  EXPECT_EQ(FakeDriver::writes, 1u) << "the first has none before it";
  EXPECT_GE(g_mark_pause, kPause);
  launch_every(1, g_mark_pause - 1);
  EXPECT_EQ(FakeDriver::writes, 1u) << "many launches, but too soon";
  launch_every(1, 1);
  EXPECT_EQ(FakeDriver::writes, 2u);
  launch_every(g_mark_pause, kMarkEvery - 1);
  EXPECT_EQ(FakeDriver::writes, 2u) << "long enough, but too few launches";
  launch_every(g_mark_pause, 1);
  EXPECT_EQ(FakeDriver::writes, 3u);
}

TEST(MarkPause, GrowsUntilMarksTakeA512thOfTheTimeAndShrinksWithThem) {
  constexpr uint64_t kLeast = 1'000'000;
  const auto after = [](uint64_t pause, uint64_t took, int marks) {
    while (marks-- != 0) pause = next_mark_pause(pause, kLeast, took);
    return static_cast<double>(pause);
  };
  EXPECT_EQ(after(kLeast, 1000, 100), kLeast) << "a 512th of the least pause is longer";
  EXPECT_NEAR(after(kLeast, 8000, 100), 512 * 8000, 100);
  EXPECT_NEAR(after(512 * 8000, 5000, 100), 512 * 5000, 100);
  EXPECT_NEAR(after(kLeast, 50'000, 100), 8 * kLeast, 100) << "however long they take";
  EXPECT_LT(after(512 * 8000, UINT64_MAX, 1), 512 * 8000 * 1.4) << "one that waited for the GPU";
  EXPECT_EQ(next_mark_pause(0, 0, 5), 0u);
}

TEST_F(Marks, AreNotPlacedUnlessAskedFor) {
  open_marks(prof::preload::Marks::None, 0);
  launch(stream(1), 100);
  EXPECT_EQ(FakeDriver::writes, 0u);
}

TEST_F(Marks, AGraphOfManyOperationsIsOneMark) {
  StreamState* const one = stream(1);
  for (int i = 0; i < 3; ++i) {
    launched(one, 100, now_ticks());
    mark_if_due(one, false);
  }
  EXPECT_EQ(FakeDriver::writes, 3u);
  EXPECT_EQ(depth_before(one), 0u);
}

TEST_F(Marks, NeverOnAStreamThatUsedProgrammaticDependentLaunch) {
  StreamState* const one = stream(1);
  launch(one, 3, true);
  launch(one, 97);
  EXPECT_EQ(FakeDriver::writes, 0u);
  EXPECT_EQ(depth_before(one), 100u);
}

TEST_F(Marks, NoneWhileAnybodyCapturesAndAgainAfterwards) {
  StreamState* const one = stream(1);
  const uint64_t skipped = counted(format::LossCounter::depth_marks_skipped);
  capture_begins(stream_handle(2));
  FakeDriver::captures = true;
  launch(one, 4 * kMarkEvery);
  EXPECT_EQ(FakeDriver::writes, 0u);
  EXPECT_EQ(counted(format::LossCounter::depth_marks_skipped), skipped + 4);
  FakeDriver::captures = false;
  capture_ended();
  launch(one, kMarkEvery);
  EXPECT_EQ(FakeDriver::writes, 1u);
  EXPECT_EQ(depth_before(one), 0u);
}

TEST_F(Marks, CaptureThatNeverBeganDoesNotUnbalanceTheGate) {
  capture_ended();
  capture_begins(stream_handle(2));
  EXPECT_TRUE(anybody_captures());
  capture_ended();
  EXPECT_FALSE(anybody_captures());
}

TEST_F(Marks, RefusalTurnsThemOffForTheStreamAndIsCounted) {
  StreamState* const one = stream(1);
  const uint64_t skipped = counted(format::LossCounter::depth_marks_skipped);
  FakeDriver::write_fails = true;
  launch(one, 100);
  EXPECT_TRUE(one->marks_off);
  EXPECT_EQ(counted(format::LossCounter::depth_marks_skipped), skipped + 1);
  EXPECT_EQ(depth_before(one), 100u);
}

TEST_F(Marks, EventsTellWhereMemoryCannotBeShown) {
  FakeDriver::register_fails = true;
  StreamState* const one = stream(1);
  FakeDriver::event_result = CUDA_ERROR_NOT_READY;
  launch(one, 3 * kMarkEvery);
  EXPECT_EQ(FakeDriver::writes, 0u);
  EXPECT_EQ(FakeDriver::event_records, 3u);
  EXPECT_EQ(depth_before(one), 3 * kMarkEvery);
  FakeDriver::event_result = CUDA_SUCCESS;
  launch(one, kMarkEvery);
  EXPECT_EQ(depth_before(one), kMarkEvery) << "the three older events are asked, the new one was just recorded";
  EXPECT_EQ(FakeDriver::event_records, 4u);
}

TEST_F(Marks, EventsReachAsFarAsAStreamsQueue) {
  open_marks(prof::preload::Marks::Events, 0);
  StreamState* const one = stream(1);
  FakeDriver::event_result = CUDA_ERROR_NOT_READY;
  launch(one, 2000);
  EXPECT_EQ(FakeDriver::event_records, 1024 / kMarkEvery) << "no event is recorded again before it was seen to finish";
  FakeDriver::event_result = CUDA_SUCCESS;
  launch(one, 8 * kMarkEvery);
  EXPECT_LE(depth_before(one), 2000 + 8 * kMarkEvery - 1024) << "four events are asked at each mark";
}

// PROF_HOST_SAMPLES=starved
TEST_F(Marks, OfEveryLaunchShowThatTheGpuIsIdleAlthoughTheProgramMakesNoCall) {
  open_marks(prof::preload::Marks::Events, 0, 1);
  StreamState* const one = stream(1);
  FakeDriver::event_result = CUDA_ERROR_NOT_READY;
  launch(one, 1);
  EXPECT_EQ(FakeDriver::event_records, 1u);
  EXPECT_EQ(seems_idle(now_ticks()), GpuIdle::No) << "the event is outstanding";
  EXPECT_EQ(depth_before(one), 1u);
  FakeDriver::event_result = CUDA_SUCCESS;
  EXPECT_EQ(seems_idle(0), GpuIdle::Yes);
  EXPECT_EQ(depth_before(one), 0u);
  const uint64_t queries = FakeDriver::event_queries;
  EXPECT_EQ(seems_idle(0), GpuIdle::Yes);
  EXPECT_EQ(FakeDriver::event_queries, queries) << "nothing is outstanding, so nothing is queried";
}

TEST_F(Marks, ABurstAfterAFinishedMarkSeemsIdleOnceItIsQuiet) {
  open_marks(prof::preload::Marks::Events, g_clock.ticks_per_second, 1);  // one mark in a second
  StreamState* const one = stream(1);
  launch(one, 3);
  EXPECT_EQ(FakeDriver::event_records, 1u);
  EXPECT_EQ(seems_idle(one->last_launch_tick), GpuIdle::NotKnown) << "launched just now";
  EXPECT_EQ(seems_idle(one->last_launch_tick + 1), GpuIdle::Yes);
  EXPECT_EQ(depth_before(one), 2u) << "that is no proof";
}

TEST_F(Marks, AreNotQueriedWhileAnybodyCaptures) {
  open_marks(prof::preload::Marks::Events, 0, 1);
  StreamState* const one = stream(1);
  launch(one, 1);
  capture_begins(stream_handle(2));
  FakeDriver::captures = true;
  EXPECT_EQ(seems_idle(now_ticks()), GpuIdle::No) << "nothing is queried";
  EXPECT_EQ(FakeDriver::event_queries, 0u);
  FakeDriver::captures = false;
  capture_ended();
  EXPECT_EQ(seems_idle(now_ticks()), GpuIdle::Yes);
}

TEST_F(Marks, OfADestroyedContextAreNotQueried) {
  open_marks(prof::preload::Marks::Events, 0, 1);
  StreamState* const one = stream(1);
  launch(one, 1);
  context_destroyed(context_handle(0));
  EXPECT_FALSE(query_marks(*one));
  EXPECT_EQ(FakeDriver::event_queries, 0u);
}

TEST_F(Marks, ARingOfADestroyedStreamServesTheNextOneAndClaimsNothing) {
  open_marks(prof::preload::Marks::Events, 0);
  FakeDriver::event_result = CUDA_ERROR_NOT_READY;
  StreamState* const old = stream(1);
  launch(old, 4 * kMarkEvery);
  const uint64_t made = FakeDriver::event_records;
  stream_destroyed(stream_handle(1));
  StreamState* const fresh = stream(2);
  FakeDriver::event_result = CUDA_SUCCESS;
  launch(fresh, kMarkEvery);
  EXPECT_EQ(depth_before(fresh), kMarkEvery) << "events of the old stream must not be asked for the new one";
  EXPECT_EQ(FakeDriver::event_records, made + 1);
}

TEST_F(Marks, WordOfADestroyedStreamClaimsNothingForTheNextOne) {
  StreamState* const old = stream(1);
  FakeDriver::write_is_late = true;
  launch(old, 2 * kMarkEvery);
  stream_destroyed(stream_handle(1));
  StreamState* const fresh = stream(2);
  ASSERT_EQ(fresh, old) << "the slot is used again, else this tests nothing";
  launch(fresh, 20);
  FakeDriver::late.resize(2);  // only marks of the old stream are completed
  FakeDriver::finish_writes();
  EXPECT_EQ(depth_before(fresh), 20u);
}

TEST_F(Marks, NumberWrapsAtFourBillion) {
  StreamState* const one = stream(1);
  launched(one, (1ull << 32) - 8, now_ticks());
  synchronize(one);
  launch(one, kMarkEvery);
  EXPECT_EQ(FakeDriver::writes, 1u);
  launch(one, 5);
  EXPECT_LE(depth_before(one), 13u);
}

// Several threads launch and mark while one begins and ends captures. Between the return of capture_begins and
// capture_ended no mark may be in flight. The fake write checks this twice and takes some time.
TEST_F(Marks, CaptureWaitsForMarksInFlight) {
  FakeDriver::while_writing = [] { std::this_thread::yield(); };
  std::atomic<bool> stop{false};
  std::vector<std::thread> launchers;
  for (uint64_t t = 0; t < 3; ++t) {
    launchers.emplace_back([&, t] {
      enter_thread();
      StreamState* const own = stream(10 + t);
      while (!stop) {
        launch(own, kMarkEvery);
        std::this_thread::yield();
      }
    });
  }
  const uint64_t give_up = 20'000;
  for (uint64_t i = 0; i < 200 || (FakeDriver::writes == 0 && i < give_up); ++i) {
    capture_begins(stream_handle(1));
    FakeDriver::captures = true;
    std::this_thread::yield();
    FakeDriver::captures = false;
    capture_ended();
    std::this_thread::yield();
  }
  stop = true;
  for (std::thread& launcher : launchers) launcher.join();
  EXPECT_GT(FakeDriver::writes, 0u);
}

TEST_F(Marks, CapturedLaunchIsToldByTheStreamThatCaptures) {
  EXPECT_FALSE(captured(stream_handle(1)));
  FakeDriver::capturing = stream_handle(1);
  EXPECT_FALSE(captured(stream_handle(1))) << "nobody said that a capture began: the driver is not asked";
  capture_begins(stream_handle(1));
  EXPECT_TRUE(captured(stream_handle(1)));
  EXPECT_FALSE(captured(stream_handle(2)));
  FakeDriver::capturing = CU_STREAM_PER_THREAD;
  EXPECT_TRUE(captured(nullptr, NullStream::PerThread));
  EXPECT_FALSE(captured(nullptr, NullStream::Legacy));
  capture_ended();
}

}  // namespace
}  // namespace prof::test
