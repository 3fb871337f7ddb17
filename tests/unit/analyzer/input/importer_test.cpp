// The list of formats: what recognises a file, what is said of files that nothing reads, and one model of several
// files.
#include "analyzer/input/importer.h"

#include "analyzer/base/json/json_extent.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include <unistd.h>

namespace prof::analyzer {
namespace {

using namespace std::string_view_literals;

std::string_view format_of(std::string_view bytes) {
  const Importer* const importer = find_importer({"file", std::string(bytes), false});
  return importer == nullptr ? "none" : importer->name;
}

TEST(Importers, EachFormatIsRecognisedByItsFirstBytes) {
  EXPECT_EQ(format_of("\x89PRFLOG\n and more"), "prof log");
  EXPECT_EQ(format_of("[{\"ph\":\"X\"}]"), "kineto-json");
  EXPECT_EQ(format_of("SQLite format 3\0"sv), "nsys-sqlite");
  EXPECT_EQ(format_of("\x89PRFLO"), "none") << "a log has all of its magic number";
  EXPECT_EQ(format_of(""), "none");
}

TEST(Importers, AByteOrderMarkAndBlanksMayStandBeforeJson) {
  EXPECT_EQ(format_of("\xef\xbb\xbf \n{\"traceEvents\":[]}"), "kineto-json");
  EXPECT_EQ(format_of(" \xef\xbb\xbf{\"traceEvents\":[]}"), "none") << "the mark is the first of all bytes";
  EXPECT_EQ(json_document("\xef\xbb\xbf\t[]"), "[]");
  EXPECT_EQ(json_document("\xef\xbb"), "\xef\xbb");
  EXPECT_EQ(byte_order_mark_bytes("\xef\xbb\xbf"), 3u);
}

TEST(Importers, AFileThatNothingReadsIsDescribed) {
  const auto described = [](std::string_view bytes, bool compressed) {
    return describe_other_file({"file", std::string(bytes), compressed});
  };
  EXPECT_EQ(described("prof-log-text 1\n", false), "the text of a log, made by `prof dump`");
  EXPECT_EQ(described("\x7f"
                      "ELF\2",
                      true),
            "a program or library (ELF), gzip");
  EXPECT_EQ(described("{\"x\":1}", false), "something else than a trace, JSON");
  EXPECT_EQ(described("{\"x\":1}", true), "something else than a trace, gzip JSON");
  EXPECT_EQ(described("hello", true), "gzip of something unknown");
  EXPECT_EQ(described("hello", false), "");
}

TEST(Importers, ReadTraceNamesTheFirstFileThatCannotBeUsed) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("importer_test." + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string good = folder / "good.json", bad = folder / "bad";
  std::ofstream(good) << "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]";
  std::ofstream(bad) << "hello";
  const auto error = [](const std::vector<std::string>& paths) -> std::string {
    try {
      read_trace(paths);
    } catch (const InputError& problem) {
      return problem.what();
    }
    return "none";
  };
  EXPECT_TRUE(error({good, bad}).starts_with(bad + ": is not a prof log")) << error({good, bad});
  EXPECT_EQ(error({folder / "missing"}), (folder / "missing").string() + ": there is no such file");
  const auto trace = read_trace({good, good});
  ASSERT_EQ(trace->processes.size(), 2u);
  EXPECT_EQ(trace->processes[1].format, "kineto-json");
  EXPECT_EQ(trace->processes[1].source, good);
  EXPECT_FALSE(trace->processes[1].is_prof_log());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace prof::analyzer
