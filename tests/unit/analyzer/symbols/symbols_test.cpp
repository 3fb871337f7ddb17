// Addresses of a library built with this test get the functions, inlined functions and lines of its source. Files that
// are missing, stripped, of another build or damaged lose names and have no other effect.
#include "analyzer/model/names.h"
#include "analyzer/symbols/debug_lines.h"
#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/module_search.h"
#include "analyzer/symbols/symbol_workers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = std::string(PROF_BINARY_DIR) + "/tests/unit/symbols_fixture/";
const std::string kSource = std::string(PROF_SOURCE_DIR) + "/tests/unit/analyzer/symbols/symbols_fixture/code.cpp";

// "outer" -> 19
std::map<std::string, uint32_t> marked_lines() {
  std::map<std::string, uint32_t> lines;
  std::ifstream file(kSource);
  std::string line;
  for (uint32_t number = 1; std::getline(file, line); ++number) {
    const size_t mark = line.find("// @ ");
    if (mark != std::string::npos) lines[line.substr(mark + 5)] = number;
  }
  return lines;
}

std::unique_ptr<ElfFile> open_elf(const std::string& path) {
  std::string why;
  std::unique_ptr<ElfFile> file = ElfFile::open(path, why);
  EXPECT_NE(file, nullptr) << path << ": " << why;
  return file;
}

struct Found {
  std::string function, file;
  uint32_t line;
  bool inlined;
};

class SymbolAnswers {
 public:
  SymbolAnswers(const ModuleFiles& files, std::vector<uint64_t> addresses, const WorkerLimits& limits = {})
      : addresses_(addresses), answer_(find_symbols({{files, std::move(addresses)}}, strings_, limits)[0]) {}
  std::vector<Found> at(uint64_t address) const {
    const auto i =
        static_cast<size_t>(std::lower_bound(addresses_.begin(), addresses_.end(), address) - addresses_.begin());
    std::vector<Found> found;
    for (uint32_t f = answer_.first[i]; f < answer_.first[i + 1]; ++f) {
      const SymbolFrame& frame = answer_.frames[f];
      found.push_back(
          {demangled_name(strings_[frame.function]), std::string(strings_[frame.file]), frame.line, frame.inlined});
    }
    return found;
  }
  const std::string& problem() const { return answer_.problem; }

 private:
  StringTable strings_;
  std::vector<uint64_t> addresses_;
  SymbolAnswer answer_;
};

std::vector<uint64_t> addresses_of(const ElfFile& file, std::string_view function) {
  std::vector<uint64_t> addresses;
  for (const ElfSymbol& symbol : file.functions()) {
    if (demangled_name(symbol.name) != function) continue;
    for (uint64_t at = symbol.begin; at < symbol.end; ++at) addresses.push_back(at);
  }
  return addresses;
}

ModuleName module_of(const std::string& path) { return {path, open_elf(path)->build_id(), 0, 0}; }
SymbolSearch nowhere_else() {
  SymbolSearch search;
  search.debug_folder = "/nonexistent";
  return search;
}

TEST(Symbols, AnInlinedFunctionIsAFrameOfItsOwn) {
  if (!has_debug_lines()) GTEST_SKIP() << "built without libdw";
  const auto file = open_elf(kFolder + "libwhole.so");
  const std::vector<uint64_t> addresses = addresses_of(*file, "fixture::outer(int)");
  ASSERT_FALSE(addresses.empty());
  const std::map<std::string, uint32_t> lines = marked_lines();
  const SymbolAnswers answers({file->path(), file->path(), {}}, addresses);
  EXPECT_EQ(answers.problem(), "");
  size_t inlined = 0;
  for (const uint64_t address : addresses) {
    const std::vector<Found> found = answers.at(address);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.back().function, "fixture::outer(int)");
    EXPECT_FALSE(found.back().inlined);
    if (found.size() != 3) continue;
    ++inlined;
    EXPECT_EQ(short_function_name(found[0].function), "fixture::innermost");
    EXPECT_EQ(short_function_name(found[1].function), "fixture::middle");
    EXPECT_TRUE(found[0].inlined && found[1].inlined);
    EXPECT_EQ(found[0].line, lines.at("innermost"));
    EXPECT_EQ(found[1].line, lines.at("middle"));
    EXPECT_EQ(found[2].line, lines.at("outer"));
    EXPECT_EQ(fs::path(found[0].file).filename(), "code.cpp");
  }
  EXPECT_GT(inlined, 0u);
  EXPECT_EQ(answers.at(addresses.back()).front().line, 0u + answers.at(addresses.back()).back().line);
}

