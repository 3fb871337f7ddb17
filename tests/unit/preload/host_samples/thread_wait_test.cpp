// What the kernel's text about a thread says, and why real threads wait: a file, a pipe, a lock with its owner, the end
// of a thread, a sleep; and the other end of a socket.
#include "preload/host_samples/thread_wait.h"

#include "preload/host_samples/pipe_holders.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

TEST(ThreadWait, NamesTheWriterForWhichReadersAndWritersOfARwlockWait) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  const auto unlock = [&] { pthread_rwlock_unlock(&lock); };
  for (const auto take : {pthread_rwlock_rdlock, pthread_rwlock_wrlock}) {
    ASSERT_EQ(pthread_rwlock_wrlock(&lock), 0);
    const Wait wait = wait_in([&] { take(&lock), unlock(); }, unlock);
    EXPECT_EQ(wait.kind, BlockedIn::Lock);
    EXPECT_EQ(wait.detail, "held by thread " + std::to_string(syscall(SYS_gettid)));
  }
}

TEST(ThreadWait, WhoReadsUnderARwlockIsNotKnown) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  const auto unlock = [&] { pthread_rwlock_unlock(&lock); };
  ASSERT_EQ(pthread_rwlock_rdlock(&lock), 0);
  const Wait wait = wait_in([&] { pthread_rwlock_wrlock(&lock), unlock(); }, unlock);
  EXPECT_EQ(wait.kind, BlockedIn::Condition);
  EXPECT_EQ(wait.detail, "");
}

TEST(ThreadWait, NamesThePipesThatPollAndSelectWouldReadFrom) {
  int ends[2], others[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(others), 0);
  char name[64] = {}, other_name[64] = {};
  ASSERT_GT(readlink(("/proc/self/fd/" + std::to_string(ends[0])).c_str(), name, sizeof name - 1), 0);
  ASSERT_GT(readlink(("/proc/self/fd/" + std::to_string(others[0])).c_str(), other_name, sizeof other_name - 1), 0);
  const auto release = [&] { EXPECT_EQ(write(ends[1], "x", 1), 1); };
  const Wait polled = wait_in(
      [&] {
        pollfd wanted[] = {{ends[0], POLLIN, 0}, {others[0], POLLIN, 0}, {others[1], 0, 0}};
        EXPECT_EQ(poll(wanted, 3, -1), 1);
      },
      release);
  EXPECT_EQ(polled.kind, BlockedIn::Poll);
  EXPECT_EQ(polled.detail, std::string(name) + " " + other_name);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  const Wait selected = wait_in(
      [&] {
        fd_set wanted;
        FD_ZERO(&wanted);
        FD_SET(ends[0], &wanted);
        EXPECT_EQ(select(ends[0] + 1, &wanted, nullptr, nullptr, nullptr), 1);
      },
      release);
  EXPECT_EQ(selected.kind, BlockedIn::Poll);
  EXPECT_EQ(selected.detail, name);
  for (const int end : {ends[0], ends[1], others[0], others[1]}) close(end);
}

TEST(ThreadWait, ADetailNamesItsThread) {
  char room[64];
  EXPECT_EQ(thread_named_by(holder_text(4711, room)), 4711u);
  EXPECT_EQ(thread_named_by("end of thread 12"), 12u);
  EXPECT_EQ(thread_named_by("pipe:[12]"), 0u);
  EXPECT_EQ(thread_named_by(""), 0u);
}

TEST(ThreadWait, FindsTheThreadIdOfADescriptorOfAThread) {
  struct Known {
    std::atomic<uint32_t> tid{0};
    std::atomic<bool> go{false};
  } known;
  const auto wait = [&known] {
    known.tid = static_cast<uint32_t>(syscall(SYS_gettid));
    while (!known.go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  std::thread other(wait);
  while (known.tid == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto handle = static_cast<uint64_t>(other.native_handle());
  EXPECT_EQ(tid_of_handle(handle, handle, known.tid), known.tid);
  EXPECT_EQ(tid_of_handle(static_cast<uint64_t>(pthread_self()), handle, known.tid),
            static_cast<uint32_t>(syscall(SYS_gettid)));
  EXPECT_EQ(tid_of_handle(4096, handle, known.tid), 0u);
  known.go = true;
  other.join();
}

TEST(PipeHolders, TheOtherEndOfASocketIsFound) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  struct stat first {
  }, second{};
  ASSERT_EQ(fstat(ends[0], &first), 0);
  ASSERT_EQ(fstat(ends[1], &second), 0);
  const uint32_t peer = peer_of_socket(static_cast<uint32_t>(first.st_ino));
  if (peer == 0) GTEST_SKIP() << "this kernel does not tell";
  EXPECT_EQ(peer, second.st_ino);
  EXPECT_EQ(peer_of_socket(static_cast<uint32_t>(second.st_ino)), first.st_ino);
  close(ends[1]);
  EXPECT_EQ(peer_of_socket(static_cast<uint32_t>(first.st_ino)), 0u);
  close(ends[0]);
}

TEST(ThreadWait, OfAThreadThatEndedThereIsNothing) {
  BlockedThread thread;
  EXPECT_EQ(look_at_thread(1u << 22, thread), ThreadLook::Ended);
}

}  // namespace
}  // namespace prof::preload
