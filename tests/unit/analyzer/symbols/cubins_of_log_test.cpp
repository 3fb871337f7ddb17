// A cubin is found by its checksum in the file beside the log. What is missing, cut, foreign or of another size has a
// reason.
#include "analyzer/symbols/cubins_of_log.h"

#include "preload/format/kept_cubins.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using Bytes = std::vector<uint8_t>;

// Cubins with the checksums 1, 2, …
Bytes cubin_file(const std::vector<std::string>& contents) {
  Bytes bytes;
  const auto put = [&](const auto& value) {
    const auto* const from = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  format::CubinFileHeader header;
  header.count = static_cast<uint32_t>(contents.size());
  put(header);
  uint64_t offset = sizeof header + contents.size() * sizeof(format::CubinFileEntry);
  for (size_t i = 0; i < contents.size(); ++i) {
    put(format::CubinFileEntry{i + 1, offset, contents[i].size()});
    offset += contents[i].size();
  }
  for (const std::string& each : contents) bytes.insert(bytes.end(), each.begin(), each.end());
  return bytes;
}

std::string found(const Bytes& file, uint64_t crc, uint64_t bytes = 0) {
  const KeptCubins kept("app.plog.cubins", file);
  std::string why;
  const std::span<const uint8_t> cubin = kept.find(crc, bytes, why);
  return cubin.empty() ? why : std::string(cubin.begin(), cubin.end());
}

TEST(KeptCubins, AreFoundByTheirChecksum) {
  const Bytes file = cubin_file({"first", "the second"});
  EXPECT_EQ(found(file, 1), "first");
  EXPECT_EQ(found(file, 2, 10), "the second");
  EXPECT_EQ(found(file, 3), "app.plog.cubins: no cubin with checksum 0x3");
}

TEST(KeptCubins, OfAnotherSizeAreRefused) {
  EXPECT_EQ(found(cubin_file({"first"}), 1, 6),
            "app.plog.cubins: the cubin with checksum 0x1 has 5 bytes, 6 when it was loaded");
}

TEST(KeptCubins, ThatAreNotInTheFileHaveAReason) {
  const Bytes whole = cubin_file({"first", "the second"});
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_NE(found(cut, 2), "the second") << size;
    EXPECT_TRUE(found(cut, 2).starts_with("app.plog.cubins: ")) << size;
  }
  const Bytes cut(whole.begin(), whole.end() - 1);
  EXPECT_EQ(found(cut, 1), "first");
  EXPECT_EQ(found(cut, 2), "app.plog.cubins: the cubin with checksum 0x2 is outside the file, which was cut");
  Bytes newer = whole;
  newer[8] = 9;
  EXPECT_EQ(found(newer, 1), "app.plog.cubins: version 9 is not known; a newer prof reads it");
  EXPECT_EQ(found(Bytes(200, 'x'), 1), "app.plog.cubins: no file of cubins");
}

TEST(KeptCubins, BesideALogThatHasNoneHaveAReason) {
  const KeptCubins kept("/nowhere/app.plog");
  std::string why;
  EXPECT_TRUE(kept.find(1, 0, why).empty());
  EXPECT_EQ(why, "/nowhere/app.plog.cubins: No such file or directory");
}

}  // namespace
}  // namespace prof::analyzer
