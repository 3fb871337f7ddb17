// What the reader guarantees for any file: every record in order, kinds of other versions, packed and growing logs,
// exact error messages.
#include "analyzer/input/log/log_decode.h"
#include "tests/unit/analyzer/input/log/numbered_launches.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

namespace prof::tests {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "prof.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name, const std::vector<uint8_t>& bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path_ + "/" + name;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(LogFile, GivesEveryRecordBackInOrder) {
  LogBuilder builder = some_log(5000);
  const auto log = builder.open_log();
  ASSERT_TRUE(log);
  EXPECT_TRUE(log->damage().empty());
  const Launches got = decode_all(*log);
  ASSERT_EQ(got.all.size(), 5000u);
  for (uint64_t i = 0; i < 5000; ++i) {
    const format::KernelLaunch expected = launch_number(i);
    ASSERT_EQ(got.all[i].end, expected.end);
    ASSERT_EQ(got.all[i].duration, expected.duration);
    ASSERT_EQ(got.all[i].config, expected.config);
    ASSERT_EQ(got.all[i].depth, expected.depth);
    ASSERT_EQ(got.all[i].flags, expected.flags);
  }
}

TEST(LogFile, SortsBlocksByThreadKindAndSequence) {
  LogBuilder builder;
  for (int round = 0; round < 3; ++round) {
    for (const uint32_t thread : {2u, 1u}) {
      builder.define(format::ApiDef{static_cast<format::ApiId>(round + 1), "cuInit"}, thread);
      builder.add(thread, launch_number(0));
      builder.seal_all();
    }
  }
  const auto log = builder.open_log();
  ASSERT_EQ(log->blocks().size(), 12u);
  for (size_t i = 1; i < 12; ++i) {
    const BlockRef& a = log->blocks()[i - 1];
    const BlockRef& b = log->blocks()[i];
    EXPECT_LT(std::tuple(a.thread, a.kind, a.sequence), std::tuple(b.thread, b.kind, b.sequence));
  }
  EXPECT_TRUE(log->damage().empty());
}

TEST(LogFile, SaysExactlyWhyAFileCannotBeUsed) {
  const TemporaryFolder folder;
  const auto error_of = [](const std::string& path) { return LogFile::open(path).error; };
  EXPECT_EQ(error_of(folder.path() + "/missing").kind, LogErrorKind::NotFound);
  EXPECT_EQ(error_of(folder.path()).kind, LogErrorKind::Directory);
  EXPECT_EQ(error_of("/dev/null").kind, LogErrorKind::CannotRead);
  EXPECT_EQ(error_of(folder.file("empty", {})).kind, LogErrorKind::Empty);
  EXPECT_EQ(error_of(folder.file("text", {'h', 'e', 'l', 'l', 'o'})).kind, LogErrorKind::NotALog);

  std::vector<uint8_t> bytes = some_log(3).bytes();
  bytes.resize(5000);
  const LogError cut = error_of(folder.file("cut", bytes));
  EXPECT_EQ(cut.kind, LogErrorKind::TruncatedHeader);
  EXPECT_EQ(cut.offset, 5000u);

  bytes = some_log(3).bytes();
  bytes[offsetof(format::FileHeader, version)] = 9;
  const LogError newer = error_of(folder.file("newer", bytes));
  EXPECT_EQ(newer.kind, LogErrorKind::NewerVersion);
  EXPECT_NE(newer.what.find("version 9"), std::string::npos) << newer.what;
  EXPECT_NE(newer.what.find("up to " + std::to_string(format::kFormatVersion)), std::string::npos) << newer.what;
  EXPECT_EQ(newer.offset, offsetof(format::FileHeader, version));

  if (geteuid() != 0) {
    const std::string secret = folder.file("secret", bytes);
    chmod(secret.c_str(), 0);
    EXPECT_EQ(error_of(secret).kind, LogErrorKind::NoPermission);
  }
}

TEST(LogFile, ReadsKindsOfOtherVersionsByNameAndStepsOverUnknownOnes) {
  LogBuilder fresh;
  // kernel_launch with another number, one field less, one more and another order; and a kind of a future version.
  fresh.kinds = "7 kernel_launch stream:v end:t news:x config:v duration:v flags:?v\n";
  fresh.kinds += "33 thread thread:v tid:v first_tick:v name:x\n";
  fresh.kinds += "900 future a:v b:s c:x d:c e:g f:?n g:q\n";
  format::Block block{};
  block.header.magic = format::kBlockMagic;
  block.header.kind = format::BlockKind::Events;
  block.header.thread = 1;
  block.header.base_tick = 100;
  uint8_t* to = block.payload;
  const auto put = [&](uint64_t value) { to = format::put_varint(to, value); };
  put(7 << 3 | 1), put(5), put(50), to = format::put_text(to, "new"), put(8), put(20), put(4);
  put(900 << 3), put(1), put(3), to = format::put_text(to, "x"), put(2), put(2), put(1), put(4), put(2);
  put(7 << 3), put(6), put(10), to = format::put_text(to, ""), put(9), put(2);
  block.header.committed = static_cast<uint32_t>(to - block.payload);
  fresh.blocks.push_back(block);
  const auto log = fresh.open_log();
  ASSERT_TRUE(log);
  Launches got;
  const DecodeResult result = decode_block(*log, log->blocks()[0], got);
  EXPECT_FALSE(result.bad_record);
  EXPECT_EQ(result.records, 3u);
  EXPECT_EQ(result.unknown, 1u);
  ASSERT_EQ(got.unknown_names, std::vector<std::string>{"future"});
  ASSERT_EQ(got.all.size(), 2u);
  EXPECT_EQ(got.all[0].end, 150u);
  EXPECT_EQ(got.all[0].duration, 20u);
  EXPECT_EQ(static_cast<uint32_t>(got.all[0].stream), 5u);
  EXPECT_EQ(static_cast<uint32_t>(got.all[0].config), 8u);
  EXPECT_EQ(got.all[0].flags, 4u);
  EXPECT_EQ(got.all[0].depth, 0u);
  EXPECT_EQ(got.all[1].end, 160u);
  EXPECT_EQ(got.all[1].flags, 0u);
}

