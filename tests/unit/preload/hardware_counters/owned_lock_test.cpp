// The lock that is held across calls into the driver.
#include "preload/hardware_counters/owned_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace prof::preload {
namespace {

using Taken = OwnedLock::Taken;

TEST(OwnedLock, OneThreadAtATime) {
  OwnedLock lock;
  int sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 2000; ++n) {
        EXPECT_EQ(lock.take(), Taken::Yes);
        ++sum;
        lock.give();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 8000);
}

TEST(OwnedLock, AThreadThatLeftWithItTakesItAgain) {
  OwnedLock lock;
  EXPECT_EQ(lock.take(), Taken::Yes);
  EXPECT_EQ(lock.take(), Taken::Inherited);
  lock.give();
  EXPECT_EQ(lock.take(), Taken::Yes);
}

TEST(OwnedLock, AThreadThatEndedWithItLosesItToWhoeverWaits) {
  OwnedLock lock;
  std::thread([&] { EXPECT_EQ(lock.take(), Taken::Yes); }).join();
  EXPECT_EQ(lock.take(), Taken::Inherited);
  lock.give();
  EXPECT_EQ(lock.take(), Taken::Yes);
}

TEST(OwnedLock, AWaitEndsWhereItWasToldTo) {
  OwnedLock lock;
  std::atomic<int> turn{0};
  std::thread holder([&] {
    EXPECT_EQ(lock.take(), Taken::Yes);
    turn = 1;
    while (turn != 2) std::this_thread::yield();
    lock.give();
  });
  while (turn != 1) std::this_thread::yield();
  EXPECT_EQ(lock.take(0), Taken::No);
  turn = 2;
  EXPECT_EQ(lock.take(), Taken::Yes);
  holder.join();
}

}  // namespace
}  // namespace prof::preload
