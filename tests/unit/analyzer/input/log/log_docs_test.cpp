// docs/log_format.md agrees with the code: its kind table, its layouts and its worked example are compared with it.
#include "analyzer/input/log/log_kinds.h"
#include "preload/format/block.h"
#include "tests/golden/undump_log.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>

namespace prof::tests {
namespace {

std::string read_source(const std::string& path) {
  std::ifstream file(std::string(PROF_SOURCE_DIR) + "/" + path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The lines of the fenced block that starts with ```NAME.
std::string fenced(const std::string& document, const std::string& name) {
  const std::string opening = "\n```" + name + "\n";
  const size_t begin = document.find(opening);
  EXPECT_NE(begin, std::string::npos) << name;
  if (begin == std::string::npos) return {};
  const size_t first = begin + opening.size();
  return document.substr(first, document.find("\n```", first) + 1 - first);
}

TEST(LogDocs, ListEveryKindWithEveryField) {
  std::string kinds;
  format::AllKinds::for_each([&]<class T>() { kinds += analyzer::compiled_signature(T::kKind) + "\n"; });
  EXPECT_EQ(fenced(read_source("docs/log_format.md"), "kinds"), kinds);
}

TEST(LogDocs, TheWorkedExampleIsWhatTheCodeWrites) {
  const std::string document = read_source("docs/log_format.md");
  std::vector<uint8_t> log;
  ASSERT_EQ(undump_log(fenced(document, "text"), log), "");
  std::vector<uint8_t> shown;
  std::istringstream lines(fenced(document, "hexdump"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream bytes(line.substr(4));
    for (std::string byte; bytes >> byte;) shown.push_back(static_cast<uint8_t>(std::stoul(byte, nullptr, 16)));
  }
  ASSERT_EQ(shown.size(), 96u);
  std::vector<uint8_t> block(log.begin() + format::kBlocksOffset, log.end());
  shown.resize(block.size());
  EXPECT_EQ(shown, block);
}

// "| 24 | 4 | clock |" in the document, for a field of a struct.
#define EXPECT_DOCUMENTED(type, field)                                                      \
  EXPECT_NE(document.find("| " + std::to_string(offsetof(format::type, field)) + " | " +    \
                          std::to_string(sizeof(format::type::field)) + " | " #field " |"), \
            std::string::npos)                                                              \
      << #type "::" #field

TEST(LogDocs, GiveEveryFieldOfTheHeadersItsPlace) {
  const std::string document = read_source("docs/log_format.md");
  EXPECT_DOCUMENTED(FileHeader, magic);
  EXPECT_DOCUMENTED(FileHeader, version);
  EXPECT_DOCUMENTED(FileHeader, header_bytes);
  EXPECT_DOCUMENTED(FileHeader, block_bytes);
  EXPECT_DOCUMENTED(FileHeader, pid);
  EXPECT_DOCUMENTED(FileHeader, clock);
  EXPECT_DOCUMENTED(FileHeader, backing);
  EXPECT_DOCUMENTED(FileHeader, start_tick);
  EXPECT_DOCUMENTED(FileHeader, start_monotonic_ns);
  EXPECT_DOCUMENTED(FileHeader, start_realtime_ns);
  EXPECT_DOCUMENTED(FileHeader, ticks_per_second);
  EXPECT_DOCUMENTED(FileHeader, kind_table_bytes);
  EXPECT_DOCUMENTED(FileHeader, counter_names_bytes);
  EXPECT_DOCUMENTED(CounterPage, magic);
  EXPECT_DOCUMENTED(CounterPage, finished);
  EXPECT_DOCUMENTED(CounterPage, blocks_reserved);
  EXPECT_DOCUMENTED(CounterPage, gpu_pending);
  EXPECT_DOCUMENTED(CounterPage, reserved);
  EXPECT_DOCUMENTED(CounterPage, counter);
  EXPECT_DOCUMENTED(BlockHeader, magic);
  EXPECT_DOCUMENTED(BlockHeader, kind);
  EXPECT_DOCUMENTED(BlockHeader, flags);
  EXPECT_DOCUMENTED(BlockHeader, thread);
  EXPECT_DOCUMENTED(BlockHeader, committed);
  EXPECT_DOCUMENTED(BlockHeader, sequence);
  EXPECT_DOCUMENTED(BlockHeader, base_tick);
  EXPECT_DOCUMENTED(BlockHeader, in_call_tick);
  EXPECT_DOCUMENTED(BlockHeader, in_call_api);
  EXPECT_DOCUMENTED(BlockHeader, records);
  EXPECT_DOCUMENTED(BlockHeader, crc);
}

TEST(LogDocs, TheFuzzCorpusHoldsARecordOfEveryKind) {
  const std::string text = "\n" + read_source("tests/fuzz/corpus/log_reader/every_kind.log.txt");
  format::AllKinds::for_each(
      [&]<class T>() { EXPECT_NE(text.find("\n" + std::string(T::kName) + " "), std::string::npos) << T::kName; });
}

}  // namespace
}  // namespace prof::tests
