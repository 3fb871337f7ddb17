#include "analyzer/output/page/timeline_pieces.h"

#include "analyzer/base/parallel.h"

#include <array>
#include <queue>
#include <utility>

namespace prof::analyzer {

// A pixel is step 7: 1/64 of a pixel up to 64 pixels.
int64_t grain_ns(int64_t run_ns, int step) {
  constexpr int kPixelStep = 7;
  if (step == 0) return 0;
  const int64_t pixel = std::max<int64_t>(1, run_ns / kPixels);
  return step <= kPixelStep ? std::max<int64_t>(1, pixel >> (kPixelStep - step)) : pixel << (step - kPixelStep);
}

void choose_grains(std::vector<PieceRow>& rows, int64_t run_ns, size_t most) {
  size_t all = 0;
  for (PieceRow& row : rows) {
    row.grain = 0;
    all += row.spans;
  }
  if (all <= most) return;
  std::vector<std::array<size_t, kGrains>> counts(rows.size());
  parallel_for(rows.size(), [&](size_t r) {
    for (int step = 0; step < kGrains; ++step) {
      PieceRow coarser = rows[r];
      coarser.grain = step;
      size_t count = 0;
      if (step == 0) {
        count = coarser.spans;
      } else if (counts[r][static_cast<size_t>(step) - 1] > 1) {
        pieces_of(coarser, run_ns, [&](const Piece&) { ++count; });
      } else {
        count = counts[r][static_cast<size_t>(step) - 1];
      }
      counts[r][static_cast<size_t>(step)] = count;
    }
  });
  std::priority_queue<std::pair<size_t, size_t>> largest;  // pieces, row
  for (size_t r = 0; r < rows.size(); ++r) largest.emplace(counts[r][0], r);
  while (all > most && !largest.empty()) {
    const auto [pieces, r] = largest.top();
    largest.pop();
    if (++rows[r].grain >= kGrains) {
      rows[r].grain = kGrains - 1;
      continue;
    }
    const size_t fewer = counts[r][static_cast<size_t>(rows[r].grain)];
    all -= pieces - std::min(pieces, fewer);
    largest.emplace(fewer, r);
  }
}

}  // namespace prof::analyzer
