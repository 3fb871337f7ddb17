// What becomes of the records in a buffer of CUPTI's: handed over by a fake library, read back from the log as text.
#include "preload/capture/cupti_records.h"
#include "preload/capture/cupti/cupti_buffers.h"
#include "preload/capture/cupti/cupti_layouts.h"
#include "tests/unit/preload/capture/streams/capture_fixture.h"
#include "tests/unit/preload/capture_log.h"

#include <deque>
#include <map>
#include <thread>

namespace prof::test {
namespace {

using namespace preload;

class Records : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    for (const char* kind : kKinds) before_[kind] = log_lines(g_log.path(), kind).size();
  }
  template <class T> T& add(CUpti_ActivityKind kind) {
    static_assert(sizeof(T) <= 256);
    records_.emplace_back();
    T& record = *new (records_.back().bytes) T{};
    record.kind = kind;
    return record;
  }
  KernelRecord& kernel(uint32_t correlation, uint64_t start, uint64_t end, const char* name) {
    auto& record = add<KernelRecord>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    record.correlationId = correlation;
    record.start = start, record.end = end;
    record.name = name;
    record.contextId = 1, record.streamId = 7;
    return record;
  }
  void call(uint32_t tid, uint32_t correlation, uint64_t start, uint64_t length = 1) {
    auto& record = add<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
    record.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    record.threadId = tid, record.correlationId = correlation, record.start = start, record.end = start + length;
  }
  ReadCounts read(uint32_t version = 130000) {
    const EventScope scope;
    next_ = records_.begin();
    end_ = records_.end();
    Cupti api;
    api.cuptiActivityGetNextRecord = [](uint8_t*, size_t, CUpti_Activity** record) {
      if (next_ == end_) return CUPTI_ERROR_MAX_LIMIT_REACHED;
      *record = reinterpret_cast<CUpti_Activity*>((next_++)->bytes);
      return CUPTI_SUCCESS;
    };
    alignas(64) static uint8_t scratch[CuptiBuffers::kScratchBytes];
    uint8_t buffer[8];
    const ReadCounts counts = read_cupti_buffer(api, version, buffer, sizeof buffer, scratch);
    records_.clear();
    return counts;
  }
  // Of this test only: the log is shared by the process.
  std::vector<std::string> lines(const char* kind) {
    std::vector<std::string> all = log_lines(g_log.path(), kind);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before_[kind]));
    return all;
  }

 private:
  struct alignas(8) Bytes {
    uint8_t bytes[256];
  };
  static constexpr const char* kKinds[] = {"kernel_run",    "copy_run",   "fill_run", "graph_run", "driver_calls",
                                           "runtime_calls", "gpu_kernel", "string",   "gpu_stream"};
  std::deque<Bytes> records_;
  static inline std::deque<Bytes>::iterator next_, end_;
  std::map<std::string, size_t> before_;
};

TEST_F(Records, KernelKeepsTimesShapeNameAndGraphNode) {
  KernelRecord& record = kernel(5, 1000, 1500, "records_shape");
  record.gridX = 2, record.gridY = 3, record.gridZ = 4, record.blockX = 32, record.blockY = 2, record.blockZ = 1;
  record.registersPerThread = 40, record.staticSharedMemory = 128, record.dynamicSharedMemory = 256;
  record.localMemoryPerThread = 16, record.deviceId = 1, record.graphNodeId = 3ull << 32 | 9, record.graphId = 3;
  EXPECT_EQ(read().operations, 1u);
  ASSERT_EQ(lines("kernel_run").size(), 1u);
  EXPECT_NE(lines("kernel_run")[0].find("start=1000 duration=500 correlation=5"), std::string::npos);
  EXPECT_NE(lines("kernel_run")[0].find("graph_node=12884901897"), std::string::npos);
  EXPECT_EQ(lines("kernel_run")[0].find("graph="), std::string::npos) << "the node says it";
  ASSERT_EQ(lines("gpu_kernel").size(), 1u);
  EXPECT_NE(lines("gpu_kernel")[0].find("grid_x=2 grid_y=3 grid_z=4 block_x=32 block_y=2 block_z=1 registers=40 "
                                        "static_shared_bytes=128 dynamic_shared_bytes=256 local_bytes=16"),
            std::string::npos);
  ASSERT_EQ(lines("string").size(), 1u);
  EXPECT_NE(lines("string")[0].find("text=records_shape"), std::string::npos);
  ASSERT_EQ(lines("gpu_stream").size(), 1u);
  EXPECT_NE(lines("gpu_stream")[0].find("device=1 context=1 stream=7"), std::string::npos);
}