TEST(Symbols, TemplatesAndCFunctionsHaveTheirWholeNames) {
  const auto file = open_elf(kFolder + "libwhole.so");
  for (const char* function :
       {"int fixture::twice<int>(int)", "double fixture::twice<double>(double)", "plain_c_function"}) {
    const std::vector<uint64_t> addresses = addresses_of(*file, function);
    ASSERT_FALSE(addresses.empty()) << function;
    const SymbolAnswers answers({file->path(), file->path(), {}}, addresses);
    EXPECT_EQ(answers.at(addresses.front()).back().function, function);
    EXPECT_EQ(answers.at(addresses.front()).back().line != 0, has_debug_lines());
  }
}

TEST(Symbols, AStrippedFileIsNamedByItsSeparateDebugFile) {
  const std::string stripped = kFolder + "libstripped.so";
  ModuleFiles files = find_module_files(module_of(stripped), nowhere_else());
  EXPECT_EQ(files.lines, kFolder + "libstripped.debug");  // .gnu_debuglink
  EXPECT_EQ(files.problem, "");
  const std::vector<uint64_t> addresses = addresses_of(*open_elf(kFolder + "libwhole.so"), "fixture::outer(int)");
  const SymbolAnswers answers(files, addresses);
  EXPECT_EQ(answers.at(addresses.front()).back().function, "fixture::outer(int)");
  EXPECT_EQ(answers.at(addresses.front()).back().line != 0, has_debug_lines());
}

TEST(Symbols, WithoutADebugFileExportedFunctionsAreNamed) {
  const fs::path folder = fs::path(testing::TempDir()) / "prof_symbols_alone";
  fs::remove_all(folder), fs::create_directories(folder);
  const std::string alone = folder / "libstripped.so";
  fs::copy_file(kFolder + "libstripped.so", alone);
  const ModuleFiles files = find_module_files(module_of(alone), nowhere_else());
  EXPECT_EQ(files.lines, "");
  EXPECT_EQ(files.functions, alone);
  EXPECT_EQ(files.problem, "stripped: no debug information, exported functions only");
  const std::vector<uint64_t> addresses = addresses_of(*open_elf(alone), "plain_c_function");
  ASSERT_FALSE(addresses.empty());
  const SymbolAnswers answers(files, addresses);
  ASSERT_EQ(answers.at(addresses.front()).size(), 1u);
  EXPECT_EQ(answers.at(addresses.front())[0].function, "plain_c_function");
  EXPECT_EQ(answers.at(addresses.front())[0].line, 0u);
  // Found by the paths that the user names: the folder by file name and by build-id, or the file itself.
  SymbolSearch search = nowhere_else();
  search.symbol_path = {kFolder + "libstripped.debug"};
  EXPECT_EQ(find_module_files(module_of(alone), search).lines, kFolder + "libstripped.debug");
  const std::string id = module_of(alone).build_id;
  const fs::path by_id = folder / "store/.build-id" / id.substr(0, 2) / (id.substr(2) + ".debug");
  fs::create_directories(by_id.parent_path());
  fs::copy_file(kFolder + "libstripped.debug", by_id);
  search.symbol_path = {(folder / "store").string()};
  EXPECT_EQ(find_module_files(module_of(alone), search).lines, by_id);
  // Recorded on another machine: below --sysroot every file is at its original path.
  search = nowhere_else();
  search.sysroot = folder / "root";
  fs::create_directories(folder / "root/usr/lib");
  fs::copy_file(kFolder + "libwhole.so", folder / "root/usr/lib/libwhole.so");
  const ModuleName recorded{"/usr/lib/libwhole.so", open_elf(kFolder + "libwhole.so")->build_id(), 0, 0};
  EXPECT_EQ(find_module_files(recorded, search).lines, (folder / "root/usr/lib/libwhole.so").string());
}

TEST(Symbols, TheStoreOfDebugFilesIsAskedByBuildId) {
  const fs::path folder = fs::path(testing::TempDir()) / "prof_symbols_store";
  fs::remove_all(folder), fs::create_directories(folder);
  const std::string alone = folder / "libstripped.so";
  fs::copy_file(kFolder + "libstripped.so", alone);
  const std::string id = module_of(alone).build_id;
  const fs::path by_id = folder / "debug/.build-id" / id.substr(0, 2) / (id.substr(2) + ".debug");
  fs::create_directories(by_id.parent_path());
  fs::copy_file(kFolder + "libstripped.debug", by_id);
  SymbolSearch search;
  EXPECT_EQ(search.debug_folder, "/usr/lib/debug");
  search.debug_folder = folder / "debug";
  EXPECT_EQ(find_module_files(module_of(alone), search).lines, by_id);
  EXPECT_EQ(find_module_files(module_of(alone), search).problem, "");
}

