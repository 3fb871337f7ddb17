// Into which chunks is a long list cut for a parallel loop? The size of a chunk is a parameter, so that tests cross the
// boundaries of chunks with a few rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace prof::analyzer {

// 0: every loop has its own size. Only tests set it.
inline std::atomic<size_t> g_rows_per_chunk{0};

// The size of chunks of a loop whose usual size this is.
inline size_t rows_per_chunk(size_t usual) {
  const size_t set = g_rows_per_chunk.load(std::memory_order_relaxed);
  return set != 0 ? set : usual;
}

// Calls visit(first, last) for chunks of at most this many rows that together are [first, last), in order.
template <class Row, class Visit> void each_chunk(Row first, Row last, size_t usual, Visit&& visit) {
  const size_t most = rows_per_chunk(usual);
  while (first < last) {
    const Row until = first + static_cast<Row>(std::min<size_t>(most, last - first));
    visit(first, until);
    first = until;
  }
}

// Sets the size of all chunks while it exists.
class RowsPerChunk {
 public:
  explicit RowsPerChunk(size_t rows) { g_rows_per_chunk = rows; }
  ~RowsPerChunk() { g_rows_per_chunk = 0; }
  RowsPerChunk(const RowsPerChunk&) = delete;
  RowsPerChunk& operator=(const RowsPerChunk&) = delete;
};

}  // namespace prof::analyzer