TEST_F(Records, SameShapeIsDefinedOnce) {
  for (int buffer = 0; buffer < 3; ++buffer) {
    for (uint32_t i = 0; i < 100; ++i) kernel(i, 1000 + i, 2000, "records_once");
    read();
  }
  EXPECT_EQ(lines("kernel_run").size(), 300u);
  EXPECT_EQ(lines("gpu_kernel").size(), 1u);
}

TEST_F(Records, NameIsTheTextNotTheAddress) {
  char name[32] = "records_module_a";
  kernel(1, 10, 20, name);
  read();
  std::strcpy(name, "records_module_b");  // another module loaded at the address of the first one
  kernel(2, 30, 40, name);
  read();
  ASSERT_EQ(lines("string").size(), 2u);
  EXPECT_NE(lines("string")[1].find("records_module_b"), std::string::npos);
  EXPECT_EQ(lines("gpu_kernel").size(), 2u);
}

TEST_F(Records, FieldsALibraryDoesNotHaveYetAreNotRead) {
  KernelRecord& record = kernel(1, 10, 20, "records_old");
  record.graphNodeId = 7, record.graphId = 0xdead;
  read(13);  // CUDA 11.0
  ASSERT_EQ(lines("kernel_run").size(), 1u);
  EXPECT_NE(lines("kernel_run")[0].find("graph_node=7"), std::string::npos);
  EXPECT_EQ(lines("kernel_run")[0].find("graph="), std::string::npos);
}

TEST_F(Records, AGraphThatItsNodeDoesNotNameIsKept) {
  KernelRecord& record = kernel(1, 10, 20, "records_child_graph");
  record.graphNodeId = 3ull << 32 | 9, record.graphId = 4;
  read();
  EXPECT_NE(lines("kernel_run")[0].find("graph_node=12884901897 graph=4"), std::string::npos);
}

TEST_F(Records, AWholeGraphIsOneOperation) {
  GraphRecord& record = add<GraphRecord>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  record.correlationId = 6, record.start = 1000, record.end = 4000, record.contextId = 1, record.streamId = 7,
  record.graphId = 12;
  EXPECT_EQ(read().operations, 1u);
  ASSERT_EQ(lines("graph_run").size(), 1u);
  EXPECT_NE(lines("graph_run")[0].find("start=1000 duration=3000 correlation=6"), std::string::npos);
  EXPECT_NE(lines("graph_run")[0].find("graph=12"), std::string::npos);
}

TEST_F(Records, AGraphThatBeginsOnTheHostStandsWhereItEnds) {
  GraphRecord& record = add<GraphRecord>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  record.start = 1000, record.end = 4000, record.deviceId = record.contextId = INT32_MAX, record.streamId = 77;
  record.endDeviceId = 1, record.endContextId = 3;
  EXPECT_EQ(read().operations, 1u);
  ASSERT_EQ(lines("gpu_stream").size(), 1u);
  EXPECT_NE(lines("gpu_stream")[0].find("device=1 context=3 stream=77"), std::string::npos);
}

TEST_F(Records, RecordsWithoutValidTimesAreCountedAndLeftOut) {
  const uint64_t before = counted(format::LossCounter::gpu_clock_errors);
  kernel(1, 0, 0, "records_unfinished");
  kernel(2, 200, 100, "records_backwards");
  call(1, 3, 0);
  EXPECT_EQ(read().operations, 0u);
  EXPECT_EQ(lines("kernel_run").size(), 0u);
  EXPECT_EQ(counted(format::LossCounter::gpu_clock_errors), before + 3);
}