TEST(Symbols, AnotherBuildIsNeverUsed) {
  ModuleName module = module_of(kFolder + "libwhole.so");
  module.build_id = "00112233445566778899aabbccddeeff00112233";
  SymbolSearch search = nowhere_else();
  search.symbol_path = {kFolder};
  const ModuleFiles files = find_module_files(module, search);
  EXPECT_EQ(files.lines, "");
  EXPECT_EQ(files.functions, "");
  EXPECT_NE(files.problem.find("is another build"), std::string::npos) << files.problem;
}

TEST(Symbols, AFileWithoutABuildIdMustBeAsItWas) {
  const std::string path = kFolder + "libnoid.so";
  ASSERT_EQ(open_elf(path)->build_id(), "");
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  ModuleName module{path, "", static_cast<uint64_t>(status.st_size), static_cast<uint64_t>(status.st_mtime)};
  EXPECT_EQ(find_module_files(module, nowhere_else()).functions, path);
  ++module.file_time;
  EXPECT_NE(find_module_files(module, nowhere_else()).problem.find("has changed"), std::string::npos);
}

TEST(Symbols, AFileThatIsGoneSaysSo) {
  EXPECT_EQ(find_module_files({"/nonexistent/libgone.so (deleted)", "ab12", 0, 0}, nowhere_else()).problem,
            "the file no longer exists");
  EXPECT_EQ(find_module_files({"[vdso]", "", 0, 0}, nowhere_else()).problem, "not a file");
}

std::vector<uint8_t> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<uint8_t>((std::istreambuf_iterator<char>(file)), {});
}

// Debug information that crashes its reader ends a child process only; functions then come from the symbol table.
TEST(Symbols, DamagedDebugInformationCostsLinesOnly) {
  const std::vector<uint8_t> whole = bytes_of(kFolder + "libwhole.so");
  const std::string path = testing::TempDir() + "/prof_symbols_damaged.so";
  const auto file = open_elf(kFolder + "libwhole.so");
  const std::vector<uint64_t> addresses = addresses_of(*file, "fixture::outer(int)");
  // .debug_* are between the code and the symbol table; every 97th byte of them is damaged.
  uint64_t tried = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    std::vector<uint8_t> bytes = whole;
    for (size_t at = bytes.size() / 3 + seed; at < bytes.size() * 2 / 3; at += 13 + 7 * seed)
      bytes[at] = static_cast<uint8_t>(bytes[at] * 31 + seed);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::string why;
    if (ElfFile::open(path, why) == nullptr) continue;
    const SymbolAnswers answers({path, path, {}}, addresses, {2, 5});
    const std::string_view problem = answers.problem();
    if (problem.starts_with("the file is damaged")) continue;
    // The symbol table is after the damaged bytes.
    const std::vector<Found> found = answers.at(addresses.front());
    ASSERT_FALSE(found.empty()) << seed << ": " << problem;
    ++tried;
  }
  EXPECT_GT(tried, 0u);
  unlink(path.c_str());
}

TEST(Symbols, AChildThatNeverEndsIsGivenUp) {
  const std::string whole = kFolder + "libwhole.so";
  const std::vector<uint64_t> addresses = addresses_of(*open_elf(whole), "fixture::outer(int)");
  // A pipe without a writer represents a reader that loops: opening it waits for ever.
  const std::string pipe = testing::TempDir() + "/prof_symbols_pipe";
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  if (!has_debug_lines()) GTEST_SKIP() << "built without libdw";
  const SymbolAnswers answers({pipe, whole, {}}, addresses, {1, 0.3});
  EXPECT_EQ(answers.problem(), "its debug information is damaged: functions are from the symbol table");
  ASSERT_EQ(answers.at(addresses.front()).size(), 1u);
  EXPECT_EQ(answers.at(addresses.front())[0].function, "fixture::outer(int)");
  unlink(pipe.c_str());
}

TEST(ElfFile, NoBytesCrashIt) {
  const std::vector<uint8_t> whole = bytes_of(kFolder + "libstripped.so");
  ASSERT_FALSE(whole.empty());
  std::string why;
  for (size_t size = 0; size < whole.size(); size += 61) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    if (const auto file = ElfFile::from_memory(part, why); file != nullptr) file->functions(), file->build_id();
  }
  EXPECT_EQ(ElfFile::from_memory({}, why), nullptr);
  EXPECT_EQ(why, "no ELF file");
}

}  // namespace
}  // namespace prof::analyzer
