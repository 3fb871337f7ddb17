// Which driver calls are the recorder's own?
#include "preload/driver/own_calls.h"

#include "preload/base/clock.h"

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <thread>
#include <utility>
#include <vector>

namespace prof::preload {
namespace {

uint32_t this_thread() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

TEST(OwnCalls, AreFoundByTheirThreadAndTime) {
  start_clock({});
  const uint64_t before = gpu_clock_ns();
  const uint64_t begin = gpu_clock_ns();
  const uint64_t inside = gpu_clock_ns();
  note_own_calls(begin);
  const uint64_t after = gpu_clock_ns() + 1;
  EXPECT_TRUE(is_own_call(this_thread(), inside));
  EXPECT_FALSE(is_own_call(this_thread(), before - 1));
  EXPECT_FALSE(is_own_call(this_thread(), after));
  EXPECT_FALSE(is_own_call(this_thread() + 1, inside));
}

TEST(OwnCalls, TheLastHundredsOfEachThreadAreKnown) {
  start_clock({});
  constexpr int kThreads = 4, kCalls = 400;
  std::vector<std::thread> threads;
  std::vector<std::pair<uint32_t, uint64_t>> ours[kThreads], others[kThreads];
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        others[t].emplace_back(this_thread(), gpu_clock_ns());
        while (gpu_clock_ns() <= others[t].back().second) {}
        const uint64_t begin = gpu_clock_ns();
        ours[t].emplace_back(this_thread(), begin);
        note_own_calls(begin);
        const uint64_t end = gpu_clock_ns();
        while (gpu_clock_ns() <= end) {}  // the counter of some processors advances only every 40 ns
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    for (const auto& [tid, at] : ours[t]) EXPECT_TRUE(is_own_call(tid, at));
    for (const auto& [tid, at] : others[t]) EXPECT_FALSE(is_own_call(tid, at));
  }
}

}  // namespace
}  // namespace prof::preload
