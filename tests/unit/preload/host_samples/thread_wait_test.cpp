// What the kernel's text about a thread says, and why real threads wait: a file, a pipe, a lock with its owner, the end
// of a thread, a sleep.
#include "preload/host_samples/thread_wait.h"

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace prof::preload {
namespace {

using format::BlockedIn;

TEST(ThreadWait, ReadsWhatTheKernelWritesAboutAThread) {
  BlockedThread thread;
  EXPECT_EQ(read_thread_look("running\n", thread), ThreadLook::Running);
  ASSERT_EQ(read_thread_look("202 0x7f10 0x80 0x2 0x0 0x0 0xdeadbeef 0x7ffd10 0x7f2cab\n", thread),
            ThreadLook::Blocked);
  EXPECT_EQ(thread.number, 202);
  EXPECT_EQ(thread.arguments[0], 0x7f10u);
  EXPECT_EQ(thread.arguments[5], 0xdeadbeefu);
  EXPECT_EQ(thread.sp, 0x7ffd10u);
  EXPECT_EQ(thread.pc, 0x7f2cabu);
  ASSERT_EQ(read_thread_look("-1 0x10 0x20\n", thread), ThreadLook::Blocked);
  EXPECT_EQ(thread.number, -1);
  EXPECT_EQ(thread.pc, 0x20u);
  for (const char* const bad : {"", "x", "202 0x1", "202 0x1 0x2 0x3 0x4 0x5 zero 0x6 0x7"})
    EXPECT_EQ(read_thread_look(bad, thread), ThreadLook::Refused) << bad;
}

struct Wait {
  BlockedIn kind{};
  std::string detail;
};

// Runs `block` on a thread and returns what it waits for. `release` lets it go on.
Wait wait_in(const std::function<void()>& block, const std::function<void()>& release) {
  std::atomic<uint32_t> tid{0};
  std::thread waiting([&] {
    tid = static_cast<uint32_t>(syscall(SYS_gettid));
    block();
  });
  Wait found;
  for (int i = 0; i < 2000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    BlockedThread thread;
    if (tid == 0 || look_at_thread(tid, thread) != ThreadLook::Blocked) continue;
    char room[kWaitRoom];
    std::string_view detail;
    found.kind = wait_of(thread, room, detail);
    found.detail = detail;
    if (i > 20) break;
  }
  release();
  waiting.join();
  return found;
}

TEST(ThreadWait, NamesAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  char byte = 0;
  const Wait wait =
      wait_in([&] { EXPECT_EQ(read(ends[0], &byte, 1), 1); }, [&] { EXPECT_EQ(write(ends[1], "x", 1), 1); });
  EXPECT_EQ(wait.kind, BlockedIn::Pipe);
  EXPECT_TRUE(wait.detail.starts_with("pipe:[")) << wait.detail;
  close(ends[0]);
  close(ends[1]);
}

TEST(ThreadWait, NamesTheOwnerOfAMutex) {
  std::mutex mutex;
  mutex.lock();
  const Wait wait = wait_in([&] { const std::lock_guard lock(mutex); }, [&] { mutex.unlock(); });
  EXPECT_EQ(wait.kind, BlockedIn::Lock);
  EXPECT_EQ(wait.detail, "held by thread " + std::to_string(syscall(SYS_gettid)));
}

TEST(ThreadWait, NamesAConditionWithoutWhoWakesIt) {
  std::mutex mutex;
  std::condition_variable changed;
  bool go = false;
  const Wait wait = wait_in(
      [&] {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return go; });
      },
      [&] {
        const std::lock_guard lock(mutex);
        go = true;
        changed.notify_all();
      });
  EXPECT_EQ(wait.kind, BlockedIn::Condition);
  EXPECT_EQ(wait.detail, "");
}

TEST(ThreadWait, NamesTheThreadWhoseEndIsAwaited) {
  std::atomic<bool> go{false};
  std::atomic<int> tid{0};
  std::thread other([&] {
    tid = static_cast<int>(syscall(SYS_gettid));
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const Wait wait = wait_in([&] { other.join(); }, [&] { go = true; });
  EXPECT_EQ(wait.kind, BlockedIn::Thread);
  EXPECT_EQ(wait.detail, "end of thread " + std::to_string(tid));
}

TEST(ThreadWait, OfAThreadThatEndedThereIsNothing) {
  BlockedThread thread;
  EXPECT_EQ(look_at_thread(1u << 22, thread), ThreadLook::Ended);
}

}  // namespace
}  // namespace prof::preload
