// The flight recorder: PROF_RING keeps the last events and every definition in a file that does not grow.
#include "preload/lifecycle/recording_period.h"
#include "preload/record/texts.h"
#include "tests/unit/preload/recording_child.h"

#include <gtest/gtest.h>

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace prof::test {
namespace {

constexpr uint64_t kRing = 1u << 20;
uint64_t steady_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}
// Header, counters, the blocks of definitions and of the recorder's own thread, and the rest of two slabs of 64 KiB.
constexpr uint64_t kBeside = format::kBlocksOffset + 16 * format::kBlockBytes + (128u << 10);

ScannedLog only(const TempFolder& folder) {
  const std::vector<std::string> logs = folder.logs();
  EXPECT_EQ(logs.size(), 1u);
  ScannedLog log = logs.empty() ? ScannedLog{} : scan(logs.front());
  std::sort(log.objects.begin(), log.objects.end());
  return log;
}

// The last calls of 1 … last, none missing. (If a thread was stopped between sealing a block and giving it to the
// ring, it may have left one block from before the horizon: that block is not included.)
void expect_last(const std::vector<uint64_t>& objects, uint64_t last) {
  ASSERT_FALSE(objects.empty());
  EXPECT_EQ(objects.back(), last);
  EXPECT_EQ(objects.back() - objects.front() + 1, objects.size());
}

TEST(Ring, KeepsTheLastRecordsInAFileOfItsSize) {
  const TempFolder folder;
  constexpr uint64_t kCalls = 600'000;
  const int status = run_child(folder.path(), {"PROF_RING=1M"}, [] {
    for (uint64_t i = 1; i <= kCalls; ++i) record_call(i);
  });
  ASSERT_EQ(status, 0);
  const ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  expect_last(log.objects, kCalls);
  EXPECT_LE(log.size, kRing + kBeside);
  EXPECT_GT(log.objects.size() * 24, kRing) << "the ring is not used";
  EXPECT_EQ(log.ring.bytes, kRing);
  EXPECT_NE(log.ring.horizon_tick, 0u);
  // Overwritten records are counted; the definition of the thread comes before its first call.
  EXPECT_EQ(log.ring.records, kCalls - log.objects.size() + 1);
  EXPECT_EQ(log.counters.at("records_dropped_full"), 0u);
}

TEST(Ring, ThatIsNotFullYetIsALogLikeAnyOther) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=64M"},
                      [] {
                        for (uint64_t i = 1; i <= 10'000; ++i) record_call(i);
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  EXPECT_EQ(log.objects.size(), 10'000u);
  EXPECT_EQ(log.ring.blocks, 0u);
  EXPECT_EQ(log.ring.horizon_tick, 0u);
}

TEST(Ring, AfterKillHasEveryRecordSinceItsHorizon) {
  for (int round = 0; round < 25; ++round) {
    const TempFolder folder;
    auto* const returned = shared_value<std::atomic<uint64_t>>();
    const int status = run_child(folder.path(), {"PROF_RING=1M"}, [&] {
      std::thread killer([round, returned] {
        while (returned->load(std::memory_order_acquire) < 200'000) usleep(100);  // the ring wraps around
        usleep(static_cast<useconds_t>(777 * round));
        kill(getpid(), SIGKILL);
      });
      for (uint64_t i = 1;; ++i) {
        record_call(i);
        returned->store(i, std::memory_order_release);
      }
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    const ScannedLog log = only(folder);
    EXPECT_TRUE(log.whole) << log.damage;
    ASSERT_GE(log.objects.back(), returned->load());
    ASSERT_LE(log.objects.back(), returned->load() + 1);
    expect_last(log.objects, log.objects.back());
    EXPECT_LE(log.size, kRing + kBeside);
  }
}

TEST(Ring, KeepsWhatAQuietThreadDidLast) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=1M"},
                      [] {
                        std::atomic<int> stage{0};
                        std::thread quiet([&] {
                          prctl(PR_SET_NAME, "quiet", 0, 0, 0);
                          record_call(1);
                          stage = 1;
                          while (stage != 2) usleep(100);
                        });
                        while (stage != 1) usleep(100);
                        for (uint64_t i = 2; i <= 400'000; ++i) record_call(i);
                        stage = 2;
                        quiet.join();
                      }),
            0);
  ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  ASSERT_FALSE(log.objects.empty());
  EXPECT_EQ(log.objects.front(), 1u);
  log.objects.erase(log.objects.begin());
  expect_last(log.objects, 400'000);
  EXPECT_TRUE(std::any_of(log.names.begin(), log.names.end(), [](const auto& name) { return name.second == "quiet"; }));
}

TEST(Ring, KeepsNamesThatWereGivenBeforeItsHorizon) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=1M"},
                      [] {
                        prctl(PR_SET_NAME, "busy", 0, 0, 0);
                        record_call(1);
                        preload::intern_string("defined at the beginning");
                        for (uint64_t i = 2; i <= 400'000; ++i) record_call(i);
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_GT(log.ring.blocks, 100u);
  EXPECT_NE(std::find(log.strings.begin(), log.strings.end(), "defined at the beginning"), log.strings.end());
  EXPECT_TRUE(std::any_of(log.names.begin(), log.names.end(), [](const auto& name) { return name.second == "busy"; }));
}

format::GraphMade made(uint32_t graph) {
  return {preload::now_ticks(), format::GraphOrigin::Instantiated, graph, graph - 1, 0, 0};
}

TEST(Ring, KeepsNvtxNamesAndOriginsOfGraphsFromBeforeItsHorizon) {
  for (const bool killed : {false, true}) {
    const TempFolder folder;
    const int status = run_child(folder.path(), {"PROF_RING=1M"}, [killed] {
      record_call(1);
      format::ResourceName name;
      name.what = format::NamedKind::Thread;
      name.name = "given at the beginning";
      preload::keep(name);
      preload::keep(format::GraphNode{preload::now_ticks(), 0, uint64_t{7} << 32, {}, {}});
      preload::keep(made(8));
      for (uint64_t i = 2; i <= 400'000; ++i) record_call(i);
      if (killed) kill(getpid(), SIGKILL);
    });
    ASSERT_EQ(WIFSIGNALED(status), killed);
    const ScannedLog log = only(folder);
    EXPECT_TRUE(log.whole) << log.damage;
    EXPECT_GT(log.ring.blocks, 100u);
    EXPECT_EQ(log.records.at(format::ResourceName::kKind), 1u);
    EXPECT_EQ(log.records.at(format::GraphNode::kKind), 1u);
    EXPECT_EQ(log.records.at(format::GraphMade::kKind), 1u);
    EXPECT_EQ(log.counters.at("ring_unkept"), 0u);
  }
}

TEST(Ring, OfAMillionGraphsIsNoLargerThanItsSizeAndAnEighth) {
  const TempFolder folder;
  constexpr uint32_t kGraphs = 1'000'000;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=1M"},
                      [] {
                        record_call(1);
                        for (uint32_t graph = 1; graph <= kGraphs; ++graph) preload::keep(made(graph));
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  EXPECT_LE(log.size, kRing + kRing / 8 + kBeside);
  const uint64_t kept = kGraphs - log.counters.at("ring_unkept");
  EXPECT_EQ(kept, kRing / 8 / sizeof(format::GraphMade));
  EXPECT_GT(log.records.at(format::GraphMade::kKind), kept) << "what is not kept is an event still";
}

TEST(Ring, OfManyThreadsKeepsTheLastRecordsOfEach) {
  constexpr uint64_t kThreads = 8, kCalls = 150'000;
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=4M"},
                      [] {
                        record_call(kThreads << 32);  // so that no thread runs before the recorder is ready
                        std::atomic<uint64_t> ready{0};
                        std::vector<std::thread> threads;
                        for (uint64_t t = 0; t < kThreads; ++t) {
                          threads.emplace_back([t, &ready] {
                            for (uint64_t i = 1; i <= kCalls; ++i) record_call(t << 32 | i);
                            ++ready;
                            while (ready != kThreads) usleep(100);
                            record_call(t << 32 | (kCalls + 1));
                          });
                        }
                        for (std::thread& thread : threads) thread.join();
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  EXPECT_GT(log.ring.blocks, 0u);
  constexpr uint64_t kSlab = 4 * kRing / 16;
  EXPECT_LE(log.size, 4 * kRing + 16 * format::kBlockBytes + kBeside + (kThreads + 2) * kSlab)
      << "threads that run out of blocks in one moment make a slab each";
  for (uint64_t t = 0; t < kThreads; ++t) {
    std::vector<uint64_t> of_thread;
    for (const uint64_t object : log.objects) {
      if (object >> 32 == t) of_thread.push_back(object & 0xffffffff);
    }
    expect_last(of_thread, kCalls + 1);
  }
}

TEST(Ring, DoesNotGrowWithThreadsThatEnd) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=1M"},
                      [] {
                        record_call(1);
                        for (uint64_t i = 0; i < 70'000; ++i) std::thread([i] { record_call(i + 2); }).join();
                      }),
            0);
  ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  EXPECT_LE(log.size, kRing + kBeside);
  ASSERT_FALSE(log.objects.empty());
  EXPECT_EQ(log.objects.front(), 1u) << "of the thread that lives";
  log.objects.erase(log.objects.begin());
  expect_last(log.objects, 70'001);  // more than there are thread states
}

TEST(Ring, HasABlockForEveryThreadThatLivesEvenBeyondItsSize) {
  constexpr uint64_t kThreads = 400;  // a ring of 1 MiB has 256 blocks
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=1M"},
                      [] {
                        record_call(1);
                        std::atomic<uint64_t> ready{1};
                        std::vector<std::thread> threads;
                        for (uint64_t t = 2; t <= kThreads; ++t) {
                          threads.emplace_back([t, &ready] {
                            record_call(t);
                            ++ready;
                            while (ready != kThreads) usleep(1000);
                          });
                        }
                        for (std::thread& thread : threads) thread.join();
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  expect_last(log.objects, kThreads);
  EXPECT_EQ(log.objects.size(), kThreads);
  EXPECT_GT(log.counters.at("ring_grown"), kThreads - 256);
}

TEST(Ring, WithLessRoomThanItWantsUsesWhatThereIs) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=64M", "PROF_MAX_SIZE=512K", "PROF_QUIET=1"},
                      [] {
                        for (uint64_t i = 1; i <= 200'000; ++i) record_call(i);
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  EXPECT_LE(log.size, 512u << 10);
  expect_last(log.objects, 200'000);
  EXPECT_EQ(log.counters.at("records_dropped_full"), 0u);
  EXPECT_EQ(log.counters.at("log_extend_failed"), 0u) << "nothing was lost";
}

TEST(Ring, OfSecondsKeepsThoseAndUsesOlderBlocksAgain) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=0.001s"},
                      [] {
                        for (uint64_t i = 1; i <= 2'000'000; ++i) record_call(i);
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  expect_last(log.objects, 2'000'000);
  EXPECT_GT(log.ring.records, 1'000'000u);
  EXPECT_EQ(log.ring.bytes, ~0ull);
}

// A ring of seconds promises all calls of these seconds, at whatever rate they were made.
TEST(Ring, OfSecondsHoldsEveryCallOfTheLastSeconds) {
  const TempFolder folder;
  struct Seen {
    uint64_t calls, first_of_the_last_seconds;
  };
  auto* const seen = shared_value<Seen>();
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=0.4s"},
                      [seen] {
                        std::vector<uint64_t> begins;  // of call i + 1
                        do {
                          for (int i = 0; i < 50; ++i) {  // many blocks in 0.1 s, also on a busy machine
                            begins.push_back(steady_ns());
                            record_call(begins.size());
                          }
                          usleep(20);
                        } while (begins.back() - begins.front() < 1'600'000'000);
                        // 20 ms of tolerance: the clock's rate is not final when a recording starts.
                        const uint64_t since = begins.back() - 380'000'000;
                        const auto first = std::lower_bound(begins.begin(), begins.end(), since);
                        seen->calls = begins.size();
                        seen->first_of_the_last_seconds = static_cast<uint64_t>(first - begins.begin()) + 1;
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_TRUE(log.whole) << log.damage;
  EXPECT_GT(log.ring.blocks, 0u) << "nothing was used again, so nothing shows that the seconds are kept";
  ASSERT_FALSE(log.objects.empty());
  EXPECT_LE(log.objects.front(), seen->first_of_the_last_seconds);
  expect_last(log.objects, seen->calls);
}

TEST(Ring, OfTheNextRecordingOfAProcessIsAsSmall) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=1M", "PROF_PARTS=2"},
                      [&] {
                        uint64_t i = 0;
                        while (i < 250'000) record_call(++i);
                        preload::request_recording_end("the test asks for the next part");
                        while (folder.logs().size() < 2) record_call(++i);
                        for (uint64_t calls = 0; calls < 250'000; ++calls) record_call(++i);
                      }),
            0);
  const std::vector<std::string> logs = folder.logs();
  ASSERT_EQ(logs.size(), 2u);
  for (const std::string& path : logs) {
    const ScannedLog log = scan(path);
    EXPECT_TRUE(log.whole) << log.damage;
    EXPECT_LE(log.size, kRing + kBeside) << path;
    EXPECT_NE(log.ring.horizon_tick, 0u) << path;
    EXPECT_EQ(log.counters.at("ring_grown"), 0u) << path;
  }
}

TEST(Ring, OfAForkedChildIsItsOwn) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=1M"},
                      [] {
                        for (uint64_t i = 1; i <= 150'000; ++i) record_call(i);
                        const pid_t child = fork();
                        if (child == 0) {
                          for (uint64_t i = 1; i <= 250'000; ++i) record_call(i);
                          exit(0);
                        }
                        for (uint64_t i = 150'001; i <= 300'000; ++i) record_call(i);
                        int status = 0;
                        waitpid(child, &status, 0);
                        if (status != 0) exit(1);
                      }),
            0);
  std::vector<uint64_t> last;
  for (const std::string& path : folder.logs()) {
    ScannedLog log = scan(path);
    EXPECT_TRUE(log.whole) << log.damage;
    EXPECT_LE(log.size, kRing + kBeside);
    std::sort(log.objects.begin(), log.objects.end());
    expect_last(log.objects, log.objects.back());
    last.push_back(log.objects.back());
  }
  std::sort(last.begin(), last.end());
  EXPECT_EQ(last, (std::vector<uint64_t>{250'000, 300'000}));
}

TEST(Ring, WithAValueThatMakesNoSenseIsNone) {
  const TempFolder folder;
  ASSERT_EQ(run_child(folder.path(), {"PROF_RING=much", "PROF_QUIET=1"},
                      [] {
                        for (uint64_t i = 1; i <= 100'000; ++i) record_call(i);
                      }),
            0);
  const ScannedLog log = only(folder);
  EXPECT_EQ(log.objects.size(), 100'000u);
  EXPECT_EQ(log.ring.bytes, 0u);
}

}  // namespace
}  // namespace prof::test
