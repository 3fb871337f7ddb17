// How many operations of a stream are outstanding: an upper bound, whatever results the program received and in which
// order.
#include "tests/unit/preload/capture/streams/capture_fixture.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <utility>

namespace prof::test {
namespace {

using namespace preload;
using Depth = CaptureTest;

TEST_F(Depth, CountsWhatIsNotKnownToHaveFinished) {
  StreamState* const one = stream(1);
  EXPECT_EQ(depth_before(one), 0u);
  launched(one, 1, now_ticks());
  launched(one, 10, now_ticks());  // a graph
  EXPECT_EQ(depth_before(one), 11u);
  completed(one, {4, 0});
  EXPECT_EQ(depth_before(one), 7u);
  completed(one, {2, 0});  // reported late: nothing is taken back
  EXPECT_EQ(depth_before(one), 7u);
}

TEST_F(Depth, FinishedEventVouchesForWhatWasLaunchedBeforeIt) {
  StreamState* const one = stream(1);
  launched(one, 3, now_ticks());
  record_event(event_handle(1), one);
  launched(one, 2, now_ticks());
  finish_event(event_handle(1));
  EXPECT_EQ(depth_before(one), 2u);
  record_event(event_handle(1), one);
  event_destroyed(event_handle(1));
  finish_event(event_handle(1));  // a handle that is no longer valid
  EXPECT_EQ(depth_before(one), 2u);
}

TEST_F(Depth, ContextSynchronisationCompletesAllStreamsOfTheContextAndNoOther) {
  StreamState* const a = stream(1);
  StreamState* const b = stream_state(nullptr, NullStream::Legacy);
  launched(a, 3, now_ticks());
  launched(b, 4, now_ticks());
  FakeDriver::current = context_handle(1);
  StreamState* const other = stream(2);
  launched(other, 5, now_ticks());
  FakeDriver::current = context_handle(0);
  context_synchronized(nullptr, now_ticks());
  EXPECT_EQ(depth_before(a), 0u);
  EXPECT_EQ(depth_before(b), 0u);
  EXPECT_EQ(depth_before(other), 5u);
}

TEST_F(Depth, LaunchDuringAContextSynchronisationStaysOutstanding) {
  StreamState* const one = stream(1);
  launched(one, 3, now_ticks());
  const uint64_t entered = now_ticks();
  launched(one, 1, now_ticks());  // another thread, while this one waits
  context_synchronized(context_handle(0), entered);
  EXPECT_GE(depth_before(one), 1u);
}

TEST_F(Depth, ReportsOfCuptiCompleteInOrderAndNeverVouchForLaunchesToCome) {
  StreamState* const made = stream(1);
  stream_destroyed(stream_handle(1));
  StreamFacts facts;
  facts.key = stream_key(7, 7);
  facts.gpu_key = gpu_stream_key(1, 13);
  facts.context = made->context;
  StreamState* const one = add_stream(facts);
  ASSERT_NE(one, nullptr);
  launched(one, 10, now_ticks());
  gpu_reported(1, 13, 4);
  gpu_reported(1, 14, 100);  // an unknown stream
  EXPECT_EQ(depth_before(one), 6u);
  gpu_reported(1, 13, 9);  // including three kernels that the driver launched itself
  EXPECT_EQ(depth_before(one), 0u);
  launched(one, 5, now_ticks());
  EXPECT_EQ(depth_before(one), 5u);
  EXPECT_EQ(outstanding().unfinished, 5u);
  EXPECT_EQ(outstanding().unreported, 5u);
  remove_stream(*one);
  EXPECT_EQ(outstanding().unfinished, 0u);
  EXPECT_EQ(outstanding().unreported, 5u) << "still on their way";
  gpu_reported(1, 13, 3);
  EXPECT_EQ(outstanding().unreported, 2u);
  gpu_reported(1, 13, 9);
  EXPECT_EQ(outstanding().unreported, 0u);
}

// A GPU of three streams that runs each in order, at random speed, and a naive account of the results that the program
// received. After every step the depth equals the account and is never less than the number of operations that are
// really outstanding.
TEST_F(Depth, AgreesWithABruteForceModelAndIsAnUpperBound) {
  struct Model {
    uint64_t launched = 0, told = 0, truly_done = 0;
  };
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    ASSERT_TRUE(open_empty_tables());
    std::mt19937_64 random(seed);
    std::map<uint64_t, Model> streams;                         // handle number → account
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> events;  // event → stream's handle number, launches before it
    uint64_t next_handle = 1;
    const auto add = [&] { streams[next_handle++] = {}; };
    add(), add(), add();
    for (int step = 0; step < 3000; ++step) {
      auto it = streams.begin();
      std::advance(it, random() % streams.size());
      const uint64_t n = it->first;
      Model& model = it->second;
      StreamState* const state = stream(n);
      ASSERT_NE(state, nullptr);
      const uint64_t event = random() % 6;
      switch (random() % 12) {
        case 0:
        case 1:
        case 2:
        case 3: {
          ASSERT_EQ(depth_before(state), model.launched - model.told);
          const uint64_t operations = random() % 4 == 0 ? 1 + random() % 20 : 1;
          launched(state, operations, now_ticks());
          model.launched += operations;
          break;
        }
        case 4:
        case 5: model.truly_done += random() % (model.launched - model.truly_done + 1); break;
        case 6:
          record_event(event_handle(event), state);
          events[event] = {n, model.launched};
          break;
        case 7:
        case 8: {  // the GPU reaches an event, and the program queries it
          if (!events.contains(event)) break;
          const auto [owner, upto] = events[event];
          if (!streams.contains(owner)) break;
          Model& behind = streams[owner];
          behind.truly_done = std::max(behind.truly_done, upto);
          behind.told = std::max(behind.told, upto);
          finish_event(event_handle(event));
          break;
        }
        case 9: {
          model.truly_done = model.told = model.launched;
          synchronize(state);
          break;
        }
        case 10:
          if (random() % 4 != 0) break;
          for (auto& [handle, each] : streams) each.truly_done = each.told = each.launched;
          context_synchronized(context_handle(0), now_ticks());
          break;
        case 11:
          if (random() % 8 != 0) break;
          stream_destroyed(stream_handle(n));
          streams.erase(n);
          add();
          break;
      }
      for (const auto& [handle, each] : streams) {
        const uint64_t depth = depth_before(stream(handle));
        ASSERT_EQ(depth, each.launched - each.told) << "seed " << seed << " step " << step;
        ASSERT_GE(depth, each.launched - each.truly_done);
      }
    }
  }
}

}  // namespace
}  // namespace prof::test
