// Which stream and device is a GPU event on, once it is known which process launched it?
#include "analyzer/input/kineto/kineto_streams.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

class KinetoStreamRows : public ::testing::Test {
 protected:
  Trace trace;
  const ImportMark mark{trace};
  const std::string path = "t";
  KinetoThreads threads{trace, mark, path};
  KinetoStreams streams{trace, mark};
  KinetoSummary summary;

  StringId id(std::string_view text) { return trace.strings.intern(text); }
  void process(std::string_view pid) { threads.thread(id(pid), id("1")); }
  void operation(uint32_t number) {
    GpuOperation row;
    row.set_stream(number);
    trace.operations.push_back(row);
  }
  const Stream& stream_of(size_t operation) const { return trace.stream(trace.operations[operation].stream()); }
  static LaunchingProcesses all_of(uint32_t process) {
    LaunchingProcesses launchers;
    launchers.only = process;
    return launchers;
  }
};

TEST_F(KinetoStreamRows, HaveOneNumberForEachKey) {
  const uint32_t first = streams.number({id("0"), 0, 1, 7});
  EXPECT_EQ(streams.number({id("0"), 0, 1, 7}), first);
  EXPECT_NE(streams.number({id("0"), 0, 2, 7}), first);
  const uint32_t other_device = streams.number({id("1"), 1, 1, 7});
  EXPECT_EQ(streams.first_on_device(0), first);
  EXPECT_EQ(streams.first_on_device(1), other_device);
  EXPECT_EQ(streams.first_on_device(2), kNone);
}

TEST_F(KinetoStreamRows, AreOneUnderSeveralPids) {
  process("10");
  operation(streams.number({id("0"), 0, 1, 7}));
  operation(streams.number({id("10"), 0, 1, 7}));
  operation(streams.number({id("0"), 0, 2, 7}));
  streams.assign(all_of(0), summary);
  EXPECT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(trace.streams.size(), 2u);
  EXPECT_EQ(trace.operations[0].stream(), trace.operations[1].stream());
  EXPECT_EQ(stream_of(2).context, 2u);
  EXPECT_EQ(stream_of(2).number, 7u);
}

TEST_F(KinetoStreamRows, OfSeveralProcessesAreApart) {
  process("10");
  process("20");
  const uint32_t number = streams.number({id("0"), 0, 1, 7});
  for (int i = 0; i < 4; ++i) operation(number);
  LaunchingProcesses launchers;
  launchers.operations = {0, 1, 1, kNone};
  streams.assign(launchers, summary);
  EXPECT_EQ(trace.devices.size(), 2u);
  EXPECT_NE(trace.operations[0].stream(), trace.operations[1].stream());
  EXPECT_EQ(trace.process_of(trace.operations[1].stream()), ProcessId{1});
  EXPECT_EQ(trace.operations[3].stream(), trace.operations[1].stream());  // the process that uses it most
  Process process;
  summary.write({}, {}, {}, "t", process);
  EXPECT_EQ(process.fact("changed").substr(0, 12), "1 GPU events");
}

TEST_F(KinetoStreamRows, OfSynchronisationsMayBeNone) {
  process("10");
  SyncEvent row;
  trace.syncs.push_back(row);
  row.waits_for = streams.number({id("0"), 0, 1, 9});
  trace.syncs.push_back(row);
  streams.assign(all_of(0), summary);
  EXPECT_EQ(trace.syncs[0].stream, kNone);
  EXPECT_EQ(trace.syncs[0].process, 0u);
  EXPECT_EQ(trace.streams[trace.syncs[1].waits_for].number, 9u);
}

TEST_F(KinetoStreamRows, OfAnnotationsAreThoseOfTheOperationsBeside) {
  process("10");
  const uint32_t without_context = streams.number({id("0"), 0, 0, 7});
  operation(streams.number({id("0"), 0, 1, 7}));
  trace.gpu_annotations.push_back({0, 1, StreamId{without_context}, {}});
  streams.assign(all_of(0), summary);
  EXPECT_EQ(trace.gpu_annotations[0].stream, trace.operations[0].stream());
  EXPECT_EQ(trace.streams.size(), 1u);
}

TEST_F(KinetoStreamRows, TakeTheirNumbersFromTheNamesOfLanes) {
  process("0");
  threads.name_thread(id("0"), id("1000007"), id("GPU Stream 7"));
  threads.name_thread(id("0"), id("3"), id("CPU Thread 3"));
  operation(streams.number({id("0"), 0, 0, 1000007}));
  streams.name_lanes(threads);
  streams.assign(all_of(0), summary);
  EXPECT_EQ(stream_of(0).number, 7u);
}

TEST_F(KinetoStreamRows, HaveDevicesWithTheHeadersNames) {
  process("10");
  streams.device(0, 1);
  streams.describe_devices({{0, "other", {}}, {1, "GPU of a test", {{"numSms", 132}}}}, threads);
  EXPECT_EQ(trace.devices.at(0).name, "GPU of a test");
  EXPECT_EQ(trace.devices[0].properties.size(), 1u);
}

}  // namespace
}  // namespace prof::analyzer
