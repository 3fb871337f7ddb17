// From the first launch to the last event, whatever the size of the chunks in which rows are read.
#include "analyzer/analysis/critical/run_graph.h"
#include "analyzer/base/row_chunks.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace prof::analyzer {
namespace {

TEST(LaunchedSpan, EveryRowCountsInChunksOfAnySize) {
  for (uint32_t longest = 0; longest < 5; ++longest) {
    for (const bool call : {true, false}) {
      tests::HandTrace run;
      run.call("cudaMalloc", 0, 5);
      for (uint32_t i = 1; i < 5; ++i) run.stream(0, i);
      for (uint32_t i = 0; i < 5; ++i) {
        const int64_t t = 100 + 100 * int64_t{i};
        run.launch(t, call && i == longest ? 1000 : t + 10, i + 1);
        run.kernel(t + 20, !call && i == longest ? 1000 : t + 30, i + 1, i);
      }
      run.finish();
      for (const size_t rows : {size_t{1}, size_t{2}, size_t{3}, size_t{4}, size_t{5}, size_t{6}, size_t{100}}) {
        const RowsPerChunk size(rows);
        const Interval span = launched_span(run.trace);
        EXPECT_EQ(span.begin_ns, 100) << rows << ": the allocation is no launch";
        EXPECT_EQ(span.end_ns, 1000) << rows << ", row " << longest;
      }
    }
  }
}

}  // namespace
}  // namespace prof::analyzer