TEST(LogFile, FindsCountersByTheirOwnNames) {
  LogBuilder builder = some_log(1);
  builder.counters = "of_the_future\ncupti_dropped\n";
  builder.page.counter[0] = 5;
  builder.page.counter[1] = 6;
  const auto log = builder.open_log();
  EXPECT_EQ(log->counter("cupti_dropped"), 6u);
  EXPECT_EQ(log->counter("of_the_future"), 5u);
  EXPECT_EQ(log->counter("text_cut"), std::nullopt);
}

std::vector<uint8_t> gzip(const std::vector<uint8_t>& bytes) {
  std::vector<uint8_t> out(bytes.size() + 1000);
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = const_cast<uint8_t*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(LogFile, ReadsZstd) {
  const std::vector<uint8_t> bytes = some_log(20000).bytes();
  std::vector<uint8_t> packed(ZSTD_compressBound(bytes.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  const auto log = reopen(packed);
  ASSERT_TRUE(log);
  EXPECT_EQ(log->compression(), Compression::Zstd);
  EXPECT_TRUE(log->damage().empty());
  EXPECT_EQ(decode_all(*log).all.size(), 20000u);
}

TEST(LogFile, ReadsGzipAndSaysWhereItIsDamaged) {
  const std::vector<uint8_t> packed = gzip(some_log(20000).bytes());
  const auto log = reopen(packed);
  ASSERT_TRUE(log);
  EXPECT_TRUE(log->compressed());
  EXPECT_TRUE(log->damage().empty());
  EXPECT_EQ(decode_all(*log).all.size(), 20000u);

  std::vector<uint8_t> cut = packed;
  cut.resize(cut.size() * 2 / 3);
  const auto partial = reopen(cut);
  ASSERT_TRUE(partial);
  bool named = false;
  for (const Damage& damage : partial->damage()) named |= damage.kind == DamageKind::BadCompression;
  EXPECT_TRUE(named);
  const size_t some = decode_all(*partial).all.size();
  EXPECT_GT(some, 5000u);
  EXPECT_LT(some, 20000u);

  EXPECT_EQ(LogFile::from_memory({0x1f, 0x8b, 8, 0, 0}, "x").error.kind, LogErrorKind::NotALog);
}

TEST(LogFile, GzipDataWithoutBlocksIsRefusedOrCutWithThePlace) {
  EXPECT_EQ(LogFile::from_memory(gzip(std::vector<uint8_t>(1 << 20)), "x").error.kind, LogErrorKind::NotALog);
  const std::vector<uint8_t> log = some_log(2000).bytes();
  std::vector<uint8_t> bytes = log;
  bytes.resize(log.size() + 100 * format::kBlockBytes);  // unused blocks, as of a log that is still written
  const LogOpenResult unused = LogFile::from_memory(gzip(bytes), "unused", 10 * format::kBlockBytes);
  ASSERT_TRUE(unused);
  EXPECT_EQ(unused.log->log_bytes(), bytes.size());
  EXPECT_TRUE(unused.log->damage().empty());
  std::fill(bytes.begin() + static_cast<ptrdiff_t>(log.size()), bytes.end(), uint8_t{'x'});
  const LogOpenResult rubbish = LogFile::from_memory(gzip(bytes), "rubbish", 10 * format::kBlockBytes);
  ASSERT_TRUE(rubbish);
  EXPECT_EQ(rubbish.log->log_bytes(), log.size());
  ASSERT_EQ(rubbish.log->damage().size(), 1u);
  EXPECT_EQ(rubbish.log->damage()[0].offset, log.size());
  EXPECT_NE(rubbish.log->damage()[0].what.find("more than 40960 bytes of the unpacked log are no blocks"),
            std::string::npos);
  EXPECT_EQ(decode_all(*rubbish.log).all.size(), 2000u);
}

TEST(LogFile, AGrowingLogOfALivingProcessIsRead) {
  const TemporaryFolder folder;
  LogBuilder builder = some_log(700);
  builder.page.finished = 0;
  builder.header.pid = static_cast<uint32_t>(getpid());
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  builder.header.start_monotonic_ns =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  clock_gettime(CLOCK_REALTIME, &now);
  builder.header.start_realtime_ns =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  const LogOpenResult live = LogFile::open(folder.file("live.plog", builder.bytes()));
  ASSERT_TRUE(live);
  EXPECT_TRUE(live.log->still_written());
  EXPECT_TRUE(live.log->damage().empty());
  EXPECT_EQ(decode_all(*live.log).all.size(), 700u);

  builder.header.start_realtime_ns -= 3'600'000'000'000;  // another boot: the pid belongs to another process now
  const LogOpenResult killed = LogFile::open(folder.file("killed.plog", builder.bytes()));
  EXPECT_FALSE(killed.log->still_written());
}

}  // namespace
}  // namespace prof::tests
