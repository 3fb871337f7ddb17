// What the reader guarantees for a damaged log: every damage is found and reported with kind and place, and the records
// before it are still returned.
#include "analyzer/input/log/log_decode.h"
#include "analyzer/input/log/log_definitions.h"
#include "tests/unit/analyzer/input/log/numbered_launches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace prof::tests {
namespace {

using format::kBlockBytes;
using format::kBlocksOffset;

TEST(LogFile, EveryTruncationIsAnErrorOrNamedDamageAndNeverGivesAWrongRecord) {
  LogBuilder builder = some_log(700);  // one sealed block, one open
  const std::vector<uint8_t> whole = builder.bytes();
  ASSERT_EQ(builder.blocks.size(), 2u);
  const size_t all = decode_all(*reopen(whole)).all.size();
  for (size_t size = 0; size < whole.size(); ++size) {
    std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const LogOpenResult opened = LogFile::from_memory(std::move(cut), "cut");
    if (size < kBlocksOffset) {
      ASSERT_FALSE(opened) << size;
      ASSERT_NE(opened.error.kind, LogErrorKind::None);
      continue;
    }
    ASSERT_TRUE(opened) << size;
    ASSERT_FALSE(opened.log->damage().empty()) << size;
    uint64_t bad = 0;
    const Launches got = decode_all(*opened.log, &bad);
    ASSERT_EQ(bad, 0u) << size;
    ASSERT_LE(got.all.size(), all);
    for (size_t i = 0; i < got.all.size(); ++i) ASSERT_EQ(got.all[i].end, launch_number(i).end) << size;
  }
}

TEST(LogFile, EveryFlippedByteOfASealedBlockIsFoundAndItsKibibyteNamed) {
  LogBuilder builder = some_log(1000);
  const std::vector<uint8_t> whole = builder.bytes();
  ASSERT_NE(builder.blocks[0].header.flags & format::kBlockSealed, 0);
  const size_t in_first = builder.blocks[0].header.records - 1;  // launches; one record is the thread
  const size_t all = decode_all(*reopen(whole)).all.size();
  for (size_t at = 0; at < kBlockBytes; ++at) {
    for (const uint8_t flip : {uint8_t{0x01}, uint8_t{0x80}, uint8_t{0xff}}) {
      std::vector<uint8_t> damaged = whole;
      damaged[kBlocksOffset + at] ^= flip;
      const auto log = reopen(damaged);
      ASSERT_TRUE(log);
      ASSERT_FALSE(log->damage().empty()) << "byte " << at << " ^ " << int{flip};
      const Damage& damage = log->damage().front();
      // A flipped byte in a stored checksum is reported at the KiB of that checksum.
      const bool in_crc = at >= offsetof(format::BlockHeader, crc) && at < sizeof(format::BlockHeader);
      if (!in_crc) {
        ASSERT_LE(damage.offset, kBlocksOffset + at);
      }
      ASSERT_GE(damage.offset, kBlocksOffset);
      uint64_t bad = 0;
      const Launches got = decode_all(*log, &bad);
      ASSERT_EQ(bad, 0u);
      ASSERT_GE(got.all.size(), all - in_first);  // the other block is untouched
      if (at >= 1024) {
        EXPECT_EQ(damage.kind, DamageKind::BadChecksum);
        EXPECT_EQ(damage.offset, kBlocksOffset + at / 1024 * 1024);
        // The records before the damaged KiB are returned.
        ASSERT_GT(got.all.size(), all - in_first + (at / 1024 * 1024 - 200) / 16);
        for (size_t i = 0; i < 50; ++i) ASSERT_EQ(got.all[i].end, launch_number(i).end);
      }
    }
  }
}

TEST(LogFile, AnyByteAnywhereMayBeAnything) {
  std::mt19937_64 random(20261121);
  LogBuilder builder;
  format::AllKinds::for_each([&]<class T>() {
    for (int i = 0; i < 6; ++i) add_random<T>(builder, 1 + i % 2, random);
  });
  const std::vector<uint8_t> whole = builder.bytes();
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> damaged = whole;
    const size_t flips = 1 + random() % 8;
    for (size_t i = 0; i < flips; ++i) damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    if (round % 3 == 0) damaged.resize(random() % damaged.size());
    const LogOpenResult opened = LogFile::from_memory(std::move(damaged), "damaged");
    if (!opened) {
      ASSERT_FALSE(opened.error.what.empty());
      continue;
    }
    decode_all(*opened.log);
    const LogDefinitions definitions = load_definitions(*opened.log);
    const LogClock clock = make_clock(*opened.log, definitions);
    clock.ns(random());
    clock.gpu_ns(random());
  }
}

