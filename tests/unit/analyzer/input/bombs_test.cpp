// Small files whose text is very large need little memory, whatever the text is.
#include "analyzer/input/importer.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#if defined(__has_feature)  // Clang
#define PROF_HAS_FEATURE(name) __has_feature(name)
#else
#define PROF_HAS_FEATURE(name) 0
#endif

namespace prof::analyzer {
namespace {

// Sanitizers keep freed memory and need more of it, so a peak says nothing about the code.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || PROF_HAS_FEATURE(address_sanitizer) || \
    PROF_HAS_FEATURE(thread_sanitizer)
constexpr bool kMeasuresMemory = false;
#else
constexpr bool kMeasuresMemory = true;
#endif

constexpr size_t kBombBytes = size_t{300} << 20;
constexpr size_t kFewerBytes = size_t{40} << 20;  // of bombs that cost time for each event
constexpr uint64_t kMostKib = 100 << 10;

// The largest memory of the process since the last call, in KiB; 0: not known here.
uint64_t take_peak_kib() {
  uint64_t peak = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) peak = std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  std::ofstream clear("/proc/self/clear_refs");
  clear << 5 << std::flush;
  return clear ? peak : 0;
}

class Bombs : public testing::Test {
 protected:
  void SetUp() override { path_ = std::filesystem::temp_directory_path() / ("bomb." + std::to_string(getpid())); }
  void TearDown() override { std::filesystem::remove(path_); }

  // A gzip file of `begin`, many times `piece`, and `end`.
  void write(std::string_view begin, std::string_view piece, std::string_view end, size_t bytes = kBombBytes) const {
    const gzFile file = gzopen(path_.c_str(), "wb1");
    const auto put = [&](std::string_view text) { gzwrite(file, text.data(), static_cast<unsigned>(text.size())); };
    put(begin);
    std::string pieces;
    while (pieces.size() < (1 << 20)) pieces += piece;
    for (size_t written = 0; written < bytes; written += pieces.size()) put(pieces);
    put(end);
    gzclose(file);
  }
  // What became of it: the error, or the first damage.
  std::string read() const {
    take_peak_kib();
    const uint64_t before = take_peak_kib();
    std::string what = "whole";
    try {
      ImportOptions options;
      options.workers = 2;
      const auto trace = read_trace({path_.string()}, options);
      for (const Process& process : trace->processes) {
        if (!process.damage.empty()) what = process.damage[0];
      }
    } catch (const InputError& error) {
      what = error.what();
    }
    const uint64_t after = take_peak_kib();
    if (kMeasuresMemory && before != 0) {
      EXPECT_LT(after, before + kMostKib) << what;
    }
    const std::string name = path_.string();
    EXPECT_TRUE(what.starts_with(name)) << what;
    return what.substr(std::min(what.size(), name.size()));
  }

  std::filesystem::path path_;
};

constexpr std::string_view kEvent =
    R"({"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":1,"dur":1,"args":{"a":)";

TEST_F(Bombs, ZerosAreNoFileOfAnyFormat) {
  write("", std::string(1, 0), "");
  EXPECT_NE(read().find("is not a prof log"), std::string::npos);
}

TEST_F(Bombs, ZerosInsideATraceEndIt) {
  write("{\"traceEvents\":[" + std::string(kEvent) + "1}},", std::string(1, 0), "");
  EXPECT_NE(read().find("offset"), std::string::npos);
}

TEST_F(Bombs, AHeaderOfALogWithZerosIsAnEmptyLog) {
  tests::LogBuilder builder;
  const std::vector<uint8_t> log = builder.bytes();
  write({reinterpret_cast<const char*>(log.data()), log.size()}, std::string(4096, 0), "x");
  read();
}

TEST_F(Bombs, AHeaderOfALogWithOtherBytesIsCut) {
  tests::LogBuilder builder;
  const std::vector<uint8_t> log = builder.bytes();
  write({reinterpret_cast<const char*>(log.data()), log.size()}, "rubbish", "");
  EXPECT_NE(read().find("are no blocks"), std::string::npos);
}

TEST_F(Bombs, OneLongTextIsSkipped) {
  write("[" + std::string(kEvent) + "\"", "x", "\"}}," + std::string(kEvent) + "1}}]");
  EXPECT_EQ(read(), ": event skipped, it is longer than 16777216 bytes (at offset 1 of the text)");
}

TEST_F(Bombs, BracketsInsideEachOtherAreSkipped) {
  write("[" + std::string(kEvent) + "1}}," + std::string(kEvent), "[", "");
  EXPECT_NE(read().find("more than 1000 brackets inside each other (at offset 84 of the text)"), std::string::npos);
}

TEST_F(Bombs, LongMembersBesideTheEventsAreSkipped) {
  write("{\"deviceProperties\":[\"", "x", "\"],\"traceEvents\":[" + std::string(kEvent) + "1}}],\"a\" 1}");
  EXPECT_NE(read().find("offset"), std::string::npos);
}

TEST_F(Bombs, ManySmallMembersBesideTheEventsAreNoFacts) {
  write("{\"schemaVersion\":1,", "\"m\":1,", "\"traceEvents\":[" + std::string(kEvent) + "1}}],\"a\" 1}", kFewerBytes);
  EXPECT_NE(read().find("offset"), std::string::npos);
}

TEST_F(Bombs, ManyDamagedEventsAreCountedNotListed) {
  write("[" + std::string(kEvent) + "1}}", ",{\"ph\" 1}", "]", kFewerBytes);
  EXPECT_NE(read().find("offset"), std::string::npos);
}

}  // namespace
}  // namespace prof::analyzer
