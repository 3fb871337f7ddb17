// Lines of Python code from the tables of four interpreters. All were made from one function:
//    1 def f(a):
//    2   x = 1
//    3   for i in a:
//    4     x += (i
//    5       + 2)
//    8   try:
//    9     g()
//   10   except E:
//   11     x = 3
//   12   return x
// The expected values were printed by each interpreter (dis.findlinestarts, code.co_lines); 0 is an instruction without
// a line.
#include "preload/stacks/python/python_lines.h"
#include "preload/format/utf8.h"
#include "preload/stacks/python/python_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prof::preload {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

struct Run {
  int64_t begin;
  uint32_t line;
};

void expect_lines(LineFormat format, std::string_view hex, int64_t code_bytes, const std::vector<Run>& runs) {
  const std::string table = from_hex(hex);
  for (size_t i = 0; i < runs.size(); ++i) {
    const int64_t end = i + 1 < runs.size() ? runs[i + 1].begin : code_bytes;
    for (int64_t offset = runs[i].begin; offset < end; offset += 2) {
      EXPECT_EQ(python_line(format, table, 1, offset), runs[i].line) << "at " << offset;
    }
  }
}

TEST(PythonLines, TheTableOf38StepsBackInsideAnExpression) {
  expect_lines(LineFormat::Lnotab, "000104010801040102ff080402010a010e010a01", 66,
               {{0, 2}, {4, 3}, {12, 4}, {16, 5}, {18, 4}, {26, 8}, {28, 9}, {38, 10}, {52, 11}, {62, 12}});
}

TEST(PythonLines, TheTableOf310HasRanges) {
  expect_lines(
      LineFormat::Ranges, "040108010401020108ff0204080104030cfe0601040102fe", 64,
      {{0, 2}, {4, 3}, {12, 4}, {16, 5}, {18, 4}, {26, 8}, {28, 9}, {36, 12}, {40, 10}, {52, 11}, {58, 12}, {62, 10}});
}

TEST(PythonLines, TheTableOf311HasColumnsBetween) {
  expect_lines(LineFormat::Locations,
               "8000d806078021d80b0cf00002030bf00002030b8061d804058821d80809f103010b0af10001050b80418041f00803030add040"
               "58143844380"
               "438043f8dd090af00001030af00001030af00001030ad80809804180418041f00301030af8f8f8e0090a8028",
               104,
               {{0, 1},
                {2, 2},
                {6, 3},
                {14, 4},
                {18, 5},
                {20, 4},
                {32, 8},
                {34, 9},
                {64, 0},
                {66, 10},
                {84, 11},
                {92, 10},
                {94, 0},
                {100, 12}});
}

TEST(PythonLines, TheTableOf313IsOfTheSameFormat) {
  expect_lines(LineFormat::Locations,
               "8000d806078021db0b0c8061d80405d80809f103010b0af10001050b8241f103000c0df00a03030adc04058443f006000a0b802"
               "8f8f405000a0"
               "bf30001030ad808098141d8090a8028f00501030afa",
               102,
               {{0, 1},
                {2, 2},
                {6, 3},
                {16, 4},
                {18, 5},
                {20, 4},
                {34, 3},
                {38, 8},
                {40, 9},
                {60, 12},
                {64, 0},
                {66, 10},
                {84, 11},
                {90, 12},
                {94, 10},
                {96, 0}});
}

TEST(PythonLines, BeforeTheFirstInstructionIsTheDefinition) {
  for (const LineFormat format : {LineFormat::Lnotab, LineFormat::Ranges, LineFormat::Locations}) {
    EXPECT_EQ(python_line(format, "", 7, -1), 7u);
    EXPECT_EQ(python_line(format, "", 7, -2), 7u);
  }
}

TEST(PythonLines, LongJumpsAreSumsOfShortOnes) {
  EXPECT_EQ(python_line(LineFormat::Lnotab, from_hex("007f007f0403"), 10, 0), 264u);
  EXPECT_EQ(python_line(LineFormat::Lnotab, from_hex("007f007f0403"), 10, 4), 267u);
  EXPECT_EQ(python_line(LineFormat::Ranges, from_hex("007f027f0280"), 10, 0), 264u);
  EXPECT_EQ(python_line(LineFormat::Ranges, from_hex("007f027f0280"), 10, 2), 0u);  // -128: no line
  // Kind 13 (no columns) for one unit, then 40000 doubled for its sign: 80000 = 0 + 34 * 64 + 19 * 4096.
  EXPECT_EQ(python_line(LineFormat::Locations, from_hex("e8406213"), 1, 0), 40001u);
  EXPECT_EQ(python_line(LineFormat::Locations, from_hex("e8416213"), 40001, 0), 1u);
}

TEST(PythonLines, DamagedTablesGiveNoLineOrSomeLine) {
  EXPECT_EQ(python_line(LineFormat::Lnotab, from_hex("00"), 5, 100), 5u);   // half a pair
  EXPECT_EQ(python_line(LineFormat::Ranges, from_hex("04"), 5, 0), 0u);     // half a pair
  EXPECT_EQ(python_line(LineFormat::Locations, from_hex("f0"), 5, 0), 5u);  // a number that is missing
  EXPECT_EQ(python_line(LineFormat::Locations, from_hex("f07f7f7f7f7f7f7f7f7f7f7f7f7f"), 5, 0), 0u);  // one without end
  EXPECT_EQ(python_line(LineFormat::Locations, from_hex("8000"), 5, 1 << 20), 0u);  // after the end of the table
  EXPECT_EQ(python_line(LineFormat::Lnotab, from_hex("0080"), 5, 0), 0u);           // a line before the first
}

TEST(PythonText, CharactersBecomeUtf8) {
  char room[4];
  const auto utf8 = [&](uint32_t character) { return std::string(room, format::put_utf8(character, room)); };
  EXPECT_EQ(utf8('a'), "a");
  EXPECT_EQ(utf8(0xe9), "\xc3\xa9");
  EXPECT_EQ(utf8(0x540d), "\xe5\x90\x8d");
  EXPECT_EQ(utf8(0x10400), "\xf0\x90\x90\x80");
  EXPECT_EQ(utf8(0xdc80), "\xef\xbf\xbd");    // a byte that was not UTF-8, as in file names
  EXPECT_EQ(utf8(0x110000), "\xef\xbf\xbd");  // beyond Unicode
}

}  // namespace
}  // namespace prof::preload