TEST_F(Records, CopiesAndFillsKeepBytesAndKinds) {
  auto& copy = add<CopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.start = 10, copy.end = 30, copy.bytes = 4096, copy.copyKind = 1, copy.srcKind = 2, copy.dstKind = 3;
  auto& peer = add<PeerRecord>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  peer.start = 40, peer.end = 50, peer.bytes = 512, peer.copyKind = 10, peer.srcDeviceId = 0, peer.dstDeviceId = 1;
  auto& fill = add<FillRecord>(CUPTI_ACTIVITY_KIND_MEMSET);
  fill.start = 60, fill.end = 61, fill.bytes = 64, fill.value = 255, fill.memoryKind = 3;
  EXPECT_EQ(read().operations, 3u);
  ASSERT_EQ(lines("copy_run").size(), 2u);
  EXPECT_NE(lines("copy_run")[0].find("bytes=4096 kind=197121"), std::string::npos) << lines("copy_run")[0];
  EXPECT_NE(lines("copy_run")[1].find("peer=131073"), std::string::npos) << lines("copy_run")[1];
  ASSERT_EQ(lines("fill_run").size(), 1u);
  EXPECT_NE(lines("fill_run")[0].find("bytes=64 value=255 memory_kind=3"), std::string::npos);
}

TEST_F(Records, DriverCallsAreBatchedByThreadAndNoneIsLost) {
  const auto tid_of = [](uint32_t i) { return 100 + i * 7 % 20; };  // more threads than are tracked at once
  const auto length_of = [](uint32_t i) { return i % 100 == 0 ? 0u : 900 + i * 37 % 3000; };
  for (uint32_t i = 0; i < 4000; ++i) call(tid_of(i), i, 1000 + i * 5000, length_of(i));
  EXPECT_EQ(read().calls, 4000u);
  std::set<uint32_t> found;
  for (const std::string& line : lines("driver_calls")) {
    const size_t tid_at = line.find("tid=") + 4;
    const std::string tid = line.substr(tid_at, line.find(' ', tid_at) - tid_at);
    std::istringstream pairs(line.substr(line.find("calls=") + 6));
    for (std::string pair; std::getline(pairs, pair, ';');) {
      const uint64_t moment = std::stoull(pair);
      const auto i = static_cast<uint32_t>(std::stoul(pair.substr(pair.find(':') + 1)));
      EXPECT_EQ(tid, std::to_string(tid_of(i)));
      EXPECT_GE(moment, 1000 + i * 5000) << i;
      EXPECT_LE(moment, 1000 + i * 5000 + length_of(i)) << i;
      EXPECT_TRUE(found.insert(i).second) << i;
    }
  }
  EXPECT_EQ(found.size(), 4000u);
}

TEST_F(Records, CallsThatAreNotInTheirOrderAreKept) {
  for (const uint64_t start : {9000, 5000, 7000, 6000}) call(42, static_cast<uint32_t>(start), start, 500);
  EXPECT_EQ(read().calls, 4u);
  std::string all;
  for (const std::string& line : lines("driver_calls")) all += line + '\n';
  for (const uint64_t start : {9000, 5000, 7000, 6000})
    EXPECT_NE(all.find(':' + std::to_string(start) + ';'), std::string::npos) << all;
}

TEST_F(Records, FullBatchesOfOneThreadTakeOneRecordEach) {
  for (uint32_t i = 0; i < 256; ++i) call(42, i, 1000 + i);
  read();
  EXPECT_EQ(lines("driver_calls").size(), 2u);
}

TEST_F(Records, UnknownKindsAreCounted) {
  const uint64_t before = counted(format::LossCounter::cupti_unknown_records);
  add<CUpti_Activity>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  read();
  EXPECT_EQ(counted(format::LossCounter::cupti_unknown_records), before + 1);
}

