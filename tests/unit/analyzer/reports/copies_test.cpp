// The report copies: what a row is, which copies are small, and what is exposed.
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

constexpr uint32_t kPinnedToDevice = 1 | 2 << 8 | 3 << 16, kPageableToDevice = 1 | 1 << 8 | 3 << 16;

// The rows as "count | bytes | time | small | exposed", longest first.
std::string copies(HandTrace& run) {
  const Table table = run.report(report_copies);
  std::string text;
  for (size_t row = 0; row < table.rows(); ++row)
    text += (text.empty() ? "" : "\n") + row_text(table, row, {"count", "bytes", "time", "small", "exposed"});
  return text;
}

TEST(Copies, AreSmallBelow64KiB) {
  for (const uint64_t bytes : {65'535u, 65'536u}) {
    HandTrace run;
    run.copy(0, 10, 1, bytes, kPinnedToDevice);
    run.finish();
    EXPECT_EQ(copies(run), "1 | " + std::to_string(bytes) + " | 10 | " + (bytes < 65'536 ? "1" : "0") + " | 10");
  }
}

TEST(Copies, HaveARowForEachDeviceDirectionAndMemory) {
  HandTrace run;
  run.device(0, 1);
  run.stream(1, 7);
  run.copy(0, 10, 1, 100, kPinnedToDevice, 0);
  run.copy(20, 40, 2, 100, kPinnedToDevice, 1);
  run.copy(50, 80, 3, 100, kPageableToDevice, 0);
  run.copy(90, 130, 4, 100, 2 | 3 << 8 | 2 << 16, 0);
  run.copy(140, 190, 5, 100, 2 | 3 << 8 | 1 << 16, 0);
  run.finish();
  EXPECT_EQ(copies(run),
            "1 | 100 | 50 | 1 | 50\n1 | 100 | 40 | 1 | 40\n1 | 100 | 30 | 1 | 30\n"
            "1 | 100 | 20 | 1 | 20\n1 | 100 | 10 | 1 | 10");
}

TEST(Copies, AreExposedWhereNoKernelOfTheirDeviceRuns) {
  HandTrace run;
  run.stream(0, 8);
  run.device(0, 1);
  run.stream(1, 7);
  run.copy(0, 100, 1, 1 << 20, kPinnedToDevice, 0);
  run.kernel(10, 90, 2, 2);  // of another device
  run.kernel(20, 60, 3, 1);
  run.kernel(30, 40, 4, 1);  // inside the kernel before
  run.kernel(50, 70, 5, 0);
  run.fill(95, 110, 6, 64, 1);
  run.finish();
  EXPECT_EQ(copies(run), "1 | 1048576 | 100 | 0 | 45\n1 | 64 | 15 | 1 | ")
      << "all but 20 to 70 and, in which the memset runs, 95 to 100";
}

TEST(Copies, OfARowThatOverlapAreExposedOnce) {
  HandTrace run;
  run.stream(0, 8);
  run.copy(0, 100, 1, 1 << 20, kPinnedToDevice, 0);
  run.copy(10, 50, 2, 1 << 20, kPinnedToDevice, 1);
  run.copy(90, 120, 3, 1 << 20, kPinnedToDevice, 1);
  run.finish();
  EXPECT_EQ(copies(run), "3 | 3145728 | 170 | 0 | 120");
}

}  // namespace
}  // namespace prof::analyzer
