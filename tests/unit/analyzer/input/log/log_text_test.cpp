// `prof dump` loses nothing: undump makes the same bytes from its output, for any log.
#include "analyzer/input/log/log_text.h"
#include "tests/golden/undump_log.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace prof::tests {
namespace {

using namespace analyzer;

std::string dump(const std::vector<uint8_t>& bytes) {
  const LogOpenResult opened = LogFile::from_memory(bytes, "test.plog");
  EXPECT_TRUE(opened) << opened.error.what;
  if (!opened) return {};
  const std::string path = std::filesystem::temp_directory_path() / ("prof-dump-" + std::to_string(getpid()) + ".txt");
  Sink sink(path);
  write_log_text(*opened.log, sink, {});
  sink.close();
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::filesystem::remove(path);
  return text;
}

void expect_round_trip(const std::vector<uint8_t>& bytes) {
  const std::string text = dump(bytes);
  std::vector<uint8_t> again;
  ASSERT_EQ(undump_log(text, again), "") << text.substr(0, 3000);
  ASSERT_EQ(again.size(), bytes.size());
  const auto [here, there] = std::mismatch(bytes.begin(), bytes.end(), again.begin());
  ASSERT_TRUE(here == bytes.end()) << "at byte " << here - bytes.begin();
}

std::vector<uint8_t> random_log(uint64_t seed) {
  std::mt19937_64 random(seed);
  LogBuilder log;
  log.header.start_tick = random();
  log.page.gpu_pending = random() % 100;
  log.page.reserved[0] = random() % 2;
  if (random() % 4 == 0) log.page.ring = {random() | 1, random() % 2 * random(), random(), random(), random() % 2};
  log.page.counter[5] = random();
  log.page.counter[400] = random() % 2;
  for (int round = 0; round < 8; ++round) {
    format::AllKinds::for_each([&]<class T>() {
      for (uint64_t i = random() % 5; i > 0; --i) add_random<T>(log, static_cast<uint32_t>(1 + random() % 3), random);
    });
    if (round == 4) log.blocks.insert(log.blocks.end(), 3, format::Block{});
  }
  return log.bytes();
}

TEST(LogText, EveryKindWithRandomFieldsComesBackByteIdentical) {
  for (uint64_t seed = 1; seed <= 30; ++seed) expect_round_trip(random_log(seed));
}

// The writer sets the flag, then stores the checksums. A kill in between leaves the flag alone.
TEST(LogText, ABlockThatWasBeingSealedAtAKillIsPrintedAsRecords) {
  LogBuilder log;
  for (uint64_t i = 1; i <= 10; ++i) log.add(1, format::DriverCalls{static_cast<uint32_t>(i), {}});
  std::vector<uint8_t> bytes = log.bytes();
  format::BlockHeader header;
  std::memcpy(&header, bytes.data() + format::kBlocksOffset, sizeof header);
  header.flags = format::kBlockSealed;
  std::memset(header.crc, 0, sizeof header.crc);
  std::memcpy(bytes.data() + format::kBlocksOffset, &header, sizeof header);
  const std::string text = dump(bytes);
  size_t records = 0;
  for (size_t at = text.find("\ndriver_calls "); at != std::string::npos; at = text.find("\ndriver_calls ", at + 1))
    ++records;
  EXPECT_EQ(records, 10u) << text;
  EXPECT_EQ(text.find("\nbytes "), std::string::npos) << text;
  EXPECT_NE(text.find(" sealing\n"), std::string::npos) << text;
  expect_round_trip(bytes);
}

TEST(LogText, DamagedAndCutLogsComeBackByteIdenticalToo) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<uint8_t> bytes = random_log(static_cast<uint64_t>(round));
    const size_t body = bytes.size() - format::kBlocksOffset;
    for (int i = 0; i < 5; ++i)
      bytes[format::kBlocksOffset + random() % body] ^= static_cast<uint8_t>(1 + random() % 255);
    bytes.resize(bytes.size() - random() % 5000);
    // A damaged byte may encode a number in more bytes than needed. undump restores its value but not that encoding.
    const LogOpenResult opened = LogFile::from_memory(bytes, "x");
    bool sealed_only = true;
    for (const BlockRef& block : opened.log->blocks()) sealed_only &= block.sealed;
    if (sealed_only) expect_round_trip(bytes);
    std::vector<uint8_t> again;
    EXPECT_EQ(undump_log(dump(bytes), again), "");
    EXPECT_EQ(again.size(), bytes.size());
  }
}

