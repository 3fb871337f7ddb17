// Level of detail of a timeline: which operations are drawn one by one, and which are merged into one piece?
//
// A row of a timeline is a list of spans that do not overlap. Spans shorter than the row's *grain* are merged with
// their neighbours into pieces of at most a grain; a piece knows how many spans it holds and their time. A span that is
// at least a pixel of the first view long is never merged. Rows get the finest grain for which all rows together have
// at most a given number of pieces: the row with the most pieces becomes coarser first.
//
//   spans   |██|█ █|██████████████|█ █|█|    |█|
//   pieces  [ 4    ][ alone       ][ 3  ]    [1]
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace prof::analyzer {

struct Span {
  int64_t begin_ns = 0, end_ns = 0;
};

struct Piece {
  int64_t begin_ns = 0, end_ns = 0;  // from the first start to the last end
  uint32_t count = 0;
  uint32_t longest = 0;  // index of the longest span of the row in it
  int64_t sum_ns = 0;    // the spans' durations
  int64_t longest_ns = -1;
};

// A row, and how many steps coarser than exact it is; 0: every span is a piece.
struct PieceRow {
  size_t spans = 0;
  std::function<Span(size_t)> at;  // by index, sorted by start
  int grain = 0;
};

inline constexpr int kGrains = 14;
inline constexpr int64_t kPixels = 4096;  // of the first view: more than any screen of 3000 px has

// The grain of a step in a run of that length; step 0: 0.
int64_t grain_ns(int64_t run_ns, int step);

// Calls take(piece) for the pieces of a row in order of time.
template <class Take> void pieces_of(const PieceRow& row, int64_t run_ns, Take&& take) {
  const int64_t grain = grain_ns(run_ns, row.grain), alone = std::min(grain, std::max<int64_t>(1, run_ns / kPixels));
  Piece open;
  const auto flush = [&] {
    if (open.count != 0) take(static_cast<const Piece&>(open));
    open = Piece();
  };
  for (size_t i = 0; i < row.spans; ++i) {
    const Span span = row.at(i);
    const int64_t length = std::max<int64_t>(0, span.end_ns - span.begin_ns), end = span.begin_ns + length;
    if (length >= alone || (open.count != 0 && end - open.begin_ns > grain)) flush();
    if (open.count == 0) open.begin_ns = span.begin_ns;
    open.end_ns = std::max(open.end_ns, end);
    if (open.count == 0) open.end_ns = end;
    ++open.count;
    open.sum_ns += length;
    if (length > open.longest_ns) {
      open.longest_ns = length;
      open.longest = static_cast<uint32_t>(i);
    }
    if (length >= alone) flush();
  }
  flush();
}

// Sets the grain of every row. Rows that are at the coarsest step may exceed `most`.
void choose_grains(std::vector<PieceRow>& rows, int64_t run_ns, size_t most);

}  // namespace prof::analyzer