TEST_F(Records, EveryStreamIsToldWhatFinishedHoweverManyThereAre) {
  StreamState* const any = stream(1);
  std::vector<StreamState*> states;
  for (uint32_t n = 0; n < 100; ++n) {
    StreamFacts facts;
    facts.key = stream_key(1000 + n, 5), facts.gpu_key = gpu_stream_key(1, 50 + n), facts.context = any->context;
    states.push_back(add_stream(facts));
    launched(states.back(), 10, now_ticks());
  }
  for (uint32_t i = 0; i < 300; ++i) kernel(i, 10 + i, 20 + i, "records_streams").streamId = 50 + i * 37 % 100;
  read();
  for (StreamState* const state : states) EXPECT_EQ(depth_before(state), 7u);
}

TEST(CuptiBuffers, HandsOutEachOnceAndTakesBackOnlyItsOwn) {
  CuptiBuffers pool;
  size_t bytes = 0;
  EXPECT_EQ(pool.take(bytes), nullptr) << "not opened";
  ASSERT_TRUE(pool.open());
  std::map<uint8_t*, size_t> out;
  for (uint32_t i = 0; i < CuptiBuffers::kBuffers; ++i) {
    uint8_t* const buffer = pool.take(bytes);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(bytes, i < CuptiBuffers::kLarge ? CuptiBuffers::kLargeBytes : CuptiBuffers::kSmallBytes)
        << "large ones first";
    out[buffer] = bytes;
  }
  EXPECT_EQ(out.size(), CuptiBuffers::kBuffers);
  EXPECT_EQ(pool.take(bytes), nullptr) << "exhausted";
  for (auto at = out.begin(), next = std::next(at); next != out.end(); at = next++) {
    EXPECT_LE(at->first + at->second, next->first) << "two buffers overlap";
  }
  for (uint8_t* const one : {out.begin()->first, out.rbegin()->first}) {
    std::memset(one, 0xff, 1000);
    EXPECT_FALSE(pool.give_back(one + 8, 0));
    EXPECT_TRUE(pool.give_back(one, 1000));
    EXPECT_FALSE(pool.give_back(one, 0)) << "given back twice";
    EXPECT_EQ(pool.take(bytes), one);
    for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(one[i], 0);
  }
  uint8_t foreign[16];
  EXPECT_FALSE(pool.give_back(foreign, 0));
  EXPECT_EQ(pool.scratch(foreign), nullptr);
  pool.abandon();
}

