// gzip and zstd data, whole and damaged, by each library that inflates it.
#include "analyzer/base/inflater.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {
namespace {

std::string some_text(size_t lines) {
  std::string text;
  uint64_t noise = 88172645463325252;
  for (size_t i = 0; i < lines; ++i) {
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    text +=
        fmt::format("\"name\": \"kernel {}\", \"ts\": {}, \"dur\": {}\n", i % 7, i * 1000 + noise % 997, noise % 99);
  }
  return text;
}

// One member with every optional part of a header, as bgzip and gzip --name write them.
std::string gzip_member(std::string_view text, int level) {
  std::string out(text.size() + 4096, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string extra = "BC\x02", name = "trace.json", comment = "of one step";
  extra.append("\0\x1b\0", 3);
  gz_header header{};
  header.extra = reinterpret_cast<Bytef*>(extra.data());
  header.extra_len = static_cast<uInt>(extra.size());
  header.name = reinterpret_cast<Bytef*>(name.data());
  header.comment = reinterpret_cast<Bytef*>(comment.data());
  header.hcrc = 1;
  deflateSetHeader(&stream, &header);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd_frame(std::string_view text, int level) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

enum class Library : uint8_t { Isal, Zlib, Zstd };

struct Inflated {
  std::string text, damage;
};

class InflaterTest : public testing::TestWithParam<Library> {
 protected:
  void SetUp() override {
    if (decoder() == nullptr) GTEST_SKIP() << "libisal is not installed";
  }
  static std::unique_ptr<StreamDecoder> decoder() {
    if (GetParam() == Library::Zstd) return zstd_decoder();
    return GetParam() == Library::Isal ? isal_decoder() : zlib_decoder();
  }
  static bool is_zstd() { return GetParam() == Library::Zstd; }
  static std::string_view name() { return is_zstd() ? "zstd" : "gzip"; }
  static std::string member(std::string_view text, int level = 6) {
    return is_zstd() ? zstd_frame(text, level) : gzip_member(text, level);
  }
  // The file comes in pieces of `piece` bytes, the text is read in pieces of `room`.
  static Inflated inflated(std::string_view file, size_t piece = 1 << 20, size_t room = 1 << 16) {
    size_t at = 0;
    Inflater inflater(
        [&](char* to, size_t most) {
          const size_t size = file.copy(to, std::min(most, piece), at);
          at += size;
          return size;
        },
        is_zstd() ? Compression::Zstd : Compression::Gzip, decoder());
    Inflated result;
    std::string part(room, '\0');
    for (size_t size = room; size == room;) {
      size = inflater.read(part.data(), room);
      result.text.append(part, 0, size);
    }
    result.damage = inflater.damage();
    return result;
  }
};

TEST_P(InflaterTest, ConsecutiveMembersAreOneText) {
  const std::string first = some_text(400), second = some_text(3), third = some_text(2000);
  std::string file = member(first) + member("") + member(second, 0) + std::string(700, '\0') + member(third, 1);
  file += std::string(512, '\0');
  for (const size_t piece : {1, 2, 7, 11, 64, 1000, 1 << 20}) {
    for (const size_t room : {1, 13, 4096, 1 << 20}) {
      const Inflated result = inflated(file, piece, room);
      ASSERT_EQ(result.damage, "") << piece << " " << room;
      ASSERT_TRUE(result.text == first + second + third) << piece << " " << room;
    }
  }
}

TEST_P(InflaterTest, ManySmallMembersAreInflated) {
  std::string file, text;
  for (size_t i = 0; i < 3000; ++i) {
    const std::string part = some_text(i % 70);
    text += part;
    file += member(part, static_cast<int>(i % 10));
  }
  ASSERT_GT(file.size(), size_t{512} << 10);  // members across the ends of blocks of input
  const Inflated result = inflated(file);
  ASSERT_EQ(result.damage, "");
  ASSERT_TRUE(result.text == text);
}

TEST_P(InflaterTest, ATornFileGivesTheTextBeforeTheTear) {
  const std::string text = some_text(900), file = member(text);
  size_t last = 0;
  for (size_t size = 2; size < file.size(); size += size < 100 || size + 60 > file.size() ? 1 : 37) {
    const Inflated result = inflated(std::string_view(file).substr(0, size));
    ASSERT_EQ(result.damage, fmt::format("{} data ends early at byte {} of the file", name(), size));
    ASSERT_TRUE(text.starts_with(result.text)) << size;
    ASSERT_GE(result.text.size(), last);
    last = result.text.size();
  }
  ASSERT_EQ(last, text.size());  // only the checksum is missing
}

TEST_P(InflaterTest, DamagedDataIsReportedAfterWhatCameBefore) {
  const std::string text = some_text(30000);
  const std::string whole = member(text);
  for (size_t at = 700; at + 8 < whole.size(); at += whole.size() / 40) {
    std::string file = whole;
    for (size_t i = at; i < at + 8; ++i) file[i] = static_cast<char>(~file[i]);
    const Inflated result = inflated(file);
    ASSERT_NE(result.damage, "") << at;
    // What the damaged bytes become is text too, up to the checksum at the end.
    const auto same = std::mismatch(text.begin(), text.end(), result.text.begin(), result.text.end()).first;
    ASSERT_GE(static_cast<size_t>(same - text.begin()) + (is_zstd() ? 300000 : 60000), text.size() * at / whole.size())
        << at;
  }
}

TEST_P(InflaterTest, AWrongChecksumAndAWrongLengthAreDamage) {
  const std::string text = some_text(100);
  for (const size_t from_end : is_zstd() ? std::vector<size_t>{4, 1} : std::vector<size_t>{8, 5, 4, 1}) {
    std::string file = member(text);
    file[file.size() - from_end] ^= 1;
    const Inflated result = inflated(file);
    ASSERT_EQ(result.damage.substr(4, 16), " data is damaged") << from_end;
    ASSERT_TRUE(result.text == text || is_zstd());  // libzstd gives nothing of a small frame that is wrong
  }
}

TEST_P(InflaterTest, WhatFollowsAMemberIsNamed) {
  const std::string text = some_text(100), file = member(text);
  const Inflated result = inflated(file + "\n{}");
  ASSERT_EQ(result.damage,
            fmt::format("{} data is followed by something else at byte {} of the file", name(), file.size()));
  ASSERT_TRUE(result.text == text);
  const std::string begin = is_zstd() ? "\x28\xb5" : "\x1f";
  ASSERT_EQ(inflated(file + begin + "{\"traceEvents\": []}").damage.substr(4, 16), " data is damaged");
}

TEST_P(InflaterTest, BytesOfNoMeaningAreDamage) {
  std::string file = member(some_text(300));
  uint64_t noise = 1;
  for (int trial = 0; trial < 300; ++trial) {
    std::string bad = file;
    for (int i = 0; i < 1 + trial % 9; ++i) {
      noise = noise * 6364136223846793005 + 1442695040888963407;
      bad[(noise >> 33) % bad.size()] = static_cast<char>(noise >> 55);
    }
    if (bad == file) continue;
    const Inflated result = inflated(bad, 1 << 20, 4096);
    ASSERT_LT(result.text.size(), size_t{64} << 20);
  }
}

std::string library_name(const testing::TestParamInfo<Library>& info) {
  if (info.param == Library::Zstd) return "Zstd";
  return info.param == Library::Isal ? "Isal" : "Zlib";
}
INSTANTIATE_TEST_SUITE_P(Libraries, InflaterTest, testing::Values(Library::Isal, Library::Zlib, Library::Zstd),
                         library_name);

TEST(Inflater, UsesTheFasterLibraryOfTheSetUp) { ASSERT_NE(isal_decoder(), nullptr); }

}  // namespace
}  // namespace prof::analyzer
