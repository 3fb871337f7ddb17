// On which device and in which pool memory is, and which allocations made the peak. The stream, context or pool of a
// call identifies them.
#include "preload/format/definitions.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::cell_text;
using tests::row_text;

struct MemoryRun : tests::HandTrace {
  void memory_call(std::string_view api, int64_t begin, int64_t end, uint64_t bytes, uint32_t key, uint32_t stream,
                   uint32_t pool = 0) {
    call(api, begin, end, 0, 0, HostEvent::allocated(bytes, pool));
    HostEvent& made = trace.host.back();
    made.live_depth = key;
    made.word = HostEvent::pack(made.api(), HostKind::Allocation, 0, 0);  // as logs also contain releases
    streams_of_calls.push_back(stream);
  }
  void context_ends(std::string_view api, int64_t begin, int64_t end, uint64_t context) {
    call(api, begin, end, 0, 0, context);
    streams_of_calls.push_back(0);
  }
  uint32_t pool(format::PoolOrigin origin, uint32_t location, uint32_t place, uint32_t number) {
    trace.memory_pools.push_back({ProcessId{0}, 1, static_cast<uint32_t>(origin), location, place, number});
    return static_cast<uint32_t>(trace.memory_pools.size() - 1);
  }
  void finish_run() {
    device(0, 1);
    finish();
    trace.host_streams.resize(3);
    for (uint32_t s = 1; s <= 2; ++s) trace.host_streams[s].device = s - 1, trace.host_streams[s].context_handle = s;
    for (size_t row = 0; row < streams_of_calls.size(); ++row)
      trace.host[row].stream = HostStreamId{streams_of_calls[row]};
  }
  std::string text(Table (*run)(const AnalysisInput&), std::initializer_list<std::string_view> columns) {
    const Table table = report(run);
    std::string lines;
    for (size_t row = 0; row < table.rows(); ++row) lines += row_text(table, row, columns) + "\n";
    return lines;
  }
  std::string rows() {
    finish_run();
    return text(report_memory, {"where", "allocated_bytes", "released_bytes", "peak_bytes", "end_bytes"});
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
  run.memory_call("cuMemFree", 4, 5, 0, 2, 0);  // frees memory that was allocated on a stream
  run.memory_call("cuMemFree", 6, 7, 0, 1, 0);
  EXPECT_EQ(run.rows(), "device | 100 | 100 | 100 | 0\ndevice 1 | 40 | 40 | 40 | 0\n");
  const Table table = run.report(report_memory);
  EXPECT_NE(table.notes.back().find("neither its context nor a stream"), std::string::npos);
}

// Memory on the host, on another device than the stream's, of a pool older than the recording, and outside of pools.
TEST(MemoryReport, APoolSaysWhereItsMemoryIsAndHasAPeakOfItsOwn) {
  MemoryRun run;
  using format::PoolOrigin;
  const uint32_t standard = run.pool(PoolOrigin::Default, 1, 0, 0), own = run.pool(PoolOrigin::Created, 1, 1, 1);
  const uint32_t host = run.pool(PoolOrigin::Created, 3, 0, 2), older = run.pool(PoolOrigin::Unknown, 0, 0, 3);
  run.memory_call("cuMemAllocAsync", 0, 1, 100, 1, 1, standard);
  run.memory_call("cuMemAllocFromPoolAsync", 2, 3, 40, 2, 1, own);
  run.memory_call("cuMemFreeAsync", 4, 5, 0, 1, 1);
  run.memory_call("cuMemAllocAsync", 6, 7, 30, 3, 1, standard);
  run.memory_call("cuMemAlloc_v2", 8, 9, 50, 4, 1);
  run.memory_call("cuMemAllocFromPoolAsync", 10, 11, 7, 5, 1, host);
  run.memory_call("cuMemFreeAsync", 12, 13, 0, 5, 2);
  run.memory_call("cuMemAllocFromPoolAsync", 14, 15, 9, 6, 2, older);
  run.finish_run();
  EXPECT_EQ(run.text(report_memory, {"where", "pool", "allocations", "peak_bytes", "peak_time", "end_bytes"}),
            "device 0 |  | 3 | 100 | 1 | 80\n"
            "device 0 | none | 1 | 50 | 9 | 50\n"
            "device 0 | default | 2 | 100 | 1 | 30\n"
            "device 1 |  | 2 | 49 | 15 | 49\n"
            "device 1 | pool 1 | 1 | 40 | 3 | 40\n"
            "device 1 | pool 3 (older) | 1 | 9 | 15 | 9\n"
            "host |  | 1 | 7 | 11 | 0\n"
            "host | pool 2 | 1 | 7 | 11 | 0\n");
}

TEST(MemoryReport, NamesWhatHeldThePeak) {
  MemoryRun run;
  run.range("load", 0, 10, RangeKind::Nvtx);
  run.memory_call("cuMemAlloc_v2", 1, 2, 100, 1, 1);
  run.memory_call("cuMemAllocAsync", 3, 4, 10, 2, 1);
  run.memory_call("cuMemAllocAsync", 20, 21, 30, 3, 1);
  run.memory_call("cuMemFreeAsync", 30, 31, 0, 2, 1);
  run.memory_call("cuMemAllocAsync", 32, 33, 5, 4, 1);
  run.finish_run();
  run.options.group_by = {"path", "call"};
  EXPECT_EQ(
      run.text(report_memory_ops, {"path", "call", "allocations", "live_at_peak_bytes", "peak_percent", "end_bytes"}),
      "load | cuMemAlloc_v2 | 1 | 100 | 71.4 | 100\n"
      " | cuMemAllocAsync | 2 | 30 | 21.4 | 35\n"
      "load | cuMemAllocAsync | 1 | 10 | 7.1 | 0\n");
  run.options.group_by = {"color"};
  EXPECT_THROW(run.report(report_memory_ops), std::runtime_error);
}

// Memory from a pool stays, and so does memory that another context allocated.
TEST(MemoryReport, AContextThatEndsTakesItsMemoryAlong) {
  MemoryRun run;
  const uint32_t standard = run.pool(format::PoolOrigin::Default, 1, 0, 0);
  run.memory_call("cuMemAlloc_v2", 0, 1, 100, 1, 1);
  run.memory_call("cuMemAllocHost_v2", 2, 3, 7, 2, 1);
  run.memory_call("cuMemAllocAsync", 4, 5, 20, 3, 1, standard);
  run.memory_call("cuMemAlloc_v2", 6, 7, 50, 4, 2);
  run.context_ends("cuDevicePrimaryCtxReset_v2", 8, 9, 1);
  run.memory_call("cuMemAlloc_v2", 10, 11, 1, 1, 1);  // the same address again
  EXPECT_EQ(run.rows(),
            "device 0 | 121 | 100 | 120 | 21\ndevice 0 | 101 | 100 | 100 | 1\n"
            "device 0 | 20 | 0 | 20 | 20\nhost | 7 | 7 | 7 | 0\ndevice 1 | 50 | 0 | 50 | 50\n");
  EXPECT_EQ(run.text(report_memory_trace, {"at", "where", "call", "released_bytes", "live_bytes", "lived"}),
            "1 | device 0 | cuMemAlloc_v2 |  | 100 | \n3 | host | cuMemAllocHost_v2 |  | 7 | \n"
            "5 | device 0 | cuMemAllocAsync |  | 120 | \n7 | device 1 | cuMemAlloc_v2 |  | 50 | \n"
            "9 | device 0 | cuDevicePrimaryCtxReset_v2 | 100 | 20 | 8\n"
            "9 | host | cuDevicePrimaryCtxReset_v2 | 7 | 0 | 6\n11 | device 0 | cuMemAlloc_v2 |  | 21 | \n");
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
