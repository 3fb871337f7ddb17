// Does the level of detail of the page's timeline keep every long span and every sum?
#include "analyzer/output/page/timeline_pieces.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace prof::analyzer {
namespace {

std::vector<Piece> pieces(const PieceRow& row, int64_t run_ns) {
  std::vector<Piece> all;
  pieces_of(row, run_ns, [&](const Piece& piece) { all.push_back(piece); });
  return all;
}

PieceRow row_of(const std::vector<Span>& spans, int grain = 0) {
  return {spans.size(), [&spans](size_t i) { return spans[i]; }, grain};
}

TEST(TimelinePieces, AreTheSpansThemselvesIfTheyFit) {
  const std::vector<Span> spans = {{0, 10}, {10, 10}, {20, 25}};
  std::vector<PieceRow> rows = {row_of(spans)};
  choose_grains(rows, 100, 3);
  ASSERT_EQ(rows[0].grain, 0);
  const std::vector<Piece> all = pieces(rows[0], 100);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].begin_ns, 10);
  EXPECT_EQ(all[1].sum_ns, 0);
  EXPECT_EQ(all[2].longest, 2u);
}

// A run of 4096 µs: a pixel is 1 µs. Spans of 100 ns each 200 ns, and one in a thousand of a pixel.
TEST(TimelinePieces, MergeShortSpansAndKeepTheirSumAndEveryLongOne) {
  constexpr int64_t kRun = 4'096'000;
  std::vector<Span> spans;
  int64_t sum = 0, at = 0;
  size_t long_ones = 0;
  for (size_t i = 0; i < 15'000; ++i) {
    const int64_t length = i % 1000 == 500 ? 1000 : 100;
    spans.push_back({at, at + length});
    at += length + 100;
    sum += length;
    long_ones += length == 1000 ? 1 : 0;
  }
  ASSERT_LT(at, kRun);
  for (int step = 0; step < kGrains; ++step) {
    uint64_t count = 0;
    int64_t held = 0, last_end = -1;
    size_t alone = 0;
    for (const Piece& piece : pieces(row_of(spans, step), kRun)) {
      count += piece.count;
      held += piece.sum_ns;
      alone += piece.count == 1 && piece.sum_ns == 1000 ? 1 : 0;
      EXPECT_GE(piece.begin_ns, last_end);
      EXPECT_TRUE(piece.count == 1 || piece.end_ns - piece.begin_ns <= grain_ns(kRun, step));
      last_end = piece.end_ns;
    }
    EXPECT_EQ(count, spans.size()) << step;
    EXPECT_EQ(held, sum) << step;
    EXPECT_EQ(alone, long_ones) << step;
  }
}

TEST(TimelinePieces, TheLongestSpanNamesAMergedPiece) {
  const std::vector<Span> spans = {{0, 1}, {2, 5}, {6, 7}};
  const std::vector<Piece> all = pieces(row_of(spans, 7), 4096 * 100);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].count, 3u);
  EXPECT_EQ(all[0].longest, 1u);
  EXPECT_EQ(all[0].longest_ns, 3);
  EXPECT_EQ(all[0].end_ns, 7);
}

TEST(TimelinePieces, TheRowWithTheMostPiecesBecomesCoarserFirst) {
  std::vector<Span> many, few = {{0, 10}, {1'000'000, 1'000'010}};
  for (int64_t i = 0; i < 100'000; ++i) many.push_back({i * 40, i * 40 + 10});
  std::vector<PieceRow> rows = {row_of(few), row_of(many)};
  choose_grains(rows, 4'096'000, 10'000);
  EXPECT_EQ(rows[0].grain, 0);
  EXPECT_GT(rows[1].grain, 0);
  EXPECT_LE(pieces(rows[0], 4'096'000).size() + pieces(rows[1], 4'096'000).size(), 10'000u);
}

TEST(TimelinePieces, SpansThatEndBeforeTheyStartHaveNoTime) {
  const std::vector<Span> spans = {{10, 5}, {12, 14}};
  const std::vector<Piece> all = pieces(row_of(spans), 100);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].sum_ns, 0);
  EXPECT_EQ(all[0].end_ns, 10);
}

}  // namespace
}  // namespace prof::analyzer