TEST(LogFile, NamesMissingAndDoubleSequenceNumbers) {
  LogBuilder builder = some_log(3000);
  ASSERT_GE(builder.blocks.size(), 4u);
  const std::vector<uint8_t> whole = builder.bytes();
  std::vector<uint8_t> hole = whole;
  std::fill_n(hole.begin() + kBlocksOffset + kBlockBytes, kBlockBytes, uint8_t{0});
  const auto with_hole = reopen(hole);
  ASSERT_EQ(with_hole->damage().size(), 1u);
  EXPECT_EQ(with_hole->damage()[0].kind, DamageKind::MissingBlocks);
  EXPECT_EQ(with_hole->damage()[0].offset, kBlocksOffset + 2 * kBlockBytes);
  EXPECT_EQ(with_hole->damage()[0].bytes_lost, format::kPayloadBytes);
  EXPECT_EQ(with_hole->unused_blocks(), 1u);

  std::vector<uint8_t> twice = whole;
  std::copy_n(whole.begin() + kBlocksOffset, kBlockBytes, twice.begin() + kBlocksOffset + kBlockBytes);
  const auto with_double = reopen(twice);
  ASSERT_EQ(with_double->damage().size(), 2u);
  EXPECT_EQ(with_double->damage()[0].kind, DamageKind::DuplicateBlock);
  EXPECT_EQ(with_double->damage()[1].kind, DamageKind::MissingBlocks);
}

TEST(LogFile, BlocksThatCannotBeAreNotTrusted) {
  LogBuilder builder = some_log(10);
  builder.blocks[0].header.committed = format::kPayloadBytes + 1;
  EXPECT_EQ(builder.open_log()->damage()[0].kind, DamageKind::BadBlockHeader);
  EXPECT_TRUE(builder.open_log()->blocks().empty());
  // The same with correct checksums.
  format::BlockHeader& h = builder.blocks[0].header;
  h.flags = format::kBlockSealed;
  format::block_crc(builder.blocks[0], h.crc);
  EXPECT_EQ(builder.open_log()->damage()[0].kind, DamageKind::BadBlockHeader);
  EXPECT_TRUE(builder.open_log()->blocks().empty());

  builder = some_log(10);
  builder.blocks[0].header.kind = static_cast<format::BlockKind>(7);
  EXPECT_EQ(builder.open_log()->damage()[0].kind, DamageKind::BadBlockHeader);
  builder.blocks[0].header.magic = 0;
  EXPECT_EQ(builder.open_log()->damage()[0].kind, DamageKind::BadMagic);
}

TEST(LogFile, AKillInTheMomentOfSealingLosesNothing) {
  LogBuilder builder = some_log(10);
  builder.page.finished = 0;
  builder.blocks[0].header.flags = format::kBlockSealed;  // and no checksums yet
  const auto log = builder.open_log();
  EXPECT_TRUE(log->damage().empty());
  EXPECT_EQ(decode_all(*log).all.size(), 10u);
}

TEST(LogFile, ABadRecordEndsItsBlockAndIsPlaced) {
  LogBuilder builder = some_log(20);
  format::Block& block = builder.blocks[0];
  const uint32_t good = block.header.committed;
  block.payload[good] = 0xff;  // the tag of a kind that does not exist
  block.payload[good + 1] = 0x7f;
  block.header.committed = good + 2;
  const auto log = builder.open_log();
  Launches got;
  const DecodeResult result = decode_block(*log, log->blocks()[0], got);
  EXPECT_TRUE(result.bad_record);
  EXPECT_EQ(got.all.size(), 20u);
  const Damage damage = record_damage(log->blocks()[0], result);
  EXPECT_EQ(damage.offset, kBlocksOffset + format::kBlockHeaderBytes + good);
  EXPECT_EQ(damage.bytes_lost, 2u);
}

}  // namespace
}  // namespace prof::tests
