// On which device is memory? The log of a process with several devices says it only of allocations on a stream.
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::cell_text;
using tests::row_text;

struct MemoryRun : tests::HandTrace {
  void memory_call(std::string_view api, int64_t begin, int64_t end, uint64_t bytes, uint32_t key, uint32_t stream) {
    call(api, begin, end, 0, 0, bytes);
    HostEvent& made = trace.host.back();
    made.live_depth = key;
    made.word = HostEvent::pack(made.api(), HostKind::Allocation, 0, 0);  // as logs have releases, too
    streams_of_calls.push_back(stream);
  }
  std::string rows() {
    device(0, 1);
    finish();
    trace.host_streams.resize(3);
    for (uint32_t s = 1; s <= 2; ++s) trace.host_streams[s].device = s - 1;
    for (size_t row = 0; row < streams_of_calls.size(); ++row)
      trace.host[row].stream = HostStreamId{streams_of_calls[row]};
    const Table table = report(report_memory);
    std::string text;
    for (size_t row = 0; row < table.rows(); ++row)
      text += row_text(table, row, {"where", "allocated_bytes", "released_bytes", "peak_bytes", "end_bytes"}) + "\n";
    return text;
  }
  std::vector<uint32_t> streams_of_calls;  // rows of Trace::host_streams: 1 is of device 0, 2 of device 1
};

TEST(MemoryReport, AllocationsOnAStreamBelongToItsDevice) {
  MemoryRun run;
  run.memory_call("cuMemAllocAsync", 0, 1, 100, 1, 1);
  run.memory_call("cuMemAllocAsync", 2, 3, 40, 2, 2);
  run.memory_call("cuMemFreeAsync", 4, 5, 0, 2, 1);  // on a stream of the other device
  run.memory_call("cuMemAllocHost", 6, 7, 8, 3, 0);
  EXPECT_EQ(run.rows(), "device 0 | 100 | 0 | 100 | 100\ndevice 1 | 40 | 40 | 40 | 0\nhost | 8 | 0 | 8 | 8\n");
}

TEST(MemoryReport, AllocationsWithoutAStreamAreOfSomeDevice) {
  MemoryRun run;
  run.memory_call("cuMemAlloc", 0, 1, 100, 1, 0);
  run.memory_call("cuMemAllocAsync", 2, 3, 40, 2, 2);
  run.memory_call("cuMemFree", 4, 5, 0, 2, 0);  // releases what was made on a stream
  run.memory_call("cuMemFree", 6, 7, 0, 1, 0);
  EXPECT_EQ(run.rows(), "device | 100 | 100 | 100 | 0\ndevice 1 | 40 | 40 | 40 | 0\n");
  const Table table = run.report(report_memory);
  EXPECT_NE(table.notes.back().find("neither its context nor a stream"), std::string::npos);
}

TEST(NvtxTrace, LeavesOutTheProfilersOwnWork) {
  tests::HandTrace run;
  run.range("step", 0, 100, RangeKind::Nvtx);
  run.range("Buffer Flush", 10, 20, RangeKind::Overhead);
  run.finish();
  const Table table = run.report(report_nvtx_trace);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(cell_text(table, 0, "name"), "step");
  EXPECT_EQ(table.notes.back(), "events of the profiler's own work, left out: 1");
}

}  // namespace
}  // namespace prof::analyzer