TEST(LogText, BytesOfAnInterruptedRecordComeBack) {
  LogBuilder log;
  log.add(1, format::ThreadEnd{5});
  log.blocks[0].payload[1000] = 9;
  expect_round_trip(log.bytes());
}

TEST(LogText, OneLineARecordWithNamesValuesAndEscapes) {
  LogBuilder log;
  log.add(1, format::KernelLaunch{.end = 500,
                                  .duration = 20,
                                  .config = static_cast<format::ConfigId>(3),
                                  .stream = static_cast<format::StreamId>(1),
                                  .depth = 2,
                                  .stack = {},
                                  .result = 700});
  log.add(1, format::ThreadDef{static_cast<format::ThreadOrdinal>(1), 9, 8, "a\"b\\\n\x01\xff\xc3\xa4"});
  const format::CallPair pairs[] = {{1536, 7}, {2048, 8}};
  log.add(1, format::DriverCalls{5, {pairs, 2, 9}});
  log.define(format::StreamDef{.id = static_cast<format::StreamId>(1), .priority = -5});
  const std::string text = dump(log.bytes());
  EXPECT_NE(text.find("\nkernel_launch end=500 duration=20 config=3 stream=1 depth=2 result=700\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nthread thread=1 tid=9 first_tick=8 name=\"a\\\"b\\\\\\n\\x01\\xff\xc3\xa4\"\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\ndriver_calls tid=5 calls=[unit=512 1536:7 2048:8]\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" priority=-5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ncounter cupti_dropped 0\n"), std::string::npos) << text;
}

TEST(LogText, HandWrittenTextNeedsOnlyWhatItIsAbout) {
  std::vector<uint8_t> bytes;
  ASSERT_EQ(undump_log("# a comment\n"
                       "counter cupti_dropped 3\n"
                       "block events thread=1\n"
                       "kernel_launch end=500 duration=20 config=3 stream=1 depth=2\n"
                       "block events thread=1 sealed\n"
                       "thread_end time=7\n",
                       bytes),
            "");
  const LogOpenResult opened = LogFile::from_memory(bytes, "x");
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened.log->damage().empty());
  EXPECT_EQ(opened.log->counter("cupti_dropped"), 3u);
  EXPECT_EQ(opened.log->counter("text_cut"), 0u);
  ASSERT_EQ(opened.log->blocks().size(), 2u);
  EXPECT_EQ(opened.log->blocks()[1].sequence, 1u);
  EXPECT_EQ(opened.log->blocks()[1].records, 1u);
}

TEST(LogText, UndumpNamesTheLineThatIsWrong) {
  std::vector<uint8_t> bytes;
  EXPECT_EQ(undump_log("block events thread=1\nnonsense a=1\n", bytes),
            "line 2: 'nonsense' is neither a line nor a kind");
  EXPECT_EQ(undump_log("kernel_launch end=1\n", bytes), "line 1: a record outside a block");
  EXPECT_EQ(undump_log("block events\nthread_end when=1\n", bytes), "line 2: thread_end has no field 'when'");
  EXPECT_EQ(undump_log("block events\nkind 7 nvtx_pop time:t\n", bytes),
            "line 2: a kind behind the first block, which was made without it");
  EXPECT_EQ(undump_log("block events\nfree 18446744073709551615\n", bytes), "line 2: a log of more than 64 MiB");
  EXPECT_EQ(undump_log("block events\nend 18446744073709551615\n", bytes), "line 2: a log of more than 64 MiB");
}

}  // namespace
}  // namespace prof::tests
