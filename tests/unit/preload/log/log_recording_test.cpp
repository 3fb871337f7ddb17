// What the log guarantees whatever happens to the program: kill, fork, threads, signals, longjmp. Missing space or a
// missing file: log_limits_test.cpp.
#include "preload/log/log_storage.h"
#include "tests/unit/preload/recording_child.h"

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>

namespace prof::test {
namespace {

using format::ThreadEnd;

TEST(Log, HoldsEveryRecordAndIsCutBehindTheLastBlock) {
  const TempFolder folder;
  const int status = run_child(folder.path(), {}, [] {
    for (uint64_t i = 1; i <= 10'000; ++i) record_call(i);
  });
  ASSERT_EQ(status, 0);
  const ScannedLog log = scan(only_log(folder));
  EXPECT_TRUE(log.whole);
  EXPECT_NE(log.finished, 0u);
  ASSERT_EQ(log.objects.size(), 10'000u);
  for (uint64_t i = 0; i < 10'000; ++i) ASSERT_EQ(log.objects[i], i + 1);
  EXPECT_LT(log.size, 10'000 * 14 + 100'000) << "the reserved tail was not cut";
}

// A thread may be extending the log while another one closes it. The last write of the extending thread must not win.
TEST(Log, ThatIsExtendedWhileItIsClosedDoesNotLookCutOff) {
  const TempFolder folder;
  preload::LogFile log;
  ASSERT_TRUE(log.create({}, folder.path(), {1u << 30}));
  uint64_t bytes = 64u << 10, offset = 0;
  ASSERT_NE(log.extend(bytes, offset), nullptr);
  EXPECT_EQ(log.counters()->blocks_reserved, 16u);
  log.finish(offset + 2 * format::kBlockBytes, 1);
  bytes = 64u << 10;
  ASSERT_NE(log.extend(bytes, offset), nullptr);
  EXPECT_EQ(log.counters()->blocks_reserved, 2u);
  log.abandon();
}

TEST(Log, AfterKillEveryRecordWhoseCallReturnedIsThere) {
  for (int round = 0; round < 5; ++round) {
    const TempFolder folder;
    auto* const returned = shared_value<std::atomic<uint64_t>>();
    const int status = run_child(folder.path(), {}, [&] {
      std::thread killer([round, returned] {
        // on a busy disk the first record takes longer
        while (returned->load(std::memory_order_acquire) == 0) usleep(100);
        usleep(static_cast<useconds_t>(20'000 + 7'777 * round));
        kill(getpid(), SIGKILL);
      });
      for (uint64_t i = 1;; ++i) {
        record_call(i);
        returned->store(i, std::memory_order_release);
      }
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    ScannedLog log = scan(only_log(folder));
    EXPECT_TRUE(log.whole) << log.damage;
    EXPECT_EQ(log.finished, 0u);
    ASSERT_GE(log.objects.size(), returned->load());
    ASSERT_LE(log.objects.size(), returned->load() + 1);
    // The order of blocks in the file is another one if the helper and the thread extend the log at the same time.
    std::sort(log.objects.begin(), log.objects.end());
    for (uint64_t i = 0; i < log.objects.size(); ++i) ASSERT_EQ(log.objects[i], i + 1);
  }
}

TEST(Log, ShowsWhatAThreadWasInsideWhenTheProcessWasKilled) {
  const TempFolder folder;
  run_child(folder.path(), {}, [] {
    record_call(1);
    preload::CallScope scope(format::ApiId{99}, PROF_HOOK_FRAME());
    kill(getpid(), SIGKILL);
  });
  const ScannedLog log = scan(only_log(folder));
  EXPECT_TRUE(
      std::any_of(log.in_call.begin(), log.in_call.end(), [](const auto& entry) { return entry.second == 99; }));
}

TEST(Log, AForkedChildWritesItsOwnAndLeavesTheParentsAlone) {
  const TempFolder folder;
  const int status = run_child(folder.path(), {}, [] {
    for (uint64_t i = 1; i <= 500; ++i) record_call(i);
    const pid_t child = fork();
    if (child == 0) {
      for (uint64_t i = 1001; i <= 1200; ++i) record_call(i);
      exit(0);
    }
    for (uint64_t i = 501; i <= 1000; ++i) record_call(i);
    int child_status = 0;
    waitpid(child, &child_status, 0);
    if (child_status != 0) exit(1);
  });
  ASSERT_EQ(status, 0);
  const std::vector<std::string> logs = folder.logs();
  ASSERT_EQ(logs.size(), 2u);
  ScannedLog parent = scan(logs[0]);
  ScannedLog child = scan(logs[1]);
  if (parent.objects.size() < child.objects.size()) std::swap(parent, child);
  EXPECT_TRUE(parent.whole);
  EXPECT_TRUE(child.whole);
  EXPECT_EQ(parent.objects.size(), 1000u);
  EXPECT_EQ(child.objects.size(), 200u);
  EXPECT_NE(parent.header.pid, child.header.pid);
  EXPECT_EQ(std::accumulate(child.objects.begin(), child.objects.end(), uint64_t{0}), (1001u + 1200u) * 100u);
}

// Ended threads leave state for the next ones: rests of chunks, slots, in a ring their sealed blocks. All of it is the
// parent's, and a child has none of it.
TEST(Log, AChildForkedAfterThreadsEndedUsesNothingOfTheirs) {
  for (const char* const ring : {"PROF_RING=off", "PROF_RING=1M", "PROF_RING=100s"}) {
    const TempFolder folder;
    const auto in_threads = [](uint64_t first) {
      for (uint64_t t = 0; t < 3; ++t) {
        std::thread([=] {
          for (uint64_t i = 0; i < 2'000; ++i) record_call(first + t * 2'000 + i);
        }).join();
      }
    };
    const int status = run_child(folder.path(), {ring}, [&] {
      record_call(1);
      in_threads(1'000'000);
      const pid_t child = fork();
      in_threads(child == 0 ? 2'000'000 : 1'006'000);
      if (child == 0) exit(0);
      int child_status = 0;
      waitpid(child, &child_status, 0);
      if (child_status != 0) exit(1);
    });
    ASSERT_EQ(status, 0) << ring;
    std::vector<std::vector<uint64_t>> objects;
    for (const std::string& path : folder.logs()) {
      ScannedLog log = scan(path);
      EXPECT_TRUE(log.whole) << ring << ": " << log.damage;
      std::sort(log.objects.begin(), log.objects.end());
      objects.push_back(std::move(log.objects));
    }
    ASSERT_EQ(objects.size(), 2u) << ring;
    if (objects[0].size() < objects[1].size()) std::swap(objects[0], objects[1]);
    std::vector<uint64_t> parents(12'000), childs(6'000);
    std::iota(parents.begin(), parents.end(), 1'000'000);
    std::iota(childs.begin(), childs.end(), 2'000'000);
    parents.insert(parents.begin(), 1);
    EXPECT_EQ(objects[0], parents) << ring;
    EXPECT_EQ(objects[1], childs) << ring;
  }
}

// Whatever the name is made of: every process of a family writes a file of its own, which says whose it is.
TEST(Log, OfAForkedChildIsNamedAfterTheChild) {
  struct Pids {
    pid_t parent, child, grandchild;
  };
  auto* const pids = shared_value<Pids>();
  const auto family = [pids] {
    record_call(1);
    pids->parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
      pids->child = getpid();
      record_call(2);
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        pids->grandchild = getpid();
        record_call(3);
        exit(0);
      }
      waitpid(grandchild, nullptr, 0);
      exit(0);
    }
    waitpid(child, nullptr, 0);
  };
  const auto name = [](const char* before, pid_t pid) { return before + std::to_string(pid) + ".plog"; };
  const TempFolder of_folder, of_pattern, of_name;
  ASSERT_EQ(run_child(of_folder.path(), {}, family), 0);
  for (const auto& [pid, object] :
       {std::pair(pids->parent, 1u), std::pair(pids->child, 2u), std::pair(pids->grandchild, 3u)}) {
    const ScannedLog log = scan(of_folder.path() + "/" + name("prof.", pid));
    EXPECT_EQ(log.objects, std::vector<uint64_t>{object});
    EXPECT_EQ(log.header.pid, static_cast<uint32_t>(pid));
  }
  ASSERT_EQ(run_child("", {"PROF_OUTPUT=" + of_pattern.path() + "/run-%p.plog"}, family), 0);
  for (const pid_t pid : {pids->parent, pids->child, pids->grandchild}) {
    EXPECT_EQ(scan(of_pattern.path() + "/" + name("run-", pid)).header.pid, static_cast<uint32_t>(pid));
  }
  ASSERT_EQ(run_child("", {"PROF_OUTPUT=" + of_name.path() + "/run.plog"}, family), 0);
  const std::string numbered[] = {"/run.plog", "/run-2.plog", "/run-3.plog"};
  const pid_t in_order[] = {pids->parent, pids->child, pids->grandchild};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(scan(of_name.path() + numbered[i]).header.pid, static_cast<uint32_t>(in_order[i])) << numbered[i];
  }
}

TEST(Log, WhatAParentCountedBeforeItHadALogIsNotItsChilds) {
  const TempFolder folder;
  preload::count(format::LossCounter::guard_resets, 3);
  const auto body = [] {
    preload::count(format::LossCounter::guard_resets, 2);  // the child's own resets, before its log exists
    record_call(1);
  };
  ASSERT_EQ(run_child(folder.path(), {}, body), 0);
  ASSERT_EQ(folder.logs().size(), 1u);
  EXPECT_EQ(scan(folder.logs()[0]).counters.at("guard_resets"), 2u);
}

TEST(Log, AForkedChildThatRecordsNothingMakesNoFile) {
  const TempFolder folder;
  run_child(folder.path(), {}, [] {
    record_call(1);
    const pid_t child = fork();
    if (child == 0) exit(0);
    int ignored = 0;
    waitpid(child, &ignored, 0);
  });
  EXPECT_EQ(folder.logs().size(), 1u);
}

TEST(Log, TenThousandShortThreadsCostMegabytesNotGigabytes) {
  const TempFolder folder;
  const int status = run_child(folder.path(), {}, [] {
    record_call(5);
    for (int round = 0; round < 1250; ++round) {
      std::thread threads[8];
      for (std::thread& thread : threads) thread = std::thread([] { record_call(5); });
      for (std::thread& thread : threads) thread.join();
    }
  });
  ASSERT_EQ(status, 0);
  const ScannedLog log = scan(only_log(folder));
  EXPECT_TRUE(log.whole);
  EXPECT_EQ(log.objects.size(), 10'001u);
  const uint64_t ends = log.records.at(ThreadEnd::kKind);
  EXPECT_TRUE(ends == 10'000u || ends == 10'001u) << ends << ": the recorder's own thread may end in order as well";
  EXPECT_LT(log.size, 60u << 20);
}

std::atomic<uint64_t> g_from_handler{0};

TEST(Log, ASignalHandlerThatRecordsNeverBreaksIt) {
  const TempFolder folder;
  auto* const accepted = shared_value<std::atomic<uint64_t>>();
  const int status = run_child(folder.path(), {}, [&] {
    record_call(1);
    g_from_handler = 0;
    struct sigaction action {};
    action.sa_handler = [](int) {
      if (record_call(2)) g_from_handler.fetch_add(1);
    };
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    const itimerval timer{{0, 100}, {0, 100}};
    setitimer(ITIMER_PROF, &timer, nullptr);
    uint64_t mine = 1;
    for (int i = 0; i < 3'000'000; ++i) mine += record_call(3) ? 1 : 0;
    const itimerval off{};
    setitimer(ITIMER_PROF, &off, nullptr);
    accepted->store(mine + g_from_handler.load());
  });
  ASSERT_EQ(status, 0);
  const ScannedLog log = scan(only_log(folder));
  EXPECT_TRUE(log.whole);
  EXPECT_EQ(log.objects.size(), accepted->load());
}

jmp_buf g_jump;

__attribute__((noinline)) void left_by_longjmp() {
  preload::CallScope scope(format::ApiId{8}, PROF_HOOK_FRAME());
  longjmp(g_jump, 1);
}

TEST(Log, RecordsOnAfterACallWasLeftByLongjmp) {
  const TempFolder folder;
  run_child(folder.path(), {}, [] {
    record_call(1);
    if (setjmp(g_jump) == 0) left_by_longjmp();
    record_call(2);
    record_call(3);
  });
  const ScannedLog log = scan(only_log(folder));
  EXPECT_EQ(log.objects, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(log.counters.at("guard_resets"), 1u);
}

TEST(Log, CallsInsideARecordedCallAreCountedNotRecorded) {
  const TempFolder folder;
  run_child(folder.path(), {}, [] {
    record_call(1);
    preload::CallScope outer(format::ApiId{8}, PROF_HOOK_FRAME());
    record_call(2);
    outer.end();
    outer.leave();
  });
  const ScannedLog log = scan(only_log(folder));
  EXPECT_EQ(log.objects, (std::vector<uint64_t>{1}));
  EXPECT_EQ(log.counters.at("nested_calls"), 1u);
}

// Otherwise a signal to the process that the program's threads block would run its handler on the helper thread.
TEST(Log, IsTendedByAThreadThatBlocksEverySignal) {
  const TempFolder folder;
  auto* const helpers = shared_value<uint64_t>();
  auto* const blocking = shared_value<uint64_t>();
  run_child(folder.path(), {}, [&] {
    record_call(1);
    usleep(100'000);  // the thread sets its name
    for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task")) {
      std::ifstream file(task.path() / "status");
      const std::string status((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      if (!status.starts_with("Name:\tlibprof\n")) continue;
      ++*helpers;
      // SIGKILL and SIGSTOP cannot be blocked; 32 and 33 are libc's own.
      constexpr uint64_t kNotTheProgram = 1ull << 8 | 1ull << 18 | 1ull << 31 | 1ull << 32;
      const size_t at = status.find("SigBlk:\t");
      if (at == std::string::npos) continue;
      const uint64_t blocked = std::strtoull(status.c_str() + at + std::strlen("SigBlk:\t"), nullptr, 16);
      if ((blocked | kNotTheProgram) == ~0ull) ++*blocking;
    }
  });
  EXPECT_EQ(*helpers, 1u);
  EXPECT_EQ(*blocking, 1u);
}

// Pages are as large as the log's blocks, or 4 or 16 times as large. The kernel refuses other offsets.
TEST(Log, IsMappedByWholePages) {
  const TempFolder folder;
  auto* const mappings = shared_value<uint64_t>();
  auto* const whole = shared_value<uint64_t>();
  run_child(folder.path(), {"PROF_SLAB=64K"}, [&] {
    for (uint64_t i = 0; i < 50'000; ++i) record_call(i);
    std::ifstream file("/proc/self/maps");
    for (std::string line; std::getline(file, line);) {
      if (!line.ends_with(".plog")) continue;
      ++*mappings;
      std::istringstream words(line);
      std::string range, rights, offset;
      words >> range >> rights >> offset;
      if (std::stoull(offset, nullptr, 16) % static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) == 0) ++*whole;
    }
  });
  EXPECT_GT(*mappings, 1u);
  EXPECT_EQ(*whole, *mappings);
  EXPECT_EQ(scan(only_log(folder)).objects.size(), 50'000u);
}

TEST(Log, KeepsErrno) {
  const TempFolder folder;
  const int status = run_child(folder.path(), {"PROF_SLAB=64K"}, [] {
    for (uint64_t i = 0; i < 50'000; ++i) {
      errno = 77;
      record_call(i);
      if (errno != 77) exit(1);
    }
    std::thread([] {
      errno = 78;
      record_call(1);
      if (errno != 78) exit(2);
    }).join();
  });
  EXPECT_EQ(status, 0);
}

TEST(Log, EightThreadsLoseNothing) {
  const TempFolder folder;
  const int status = run_child(folder.path(), {"PROF_SLAB=64K"}, [] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([] {
        for (uint64_t i = 1; i <= 50'000; ++i) record_call(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  ASSERT_EQ(status, 0);
  const ScannedLog log = scan(only_log(folder));
  EXPECT_TRUE(log.whole);
  // Threads that arrive while the first one starts the recorder are not blocked; their calls are counted.
  EXPECT_EQ(log.objects.size() + log.counters.at("before_ready") + log.counters.at("records_dropped_full"), 400'000u);
}

}  // namespace
}  // namespace prof::test
