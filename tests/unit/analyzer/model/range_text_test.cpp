// The texts of emit_nvtx: which part is the name and which parts are numbers.
#include "analyzer/model/range_text.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

TEST(RangeText, ForwardAndBackwardOfOneOperatorHaveOneSequence) {
  const RangeText forward = parse_range_text("aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], [3, 4], []]");
  EXPECT_EQ(forward.name, "aten::mm");
  EXPECT_EQ(forward.sequence, 12);
  EXPECT_FALSE(forward.stashed);
  EXPECT_EQ(forward.op_id, 34);
  EXPECT_EQ(forward.sizes, "[[2, 3], [3, 4], []]");
  const RangeText backward = parse_range_text("MmBackward0, stashed seq = 12");
  EXPECT_EQ(backward.name, "MmBackward0");
  EXPECT_EQ(backward.sequence, 12);
  EXPECT_TRUE(backward.stashed);
  EXPECT_EQ(backward.op_id, -1);
}

TEST(RangeText, PartsStandInAnyOrderAtTheEnd) {
  EXPECT_EQ(plain_range_text("aten::empty, op_id = 990346"), "aten::empty");
  EXPECT_EQ(plain_range_text("f, sizes = [[1]], seq = 1"), "f");
  EXPECT_EQ(plain_range_text("f, op_id = 3, sizes = [[1]], input_op_ids = [(1,0), (2,0)]"), "f");
  EXPECT_EQ(plain_range_text("f<int, 2>(a, b), seq = 5"), "f<int, 2>(a, b)");
}

TEST(RangeText, WhatIsNoSuchPartStays) {
  for (const char* text :
       {"", "forward", "step, 12", "a, seq = ", "a, seq = x", "a, seq = 1 of 2", "seq = 4", "12", "a, shapes = [[1]]",
        "a, sizes = [[1]", "a, sizes = 1]]", "]", "a,seq = 3", "a, subseq = 3"}) {
    EXPECT_EQ(plain_range_text(text), text);
    EXPECT_EQ(parse_range_text(text).sequence, -1);
  }
  EXPECT_EQ(plain_range_text(", seq = 4"), "");
}

TEST(RangeText, ANumberThatDoesNotFitIsNone) {
  const RangeText parts = parse_range_text("f, seq = 99999999999999999999, op_id = 7");
  EXPECT_EQ(parts.name, "f");
  EXPECT_EQ(parts.sequence, -1);
  EXPECT_EQ(parts.op_id, 7);
}

TEST(RangeText, LongTextsOfBracketsTakeLinearTime) {
  const std::string text = "a" + std::string(1 << 20, ']');
  EXPECT_EQ(plain_range_text(text), text);
  std::string many = "f";
  for (int i = 0; i < 50000; ++i) many += ", sizes = [[1]]";
  EXPECT_EQ(plain_range_text(many), "f");
}

}  // namespace
}  // namespace prof::analyzer
