// Names that were found once come from the cache folder as long as the files that they came from are unchanged. To
// prove that the names come from the folder and not from the file, the tests overwrite the file with zeros, with the
// same size and time of change.
#include "analyzer/symbols/symbol_cache.h"
#include "analyzer/symbols/elf_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

namespace fs = std::filesystem;

class SymbolCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "symbol_cache_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    library_ = root_ + "/libcode.so";
    fs::copy_file(std::string(PROF_BINARY_DIR) + "/tests/unit/symbols_fixture/libwhole.so", library_);
    std::string why;
    const std::unique_ptr<ElfFile> file = ElfFile::open(library_, why);
    ASSERT_NE(file, nullptr) << why;
    for (const ElfSymbol& symbol : file->functions()) addresses_.push_back(symbol.begin);
    std::sort(addresses_.begin(), addresses_.end());
    addresses_.erase(std::unique(addresses_.begin(), addresses_.end()), addresses_.end());
    ASSERT_GE(addresses_.size(), 4u);
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  std::string cache() const { return root_ + "/cache/symbols"; }
  std::vector<std::string> ask(const std::vector<uint64_t>& addresses, const std::string& folder,
                               const SymbolCacheLimits& limits = {}) const {
    StringTable strings;
    const SymbolAnswer answer =
        find_symbols_cached({{{library_, library_, ""}, addresses}}, strings, {1, 60}, folder, limits)[0];
    std::vector<std::string> names;
    for (size_t i = 0; i < addresses.size(); ++i) {
      std::string& name = names.emplace_back();
      for (uint32_t f = answer.first[i]; f < answer.first[i + 1]; ++f) {
        const SymbolFrame& frame = answer.frames[f];
        name += std::string(strings[frame.function]) + " " + std::string(strings[frame.file]) + ":" +
                std::to_string(frame.line) + (frame.inlined ? " < " : ";");
      }
    }
    return names;
  }
  // Names that only the folder knows.
  std::vector<std::string> ask_folder(const std::vector<uint64_t>& addresses) const {
    const std::string code = read(library_);
    overwrite(std::string(code.size(), '\0'));
    std::vector<std::string> names = ask(addresses, cache());
    overwrite(code);
    return names;
  }
  // The same file with the same size and time of change, but other bytes.
  void overwrite(const std::string& bytes) const {
    const fs::file_time_type changed = fs::last_write_time(library_);
    std::fstream(library_, std::ios::binary | std::ios::in | std::ios::out) << bytes;
    fs::last_write_time(library_, changed);
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::string only_file() const {
    std::string found;
    for (const auto& file : fs::directory_iterator(cache())) {
      EXPECT_TRUE(found.empty()) << "one file for one library";
      found = file.path().string();
    }
    return found;
  }
  static size_t named(const std::vector<std::string>& names) {
    return names.size() - static_cast<size_t>(std::count(names.begin(), names.end(), ""));
  }

  std::string root_, library_;
  std::vector<uint64_t> addresses_;
};

TEST_F(SymbolCacheTest, NamesFoundOnceAreNotLookedForAgain) {
  const std::vector<std::string> names = ask(addresses_, "");
  EXPECT_EQ(named(names), names.size());
  EXPECT_EQ(named(ask_folder(addresses_)), 0u) << "zeros have no names";
  EXPECT_EQ(ask(addresses_, cache()), names);
  EXPECT_EQ(ask_folder(addresses_), names);
  struct stat facts {};
  ASSERT_EQ(stat(cache().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u) << "it is nobody else's business what was looked at";
}

TEST_F(SymbolCacheTest, OnlyNewAddressesAreLookedForAndAddedToTheOthers) {
  std::vector<uint64_t> even, odd;
  for (size_t i = 0; i < addresses_.size(); ++i) (i % 2 == 0 ? even : odd).push_back(addresses_[i]);
  const std::vector<std::string> names = ask(addresses_, "");
  ask(even, cache());
  EXPECT_EQ(named(ask_folder(even)), even.size());
  EXPECT_EQ(named(ask_folder(addresses_)), even.size()) << "what is known is given although the rest cannot be found";
  ask(odd, cache());
  EXPECT_EQ(ask_folder(addresses_), names);
}

TEST_F(SymbolCacheTest, AFileThatWasChangedIsReadAgain) {
  ask(addresses_, cache());
  EXPECT_EQ(named(ask_folder(addresses_)), addresses_.size());
  fs::last_write_time(library_, fs::last_write_time(library_) + std::chrono::seconds(1));
  EXPECT_EQ(named(ask_folder(addresses_)), 0u);
}

TEST_F(SymbolCacheTest, ADamagedOrTornFileIsAsIfItWereNotThere) {
  const std::vector<std::string> names = ask(addresses_, cache());
  const std::string path = only_file();
  const std::string good = read(path);
  ASSERT_GT(good.size(), 100u);
  const auto becomes = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return ask_folder(addresses_);
  };
  const size_t step = good.size() / 16;
  for (size_t at = 0; at < good.size(); at += step) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    EXPECT_EQ(named(becomes(bad)), 0u) << "byte " << at;
    EXPECT_EQ(named(becomes(good.substr(0, at))), 0u) << "cut at " << at;
  }
  EXPECT_EQ(becomes(good), names);
}

TEST_F(SymbolCacheTest, AFolderThatCannotBeMadeCostsNothingButTheTime) {
  std::ofstream(root_ + "/file") << "no folder";
  EXPECT_EQ(ask(addresses_, root_ + "/file/symbols"), ask(addresses_, ""));
}

TEST_F(SymbolCacheTest, TheFolderKeepsWhatWasUsedLastWithinItsLimit) {
  ask(addresses_, cache());
  const std::string first = only_file();
  fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
  const uint64_t bytes = fs::file_size(first);
  fs::last_write_time(library_, fs::last_write_time(library_) + std::chrono::seconds(1));
  SymbolCacheLimits limits;
  limits.folder_bytes = bytes + bytes / 2;
  ask(addresses_, cache(), limits);
  EXPECT_FALSE(fs::exists(first)) << "the older one goes";
  EXPECT_EQ(named(ask_folder(addresses_)), addresses_.size());
  limits.file_bytes = 10;
  fs::last_write_time(library_, fs::last_write_time(library_) + std::chrono::seconds(2));
  EXPECT_EQ(named(ask(addresses_, cache(), limits)), addresses_.size());
  EXPECT_EQ(named(ask_folder(addresses_)), 0u) << "a file over its limit is not written";
}

}  // namespace
}  // namespace prof::analyzer
