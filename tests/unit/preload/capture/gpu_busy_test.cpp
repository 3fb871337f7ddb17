// Is the busy share of the GPUs that of the last delivered times, and 1 if it is not known?
#include "preload/capture/gpu_busy.h"

#include <gtest/gtest.h>

using namespace prof::preload;

namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1000 * kMs;

class GpuBusy : public testing::Test {
 protected:
  GpuBusy() { forget_gpu_work(); }
  ~GpuBusy() override { forget_gpu_work(); }
};

TEST_F(GpuBusy, IsTheShareSinceTheLastAnswer) {
  EXPECT_EQ(gpu_busy_share(0), 1) << "nothing is known";
  note_gpu_work(5 * kSecond, 3 * kSecond, 1);
  EXPECT_EQ(gpu_busy_share(10 * kMs), 1) << "since when these operations ran is not known";
  note_gpu_work(5 * kSecond + 60 * kMs, 10 * kMs, 1);
  note_gpu_work(5 * kSecond + 100 * kMs, 15 * kMs, 1);
  EXPECT_DOUBLE_EQ(gpu_busy_share(20 * kMs), 0.25);
  note_gpu_work(5 * kSecond + 90 * kMs, 5 * kMs, 1);  // of another buffer, and earlier
  EXPECT_DOUBLE_EQ(gpu_busy_share(30 * kMs), 0.25) << "no later operation";
  note_gpu_work(5 * kSecond + 200 * kMs, 90 * kMs, 1);
  EXPECT_DOUBLE_EQ(gpu_busy_share(40 * kMs), 0.95);
}

TEST_F(GpuBusy, IsTheMeanOfTheDevicesThatWorked) {
  note_gpu_work(kSecond, 0, 1);
  gpu_busy_share(0);
  note_gpu_work(2 * kSecond, kSecond, 1);
  note_gpu_work(2 * kSecond, kSecond / 2, 2);
  EXPECT_DOUBLE_EQ(gpu_busy_share(kMs), 0.75);
}

TEST_F(GpuBusy, LeavesOutDevicesThatWorkedBeforeAFork) {
  note_gpu_work(kSecond, 0, 2);
  forget_gpu_work();
  note_gpu_work(kSecond, 0, 1);
  gpu_busy_share(0);
  note_gpu_work(2 * kSecond, kSecond, 1);
  EXPECT_DOUBLE_EQ(gpu_busy_share(kMs), 1);
}

TEST_F(GpuBusy, IsNotKnownOnceItIsOld) {
  note_gpu_work(kSecond, 0, 1);
  gpu_busy_share(0);
  note_gpu_work(2 * kSecond, kMs, 1);
  EXPECT_LT(gpu_busy_share(kMs), 0.1);
  EXPECT_LT(gpu_busy_share(kSecond), 0.1);
  EXPECT_EQ(gpu_busy_share(2 * kSecond), 1);
}

TEST_F(GpuBusy, OverlappingOperationsCountAtMostAsTheWholeTime) {
  note_gpu_work(kSecond, 0, 1);
  gpu_busy_share(0);
  note_gpu_work(2 * kSecond, 7 * kSecond, 1);
  EXPECT_EQ(gpu_busy_share(kMs), 1);
}

}  // namespace