TEST(CuptiBuffers, ThreadsNeverShareOne) {
  CuptiBuffers pool;
  ASSERT_TRUE(pool.open());
  std::vector<std::thread> threads;
  std::atomic<uint64_t> clashes{0};
  for (uint32_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        size_t bytes = 0;
        uint8_t* const buffer = pool.take(bytes);
        if (buffer == nullptr) continue;
        if (buffer[0] != 0) ++clashes;
        buffer[0] = static_cast<uint8_t>(t);
        if (i % 64 == 0) std::this_thread::yield();
        if (buffer[0] != t) ++clashes;
        pool.give_back(buffer, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0u);
  pool.abandon();
}

TEST(CuptiVersions, BelongToCudaVersions) {
  EXPECT_EQ(cupti_major(12), 0u);  // CUDA 10
  EXPECT_EQ(cupti_major(13), 11u);
  EXPECT_EQ(cupti_major(18), 11u);
  EXPECT_EQ(cupti_major(19), 12u);
  EXPECT_EQ(cupti_major(28), 12u);
  EXPECT_EQ(cupti_major(130000), 13u);
  EXPECT_EQ(cupti_major(140100), 14u);
}

TEST_F(Records, RuntimeCallsThatLaunchAreKeptWithStartAndEndAndOthersAreNot) {
  for (const uint32_t cbid :
       {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020}) {
    auto& record = add<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
    record.cbid = cbid, record.threadId = 5, record.correlationId = 9, record.start = 100, record.end = 300;
  }
  read();
  ASSERT_EQ(lines("runtime_calls").size(), 1u);
  EXPECT_EQ(lines("runtime_calls")[0], "runtime_calls tid=5 calls=100:9;300:9;");
}

TEST_F(Records, RuntimeCallsOfLaterVersionsThatLaunchAreKeptByTheirNumber) {
  uint64_t start = 100;
  // between the two forms of __cudaLaunchKernel and their neighbours
  for (const uint32_t cbid : {504, 505, 506, 507}) {
    auto& record = add<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
    record.cbid = cbid, record.threadId = 5, record.correlationId = cbid, record.start = start, record.end = start + 50;
    start += 100;
  }
  read();
  ASSERT_EQ(lines("runtime_calls").size(), 1u);
  EXPECT_EQ(lines("runtime_calls")[0], "runtime_calls tid=5 calls=200:505;264:505;296:506;350:506;");
}

// A span holds its call and no part of another one, whatever the calls and the gaps take.
TEST_F(Records, SpansOfRuntimeCallsHoldTheirCallAndNoOther) {
  struct Call {
    uint64_t start, end;
  };
  std::map<uint32_t, Call> calls;
  const auto length_of = [](uint32_t i) { return i % 50 == 0 ? 400'000u : i % 7 == 0 ? 0u : 1'900 + i * 37 % 900; };
  const auto gap_of = [](uint32_t i) { return i % 640 < 64 ? i % 3 : i % 11 == 0 ? 60'000 : 130 + i * 53 % 4'000; };
  uint64_t now = 1'000'003;
  for (uint32_t i = 0; i < 6000; ++i) {
    now += gap_of(i);
    const uint32_t id = 10 + 3 * i + (i % 9 == 0 ? 1 : 0);
    auto& record = add<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
    record.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, record.threadId = 5, record.correlationId = id;
    record.start = now, record.end = now + length_of(i);
    calls[id] = {record.start, record.end};
    now = record.end;
  }
  EXPECT_EQ(read().calls, 6000u);
  uint64_t last_end = 0;
  size_t found = 0;
  for (const std::string& line : lines("runtime_calls")) {
    std::istringstream pairs(line.substr(line.find("calls=") + 6));
    for (std::string start, end; std::getline(pairs, start, ';') && std::getline(pairs, end, ';'); ++found) {
      const auto id = static_cast<uint32_t>(std::stoul(start.substr(start.find(':') + 1)));
      ASSERT_EQ(start.substr(start.find(':')), end.substr(end.find(':')));
      ASSERT_TRUE(calls.contains(id)) << id;
      EXPECT_LE(std::stoull(start), calls[id].start) << id;
      EXPECT_GE(std::stoull(end), calls[id].end) << id;
      EXPECT_GE(std::stoull(start), last_end) << id;
      EXPECT_GE(std::stoull(start) + 256, calls[id].start) << id << ": at most a unit early";
      last_end = std::stoull(end);
    }
  }
  EXPECT_EQ(found, 6000u);
}

TEST_F(Records, RuntimeCallsThatAreNotInTheirOrderAreKept) {
  for (const uint64_t start : {9000, 5000, 7000, 6000}) {
    auto& record = add<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
    record.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, record.threadId = 5;
    record.correlationId = static_cast<uint32_t>(start), record.start = start, record.end = start + 500;
  }
  EXPECT_EQ(read().calls, 4u);
  std::string all;
  for (const std::string& line : lines("runtime_calls")) all += line + '\n';
  EXPECT_NE(all.find("9000:9000;9500:9000;"), std::string::npos) << all;
  EXPECT_NE(all.find("5000:5000;5"), std::string::npos) << all;
  EXPECT_NE(all.find("7500:7000;"), std::string::npos) << all;
  EXPECT_NE(all.find("6000:6000;6500:6000;"), std::string::npos) << all;
}

}  // namespace
}  // namespace prof::test
