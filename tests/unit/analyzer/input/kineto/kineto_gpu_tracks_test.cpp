// Which ranges are GPU work, by the names of their tracks?
#include "analyzer/input/kineto/kineto_gpu_tracks.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {
namespace {

class KinetoNamedTracks : public ::testing::Test {
 protected:
  Trace trace;
  const ImportMark mark{trace};
  const std::string path = "t";
  KinetoThreads threads{trace, mark, path};
  KinetoStreams streams{trace, mark};
  KinetoKernels kernels{trace};
  ApiNames apis{trace};
  KinetoSummary summary;

  StringId id(std::string_view text) { return trace.strings.intern(text); }
  ThreadId track(std::string_view pid, std::string_view tid, std::string_view process, std::string_view thread) {
    threads.name_process(id(pid), id(process));
    threads.name_thread(id(pid), id(tid), id(thread));
    return threads.thread(id(pid), id(tid));
  }
  Range& range(ThreadId thread, std::string_view name, int64_t begin_ns, uint64_t correlation = 0,
               std::string_view other = "") {
    Range row;
    row.begin_ns = begin_ns;
    row.end_ns = begin_ns + 5;
    row.thread = thread;
    row.kind = RangeKind::Annotation;
    row.label = LabelId{static_cast<uint32_t>(trace.labels.size())};
    trace.labels.emplace_back().text = id(name);
    if (trace.details.empty()) trace.details.push_back({});
    OperatorDetail detail;
    detail.external_id = correlation;
    detail.other = id(other);
    row.payload = trace.details.size();
    trace.details.push_back(detail);
    trace.ranges.push_back(row);
    return trace.ranges.back();
  }
  std::vector<uint32_t> convert() {
    return convert_gpu_tracks(trace, mark, threads, streams, kernels, apis, summary, false);
  }
};

TEST_F(KinetoNamedTracks, OfTheHostStayAsTheyAre) {
  const ThreadId host = track("701", "5", "/host:CPU", "python");
  range(host, "cuLaunchKernel", 10, 77);
  EXPECT_TRUE(convert().empty());
  EXPECT_EQ(trace.ranges.size(), 1u);
  EXPECT_TRUE(trace.host.empty());
}

TEST_F(KinetoNamedTracks, OfStreamsBecomeGpuOperations) {
  const ThreadId stream = track("1", "14", "/device:GPU:0", "Stream #14(Compute)");
  const ThreadId host = track("701", "5", "/host:CPU", "python");
  range(stream, "fusion_1", 20, 77,
        "\"kernel_details\":\"regs:32 static_shared:16 dynamic_shared:64 grid:4,2,1 block:128,1,1\"");
  range(stream, "MemcpyD2H", 30);
  range(stream, "Memset", 40);
  range(host, "cuLaunchKernel", 10, 77);
  range(host, "PjitFunction(f)", 0);
  const std::vector<uint32_t> moved = convert();
  EXPECT_EQ(moved, (std::vector<uint32_t>{kNone, 0}));
  ASSERT_EQ(trace.operations.size(), 3u);
  EXPECT_EQ(trace.operations[0].kind(), GpuKind::Kernel);
  EXPECT_EQ(trace.operations[0].correlation, 77u);
  EXPECT_EQ(streams.key(trace.operations[0].stream_index).number, 14u);
  const Kernel& kernel = trace.kernels[trace.operations[0].detail];
  EXPECT_EQ(trace.text(kernel.name), "fusion_1");
  EXPECT_EQ(kernel.grid[1], 2u);
  EXPECT_EQ(kernel.static_shared_bytes, 16u);
  EXPECT_EQ(trace.operations[1].kind(), GpuKind::Copy);
  EXPECT_EQ(trace.operations[1].detail, 2u);
  EXPECT_EQ(trace.operations[2].kind(), GpuKind::Fill);
  ASSERT_EQ(trace.host.size(), 1u);
  EXPECT_EQ(trace.api_name(trace.host[0]), "cuLaunchKernel");
  EXPECT_EQ(index(trace.host[0].thread), 0u);
  ASSERT_EQ(trace.ranges.size(), 1u);
  EXPECT_EQ(trace.range_name(trace.ranges[0]), "PjitFunction(f)");
  EXPECT_EQ(trace.processes.size(), 1u);
}

TEST_F(KinetoNamedTracks, ThatAreDerivedBecomeAnnotationsOfTheFirstStream) {
  const ThreadId derived = track("1", "99", "/device:GPU:0", "XLA Ops");
  const ThreadId stream = track("1", "14", "/device:GPU:0", "Stream #14(Compute)");
  range(derived, "fusion.1", 20);
  range(stream, "fusion_1", 20);
  convert();
  ASSERT_EQ(trace.gpu_annotations.size(), 1u);
  EXPECT_EQ(index(trace.gpu_annotations[0].stream), uint32_t{trace.operations[0].stream_index});
}

TEST_F(KinetoNamedTracks, KeepMarksOnAThreadThatStays) {
  const ThreadId stream = track("1", "14", "/device:gpu:0", "Stream #14(Compute)");
  range(stream, "fusion_1", 20);
  Range mark_row;
  mark_row.thread = stream;
  trace.marks.push_back(mark_row);
  convert();
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(index(trace.marks[0].thread), 0u);
  EXPECT_EQ(trace.processes.size(), 1u);
}

TEST_F(KinetoNamedTracks, OfADeviceThatIsNotKnownAreOperationsOfItsStreams) {
  const ThreadId host = track("1", "1", "python", "main"), ccp = track("9", "801", "MTIA 9", "");
  range(host, "aten::add", 0);
  range(ccp, "fc-dtype_Float", 10, 7);
  convert();
  ASSERT_EQ(trace.operations.size(), 1u);
  EXPECT_EQ(trace.operations[0].correlation, 7u);
  const KinetoStreamKey key = streams.key(trace.operations[0].stream_index);
  EXPECT_EQ(key.device, 9u);
  EXPECT_EQ(key.number, 801u);
  EXPECT_FALSE(key.in_order);
  EXPECT_EQ(trace.ranges.size(), 1u);
  EXPECT_EQ(trace.processes.size(), 1u);
}

TEST_F(KinetoNamedTracks, OfAscendHardwareHaveTheStreamsOfTheirThreads) {
  range(track("1", "1", "Python", "main"), "op", 0);
  range(track("2000384", "5", "Ascend Hardware", "Stream 2"), "MatMulV2", 10);
  convert();
  ASSERT_EQ(trace.operations.size(), 1u);
  EXPECT_EQ(streams.key(trace.operations[0].stream_index).number, 2u);
}

// A derived track ("Computing") has no stream. It is neither an operation nor time of the host.
TEST_F(KinetoNamedTracks, WithoutAStreamAreLeftOutAndCounted) {
  range(track("1", "1", "Python", "main"), "op", 0);
  const ThreadId derived = track("77", "0", "Overlap Analysis", "Computing");
  threads.label_process(id("77"), id("NPU"));
  range(derived, "Computing", 10);
  convert();
  EXPECT_EQ(trace.operations.size(), 0u);
  EXPECT_EQ(trace.ranges.size(), 1u);
  Process process;
  summary.write({}, {}, {}, "t", process);
  ASSERT_EQ(process.partial.size(), 1u);
  EXPECT_EQ(process.partial[0].substr(0, 20), "1 events of devices ");
}

TEST_F(KinetoNamedTracks, OfAProgramWithTheNameOfADeviceStayOfTheHost) {
  const ThreadId thread = track("1", "1", "tpu", "main");
  range(thread, "aten::add", 0).kind = RangeKind::Operator;
  range(thread, "step", 10);
  convert();
  EXPECT_EQ(trace.operations.size(), 0u);
  EXPECT_EQ(trace.ranges.size(), 2u);
}

}  // namespace
}  // namespace prof::analyzer
