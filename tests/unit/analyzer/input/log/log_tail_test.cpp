// The reader of `prof top` delivers each record of a growing log once, whatever was written between two reads.
#include "analyzer/input/log/log_tail.h"
#include "analyzer/base/input_error.h"
#include "tests/unit/analyzer/input/log/numbered_launches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

namespace prof::tests {
namespace {

using std::chrono::seconds;

// What was delivered: the numbers of launches, and the ids of strings.
struct Delivered {
  static constexpr bool kSeldom = true;
  std::vector<uint64_t> launches;
  std::vector<uint64_t> strings;
  void operator()(const format::KernelLaunch& launch, RecordPlace) { launches.push_back((launch.end - 1000) / 10); }
  void operator()(const format::StringPart& string, RecordPlace) {
    strings.push_back(static_cast<uint64_t>(string.id));
  }

  std::vector<uint64_t> sorted() const {
    std::vector<uint64_t> numbers = launches;
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
};

format::StringPart string_number(uint64_t id) {
  return {static_cast<format::StringId>(id), 40, 0, "a text of forty characters, neither more"};
}

std::vector<uint64_t> numbers_to(uint64_t end) {
  std::vector<uint64_t> numbers(end);
  std::iota(numbers.begin(), numbers.end(), uint64_t{0});
  return numbers;
}

class GrowingFile {
 public:
  GrowingFile() { std::filesystem::create_directories(folder_); }
  ~GrowingFile() { std::filesystem::remove_all(folder_); }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  // Writes the file in place, as a mapping changes it: a reader that holds it open sees the new contents.
  void write(const std::vector<uint8_t>& bytes) const {
    if (!std::filesystem::exists(path())) std::ofstream(path()).flush();
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    std::filesystem::resize_file(path(), bytes.size());
  }
  std::string path() const { return folder_ / "growing.plog"; }

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("log_tail." + std::to_string(getpid()));
};

// `empty`: blocks that are reserved and not used yet.
std::vector<uint8_t> with_empty(std::vector<uint8_t> bytes, uint64_t empty) {
  bytes.resize(bytes.size() + empty * format::kBlockBytes);
  return bytes;
}

TEST(LogTail, DeliversEachRecordOnceWhileThreadsWrite) {
  std::mt19937_64 random(7);
  GrowingFile file;
  LogBuilder log;
  file.write(with_empty(log.bytes(), 16));
  LogTail tail(file.path());
  EXPECT_TRUE(tail.from_the_start());
  Delivered all;
  uint64_t launches = 0, strings = 0;
  for (int turn = 0; turn < 200; ++turn) {
    for (uint64_t count = random() % 400; count > 0; --count) {
      log.add(1 + static_cast<uint32_t>(random() % 5), launch_number(launches++));
      if (random() % 50 == 0) log.define(string_number(++strings));
    }
    if (random() % 10 == 0) log.seal(1 + static_cast<uint32_t>(random() % 5));
    file.write(with_empty(log.bytes(), random() % 40));
    tail.read(all, seconds(1));
    ASSERT_EQ(all.sorted(), numbers_to(launches)) << "turn " << turn;
    ASSERT_EQ(all.strings.size(), strings);
  }
  EXPECT_EQ(tail.damaged_blocks(), 0U);
}

TEST(LogTail, DeliversABlockThatIsWrittenAfterLaterOnes) {
  GrowingFile file;
  LogBuilder log;
  for (uint64_t i = 0; i < 9000; ++i) log.add(static_cast<uint32_t>(1 + i / 100 % 3), launch_number(i));
  const std::vector<uint8_t> whole = log.bytes();
  // Threads take blocks in chunks: for a while, every third block is still empty.
  std::vector<uint8_t> with_holes = whole;
  const uint64_t blocks = log.blocks.size();
  ASSERT_GT(blocks, 12U);
  for (uint64_t block = 2; block < blocks; block += 3) {
    std::fill_n(with_holes.begin() + static_cast<std::ptrdiff_t>(format::kBlocksOffset + block * format::kBlockBytes),
                format::kBlockBytes, uint8_t{0});
  }
  file.write(with_holes);
  LogTail tail(file.path());
  Delivered all;
  tail.read(all, seconds(1));
  EXPECT_LT(all.launches.size(), 9000U);
  tail.read(all, seconds(1));
  const size_t before = all.launches.size();
  file.write(whole);
  tail.read(all, seconds(1));
  EXPECT_GT(all.launches.size(), before);
  EXPECT_EQ(all.sorted(), numbers_to(9000));
  tail.read(all, seconds(1));
  EXPECT_EQ(all.launches.size(), 9000U);
}

TEST(LogTail, OfALongLogDeliversTheEndAndAllDefinitions) {
  GrowingFile file;
  LogBuilder log;
  uint64_t launches = 0, strings = 0;
  while (log.blocks.size() < 3 * LogTail::kRecentBlocks) {
    log.define(string_number(++strings));
    for (int i = 0; i < 100; ++i) log.add(1, launch_number(launches++));
  }
  file.write(log.bytes());
  LogTail tail(file.path());
  EXPECT_FALSE(tail.from_the_start());
  Delivered all;
  tail.read(all, seconds(0));
  ASSERT_FALSE(all.launches.empty());
  EXPECT_GT(all.launches.front(), launches / 2);
  EXPECT_EQ(all.launches.back(), launches - 1);
  EXPECT_EQ(all.launches.back() - all.launches.front() + 1, all.launches.size());
  const size_t recent = all.launches.size();
  for (int turn = 0; turn < 1000 && !tail.surveyed(); ++turn) tail.read(all, seconds(1));
  EXPECT_TRUE(tail.surveyed());
  EXPECT_EQ(all.launches.size(), recent);
  std::sort(all.strings.begin(), all.strings.end());
  EXPECT_EQ(all.strings.size(), strings);
  EXPECT_EQ(std::adjacent_find(all.strings.begin(), all.strings.end()), all.strings.end());
}

TEST(LogTail, CountsADamagedBlockAndReadsTheOthers) {
  GrowingFile file;
  LogBuilder log;
  for (uint64_t i = 0; i < 3000; ++i) log.add(1, launch_number(i));
  ASSERT_GT(log.blocks.size(), 3U);
  log.blocks[1].header.committed = format::kPayloadBytes + 1;
  file.write(log.bytes());
  LogTail tail(file.path());
  Delivered all;
  tail.read(all, seconds(1));
  EXPECT_GT(tail.damaged_blocks(), 0U);
  EXPECT_EQ(all.launches.front(), 0U);
  EXPECT_EQ(all.launches.back(), 2999U);
  EXPECT_LT(all.launches.size(), 3000U);
}

TEST(LogTail, DeliversAReusedBlockOfARingOnce) {
  GrowingFile file;
  LogBuilder log;
  log.page.ring.bytes = 4 * format::kBlockBytes;
  uint64_t launches = 0;
  while (log.blocks.size() < 5) log.add(1, launch_number(launches++));
  log.blocks.pop_back();  // the first launch of the fifth block
  --launches;
  file.write(log.bytes());
  LogTail tail(file.path());
  EXPECT_TRUE(tail.is_ring());
  Delivered all;
  tail.read(all, seconds(1));
  EXPECT_EQ(all.sorted(), numbers_to(launches));
  tail.read(all, seconds(1));
  EXPECT_EQ(all.launches.size(), launches);
  // The oldest block is used again.
  LogBuilder next;
  next.page.ring.bytes = log.page.ring.bytes;
  for (uint64_t i = 0; i < 10; ++i) next.add(1, launch_number(launches++));
  log.blocks[0] = next.blocks[0];
  log.blocks[0].header.sequence = 4;
  file.write(log.bytes());
  tail.read(all, seconds(1));
  EXPECT_EQ(all.sorted(), numbers_to(launches));
}

TEST(LogTail, OfALogThatShrankRepeatsNothing) {
  GrowingFile file;
  LogBuilder log;
  for (uint64_t i = 0; i < 2000; ++i) log.add(1, launch_number(i));
  file.write(with_empty(log.bytes(), 2000));
  LogTail tail(file.path());
  Delivered all;
  tail.read(all, seconds(1));
  log.seal_all();
  file.write(log.bytes());
  tail.read(all, seconds(1));
  EXPECT_EQ(all.sorted(), numbers_to(2000));
  EXPECT_FALSE(tail.replaced());
  std::filesystem::remove(file.path());
  file.write(log.bytes());
  EXPECT_TRUE(tail.replaced());
}

TEST(LogTail, RefusesWhatIsNoLog) {
  GrowingFile file;
  EXPECT_THROW(LogTail("/nonexistent/a.plog"), InputError);
  EXPECT_THROW(LogTail("/dev/null"), InputError);
  file.write(std::vector<uint8_t>(10'000, 'x'));
  EXPECT_THROW(LogTail{file.path()}, InputError);
  LogBuilder log;
  log.header.version = format::kFormatVersion + 1;
  file.write(log.bytes());
  EXPECT_THROW(LogTail{file.path()}, InputError);
  log.header.version = format::kFormatVersion;
  log.kinds = "1 broken";
  file.write(log.bytes());
  EXPECT_THROW(LogTail{file.path()}, InputError);
}

}  // namespace
}  // namespace prof::tests
