// What becomes of the log where it finds no room or no file: limits of size, full tables, descriptors and folders that
// are not its own.
#include "preload/record/intern.h"
#include "preload/record/texts.h"
#include "tests/unit/preload/capture_log.h"
#include "tests/unit/preload/recording_child.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

namespace prof::test {
namespace {

TEST(Log, StopsAtTheFileSizeLimitWhileTheProgramGoesOn) {
  const TempFolder folder;
  auto* const refused = shared_value<std::atomic<uint64_t>>();
  const int status = run_child(folder.path(), {"PROF_QUIET=1"}, [&] {
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (uint64_t i = 1; i <= 300'000; ++i) {
      if (!record_call(i)) refused->fetch_add(1);
    }
  });
  ASSERT_EQ(status, 0);
  const ScannedLog log = scan(only_log(folder));
  EXPECT_TRUE(log.whole);
  EXPECT_LE(log.size, 1u << 20);
  EXPECT_GT(refused->load(), 0u);
  EXPECT_EQ(log.objects.size() + refused->load(), 300'000u);
  // Besides the calls, at most a clock anchor or two and the definition of the thread found no space.
  EXPECT_GE(log.counters.at("records_dropped_full"), refused->load());
  EXPECT_LE(log.counters.at("records_dropped_full"), refused->load() + 4);
}

TEST(Log, StopsAtItsOwnSizeLimitAndCounts) {
  const TempFolder folder;
  run_child(folder.path(), {"PROF_QUIET=1", "PROF_MAX_SIZE=512K"}, [] {
    for (uint64_t i = 1; i <= 200'000; ++i) record_call(i);
  });
  const ScannedLog log = scan(only_log(folder));
  EXPECT_LE(log.size, 512u << 10);
  const uint64_t seen = log.objects.size() + log.counters.at("records_dropped_full");
  EXPECT_GE(seen, 200'000u);
  EXPECT_LE(seen, 200'004u) << "beside the calls only clock anchors may be dropped";
}

TEST(Log, NeverTouchesAFileThatGotItsDescriptorsNumber) {
  const TempFolder folder;
  const std::string victim = folder.path() + "/victim";
  run_child(folder.path(), {"PROF_SLAB=64K"}, [&] {
    for (uint64_t i = 1; i <= 100; ++i) record_call(i);
    syscall(SYS_close_range, 3, ~0u, 0);
    for (int i = 0; i < 1000; ++i) {  // another file now has every descriptor up to 1000
      const int fd = open(victim.c_str(), O_RDWR | O_CREAT, 0600);
      if (fd < 0) break;
    }
    for (uint64_t i = 101; i <= 100'000; ++i) record_call(i);
  });
  EXPECT_EQ(fs::file_size(victim), 0u);
  const ScannedLog log = scan(only_log(folder));
  EXPECT_TRUE(log.whole);
  EXPECT_EQ(log.objects.size() + log.counters.at("records_dropped_full"), 100'000u);
  EXPECT_EQ(log.objects.size(), 100'000u) << "the log found its file again by name";
  EXPECT_GE(log.counters.at("log_replaced"), 1u);
}

TEST(Log, WhatATableOfNamesHasNoRoomForGetsAnIdForOneUse) {
  const TempFolder folder;
  struct Counts {
    uint64_t kept, once, found_again, wrong;
  };
  auto* const counts = shared_value<Counts>();
  run_child(folder.path(), {}, [&] {
    record_call(1);
    preload::InternTable::Slot slots[64] = {};
    preload::InternTable table;
    table.open(slots, 64, 2);  // and 256 more
    const auto hash_of = [](uint64_t n) { return preload::Hash().add(n).done(); };
    for (uint64_t n = 1; n <= 1000; ++n) {
      const uint32_t id = table.intern(hash_of(n), [](uint32_t) { return true; });
      ++(preload::is_kept(id) ? counts->kept : counts->once);
    }
    for (uint64_t n = 1; n <= 1000; ++n) {
      const uint32_t id = table.find(hash_of(n));
      if (id != 0) ++counts->found_again;
      if (id > n) ++counts->wrong;
    }
    if (preload::is_kept(table.intern(
            hash_of(1), [](uint32_t) { return true; }, false)))
      ++counts->wrong;
    if (preload::is_kept(table.intern_lasting(hash_of(2000), [](uint32_t) { return true; })) == false) ++counts->wrong;
  });
  EXPECT_GE(counts->kept, 200u);
  EXPECT_LE(counts->kept, (64u + 256) * 7 / 8);
  EXPECT_EQ(counts->kept + counts->once, 1000u);
  EXPECT_EQ(counts->found_again, counts->kept);
  EXPECT_EQ(counts->wrong, 0u);
}

TEST(Log, AFactThatIsTooLongIsCutAndCounted) {
  const TempFolder folder;
  const std::string fits(format::kMaxTextBytes - 100, 'f');
  run_child(folder.path(), {}, [&] {
    record_call(1);
    const preload::EventScope scope;
    preload::define_meta("fits", fits);
    preload::define_meta("too long", fits + "g");
    preload::define_meta("longer", fits + fits + fits);
  });
  const std::vector<std::string> lines = log_lines(only_log(folder), "meta");
  for (const char* const key : {"fits", "too long", "longer"}) {
    EXPECT_EQ(std::count(lines.begin(), lines.end(), std::string("meta key=") + key + " value=" + fits), 1) << key;
  }
  EXPECT_EQ(scan(only_log(folder)).counters.at("text_cut"), 2u);
}

TEST(Log, AFolderThatCannotBeWrittenLeavesTheProgramRunning) {
  const TempFolder folder;
  const int status = run_child(folder.path(), {"PROF_OUTPUT=/proc/nowhere", "PROF_QUIET=1"}, [] {
    if (record_call(1)) exit(1);
    if (record_call(2)) exit(2);
  });
  EXPECT_EQ(status, 0);
}

TEST(Log, IsWrittenByWritesWhereMappingsAreNotTrusted) {
  const TempFolder folder;
  if (mount("none", folder.path().c_str(), "ramfs", 0, nullptr) != 0) GTEST_SKIP() << "cannot mount ramfs here";
  run_child(folder.path(), {"PROF_SLAB=64K"}, [] {
    for (uint64_t i = 1; i <= 20'000; ++i) record_call(i);
  });
  const ScannedLog log = scan(only_log(folder));
  umount(folder.path().c_str());
  EXPECT_EQ(log.header.backing, format::Backing::Written);
  EXPECT_TRUE(log.whole);
  EXPECT_EQ(log.objects.size(), 20'000u);
}

}  // namespace
}  // namespace prof::test
