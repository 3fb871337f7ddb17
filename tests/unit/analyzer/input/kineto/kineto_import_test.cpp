// How events of a Kineto or Chrome trace are imported, whichever tool wrote it, and to which process operations of a
// merged trace belong.
#include "tests/unit/analyzer/input/kineto/kineto_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::has_line;
using tests::import_text;
using tests::kEverything;
using tests::set_aside;

// prof trace writes the domain of an NVTX range into its arguments.
TEST(KinetoImport, RangesOfADomainGoOnBeingOfIt) {
  const auto trace = import_text(R"([
    {"ph":"X","cat":"user_annotation","name":"step","pid":1,"tid":1,"ts":10,"dur":9,"args":{"domain":"lib\u00e9"}},
    {"ph":"X","cat":"user_annotation","name":"step","pid":1,"tid":1,"ts":20,"dur":9},
    {"ph":"X","cat":"user_annotation","name":"step","pid":1,"tid":1,"ts":30,"dur":9,"args":{"domain":""}},
    {"ph":"B","cat":"user_annotation","name":"step","pid":1,"tid":1,"ts":40,"args":{"domain":"lib\u00e9"}},
    {"ph":"E","cat":"user_annotation","name":"step","pid":1,"tid":1,"ts":49},
    {"ph":"b","cat":"user_annotation","id":7,"name":"copy","pid":1,"tid":1,"ts":50,"args":{"domain":"io"}},
    {"ph":"e","cat":"user_annotation","id":7,"name":"copy","pid":1,"tid":1,"ts":59},
    {"ph":"i","s":"t","cat":"cpu_instant_event","name":"here","pid":1,"tid":1,"ts":60,"args":{"domain":"io"}}])");
  const auto label = [&](const Range& range) {
    const Label& of = trace->labels[index(range.label)];
    return std::string(trace->text(of.domain)) + ":" + std::string(trace->text(of.text));
  };
  std::vector<std::string> ranges;
  for (const Range& range : trace->ranges) ranges.push_back(label(range));
  std::sort(ranges.begin(), ranges.end());
  EXPECT_EQ(ranges, (std::vector<std::string>{":step", ":step", "io:copy", "lib\u00e9:step", "lib\u00e9:step"}));
  ASSERT_EQ(trace->marks.size(), 1u);
  EXPECT_EQ(label(trace->marks[0]), "io:here");
  EXPECT_EQ(trace->ranges[0].label, trace->ranges[3].label) << "one label";
}

TEST(KinetoImport, MapsEveryKindOfEvent) {
  const auto trace = import_text(kEverything);
  EXPECT_TRUE(trace->processes[0].damage.empty());
  has_line(*trace, "zero 1700000000000080000");
  has_line(*trace, "process 10 python3 last 100000");
  has_line(*trace, "  rank = 3");
  has_line(*trace, "  world_size = 8");
  has_line(*trace, "thread 11 main of 10");
  has_line(*trace, "thread 0 profiler overhead of 10");
  has_line(*trace, "  call cudaLaunchKernel kind 0 30000..35000 correlation 3 gpu");
  has_line(*trace,
           "  range step kind 2 0..100000 level 0 children 1 path step external 1 sequence -1 forward 0 flops 0 "
           "dims  types  concrete  stack  other ");
  has_line(*trace, "  range f kind 3 10000..80000 level 1 children 1 path step");
  has_line(
      *trace,
      R"(  range aten::mm "}, {"ph": [ kind 1 20001..70001 level 2 children 0 path step/aten::mm "}, {"ph": [)"
      R"( external 5 sequence 7 forward 1 flops 0 dims [[2, 3], [3, 4]] types ["float", "c10::Half"])"
      R"( concrete ["", "{[\\"] stack "x.py(1): f;y.py(2): g" other "kernel_file":"/tmp/a \"b\".py","num_warps":4)");
  has_line(*trace, "stream 7 context 1 device 0 GPU of a test of 10");
  has_line(*trace, "  k\u00e9 40000..42500 correlation 3 launch 30000 bytes 0 graph 0 4x2x1 128x1x1 32 64");
  has_line(*trace, "  copy 50000..51000 correlation 4 launch -1 bytes 4096 graph 0 30201");
  has_line(*trace, "  fill 52000..53000 correlation 99 launch -1 bytes 8 graph 8589934595 3");
  has_line(*trace, "sync 1 60000..61000 stream none waits for 7 record 2 event 8 call 30000");
  has_line(*trace, "memory 21000 -512 at 140024020467712 of 1024 2048 device 0");
  has_line(*trace, "gpu annotation step 40000..53000 stream 7");
  EXPECT_EQ(set_aside(*trace, "flow"), "1 flow events (arrows; GPU work is joined by correlation id instead)");
  EXPECT_EQ(set_aside(*trace, "profiler itself"), "2 marks and spans of the profiler itself");
  EXPECT_EQ(trace->processes.size(), 1u);
}

TEST(KinetoImport, ReadsTheArrayFormAndOldNames) {
  const auto trace = import_text(R"json([
{"ph":"X","cat":"Operator","name":"aten::add","pid":5,"tid":"5","ts":10,"dur":20,"args":{"Input dims":[[1]],"External id":2}},
{"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":5,"tid":"5","ts":12,"dur":3,"args":{"correlation":1,"external id":2}},
{"ph":"X","cat":"Kernel","name":"add","pid":1,"tid":"stream 7","ts":20,"dur":5,"args":{"correlation":1,"device":1,"stream":7}},
{"ph":"X","cat":"Memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":1,"tid":"stream 7","ts":26,"dur":5,
 "args":{"correlation":2,"device":1,"stream":7,"bytes":16}},
{"ph":"s","cat":"async_cpu_to_gpu","id":1,"pid":5,"tid":"5","ts":12,"name":"launch"})json");
  EXPECT_TRUE(trace->processes[0].damage.empty());  // the closing bracket may be missing
  has_line(*trace, "  call cudaLaunchKernel kind 0 2000..5000 correlation 1 gpu");
  has_line(*trace, "stream 7 context 0 device 1  of 5");
  has_line(*trace, "  add 10000..15000 correlation 1 launch 2000 bytes 0 graph 0 0x0x0 0x0x0 0 0");
  has_line(*trace, "  copy 16000..21000 correlation 2 launch -1 bytes 16 graph 0 10302");
  has_line(*trace,
           "  range aten::add kind 1 0..20000 level 0 children 0 path aten::add external 2 sequence -1 forward 0 "
           "flops 0 dims [[1]] types  concrete  stack  other ");
}

TEST(KinetoImport, ReadsHip) {
  const auto trace = import_text(R"json({"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"hipMemcpyWithStream","pid":9,"tid":9,"ts":1,"dur":6,"args":{"External id":8,
 "stream":"0x0","cid":153,"correlation":117,"src":"0x5567","dst":"0x7fda","size":"2560","kind":"1"}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Host -> Device)","pid":2,"tid":0,"ts":3,"dur":2,"args":{
  "device" : 2, "stream" : 0, "correlation" : 117, "kind" : "HtoD"}}]
})json");
  has_line(*trace, "  call hipMemcpyWithStream kind 1 0..6000 correlation 117 gpu");
  has_line(*trace, "stream 0 context 0 device 2  of 9");
  has_line(*trace, "  copy 2000..4000 correlation 117 launch 0 bytes 0 graph 0 30001");
}

TEST(KinetoImport, KnowsGpuStreamsOfXlaByTheirNames) {
  const auto trace = import_text(R"json({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}},
{"ph":"M","pid":1,"tid":15,"name":"thread_name","args":{"name":"Stream #15(MemcpyD2H)"}},
{"ph":"M","pid":1,"tid":99,"name":"thread_name","args":{"name":"XLA Ops"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":701,"tid":5,"name":"thread_name","args":{"name":"python"}},
{"ph":"X","pid":1,"tid":14,"ts":20.5,"dur":3,"name":"fusion_1","args":{"correlation_id":"77","hlo_op":"fusion.1",
 "kernel_details":"regs:32 static_shared:16 dynamic_shared:64 grid:4,2,1 block:128,1,1 occ_pct:100"}},
{"ph":"X","pid":1,"tid":15,"ts":25,"dur":1,"name":"MemcpyD2H","args":{"correlation_id":"78"}},
{"ph":"X","pid":1,"tid":99,"ts":20,"dur":4,"name":"fusion.1"},
{"ph":"X","pid":701,"tid":5,"ts":0,"dur":30,"name":"PjitFunction(f)"},
{"ph":"X","pid":701,"tid":5,"ts":10,"dur":2,"name":"cuLaunchKernel","args":{"correlation_id":"77"}},{}]})json");
  ASSERT_EQ(trace->processes.size(), 1u);
  ASSERT_EQ(trace->threads.size(), 1u);
  has_line(*trace, "process 701 /host:CPU last 30000");
  has_line(*trace, "thread 5 python of 701");
  has_line(*trace, "  call cuLaunchKernel kind 0 10000..12000 correlation 77 gpu");
  has_line(*trace, "  range PjitFunction(f) kind 2 0..30000 level 0 children 0 path PjitFunction(f)");
  has_line(*trace, "stream 14 context 0 device 0  of 701");
  has_line(*trace, "  fusion_1 20500..23500 correlation 77 launch 10000 bytes 0 graph 0 4x2x1 128x1x1 32 64");
  has_line(*trace, "stream 15 context 0 device 0  of 701");
  has_line(*trace, "  copy 25000..26000 correlation 78 launch -1 bytes 0 graph 0 2");
  has_line(*trace, "gpu annotation fusion.1 20000..24000 stream 14");
}

TEST(KinetoImport, ReadsProton) {
  const auto trace = import_text(R"json({"displayTimeUnit":"us","traceEvents":[
{"ph":"M","pid":0,"tid":0,"name":"process_name","args":{"name":"Trace"}},
{"ph":"M","pid":0,"tid":1000007,"name":"thread_name","args":{"name":"GPU Stream 7"}},
{"ph":"M","pid":0,"tid":3,"name":"thread_name","args":{"name":"CPU Thread 3"}},
{"ph":"X","pid":0,"tid":3,"ts":0.0,"dur":9.5,"name":"step","cat":"scope","args":{"call_stack":["ROOT","step"]}},
{"ph":"s","pid":0,"tid":3,"ts":1,"name":"launch->kernel","cat":"flow","id":4,"bp":"e"},
{"ph":"X","pid":0,"tid":1000007,"ts":5.0,"dur":2.25,"name":"matmul","cat":"kernel","args":{"call_stack":["ROOT","step","matmul"]}}]})json");
  has_line(*trace, "stream 7 context 0 device 0  of 0");
  has_line(*trace, "  matmul 5000..7250 correlation 0 launch -1 bytes 0 graph 0 0x0x0 0x0x0 0 0");
  has_line(*trace,
           "  range step kind 2 0..9500 level 0 children 0 path step external 0 sequence -1 forward 0 flops 0 dims  "
           "types  concrete  stack [\"ROOT\",\"step\"] other ");
}

TEST(KinetoImport, PairsBeginsWithEnds) {
  const auto trace = import_text(R"json([
{"ph":"i","name":"zero","pid":1,"tid":1,"ts":0},{"ph":"E","pid":1,"tid":1,"ts":0},
{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"B","name":"b","pid":1,"tid":1,"ts":2},
{"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"B","name":"c","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":1,"ts":4},
{"ph":"E","pid":1,"tid":1,"ts":9},{"ph":"B","name":"open","pid":1,"tid":1,"ts":10},
{"ph":"b","cat":"x","id":"0x1","name":"r","pid":1,"tid":1,"ts":2},{"ph":"n","cat":"x","id":"0x1","name":"mid","pid":1,"tid":1,"ts":5},
{"ph":"b","cat":"x","id":"0x2","name":"r","pid":1,"tid":2,"ts":3},
{"ph":"e","cat":"x","id":"0x1","name":"r","pid":1,"tid":2,"ts":7},{"ph":"e","cat":"x","id2":{"local":"0x2"},"name":"r","pid":1,"tid":2,"ts":8},
{"ph":"S","cat":"old","id":4,"name":"o","pid":1,"tid":1,"ts":4},{"ph":"F","cat":"old","id":4,"name":"o","pid":1,"tid":1,"ts":6},
{"ph":"C","name":"c","pid":1,"ts":20,"args":{"v":1}},{"ph":"P","name":"p","pid":1,"tid":1,"ts":3},{"ph":"O","pid":1,"id":1,"ts":3},
{"ph":"?","pid":1,"ts":3},{"name":"no phase","pid":1,"ts":3},{"ph":"I","name":"instant","pid":1,"tid":1,"ts":12}])json");
  has_line(*trace, "  range a kind 2 1000..9000 level 0 children 2 path a");
  has_line(*trace, "  range b kind 2 2000..3000 level 1 children 0 path a/b");
  has_line(*trace, "  range c kind 2 3000..4000 level 1 children 0 path a/c");
  has_line(*trace, "  range open kind 2 10000..12000 level 0 children 0 path open unfinished");
  has_line(*trace, "  start-end r kind 2 2000..7000 level 0 children 0 path ");
  has_line(*trace, "  start-end r kind 2 3000..8000 level 0 children 0 path ");
  has_line(*trace, "  start-end o kind 2 4000..6000 level 0 children 0 path ");
  has_line(*trace, "  mark mid kind 2 5000..5000 level 0 children 0 path a");
  has_line(*trace, "  mark instant kind 2 12000..12000 level 0 children 0 path ");
  EXPECT_EQ(set_aside(*trace, "no begin"), "1 ends of ranges that have no begin");
  EXPECT_EQ(set_aside(*trace, "never closed"),
            "1 ranges that are never closed, ended with their caller or with the last event");
  EXPECT_EQ(set_aside(*trace, "counter"), "1 counter samples");
  EXPECT_EQ(set_aside(*trace, "object"), "2 object, sample, memory dump and clock events");
  EXPECT_EQ(set_aside(*trace, "unknown phase"), "2 events of an unknown phase");
}

// Two ranks on two GPUs merged into one file: both start their correlation ids and devices at the same numbers.
TEST(KinetoImport, GivesGpuWorkOfMergedTracesToItsProcess) {
  const auto trace = import_text(R"json({"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":1,"ts":10,"dur":1,"args":{"correlation":1,"External id":11}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":1,"ts":20,"dur":1,"args":{"correlation":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":200,"tid":1,"ts":12,"dur":1,"args":{"correlation":1,"External id":22}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":200,"tid":1,"ts":40,"dur":1,"args":{"correlation":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":200,"tid":1,"ts":50,"dur":1,"args":{"correlation":3}},
{"ph":"X","cat":"kernel","name":"a1","pid":0,"tid":7,"ts":30,"dur":1,"args":{"device":0,"context":1,"stream":7,"correlation":1,"External id":11}},
{"ph":"X","cat":"kernel","name":"b1","pid":1,"tid":7,"ts":31,"dur":1,"args":{"device":1,"context":1,"stream":7,"correlation":1,"External id":22}},
{"ph":"X","cat":"kernel","name":"a2","pid":0,"tid":7,"ts":35,"dur":1,"args":{"device":0,"context":1,"stream":7,"correlation":2}},
{"ph":"X","cat":"kernel","name":"b2","pid":1,"tid":7,"ts":45,"dur":1,"args":{"device":1,"context":1,"stream":7,"correlation":2}},
{"ph":"X","cat":"kernel","name":"b3","pid":1,"tid":7,"ts":55,"dur":1,"args":{"device":1,"context":1,"stream":7,"correlation":3}},
{"ph":"X","cat":"kernel","name":"stray","pid":1,"tid":7,"ts":60,"dur":1,"args":{"device":1,"context":1,"stream":7,"correlation":77}}
]})json");
  ASSERT_EQ(trace->processes.size(), 2u);
  ASSERT_EQ(trace->devices.size(), 2u);
  has_line(*trace, "stream 7 context 1 device 0  of 100");
  has_line(*trace, "stream 7 context 1 device 1  of 200");
  has_line(*trace, "  a1 20000..21000 correlation 1 launch 0 bytes 0 graph 0 0x0x0 0x0x0 0 0");
  has_line(*trace, "  b1 21000..22000 correlation 1 launch 2000 bytes 0 graph 0 0x0x0 0x0x0 0 0");
  has_line(*trace, "  a2 25000..26000 correlation 2 launch 10000 bytes 0 graph 0 0x0x0 0x0x0 0 0");
  has_line(*trace, "  b2 35000..36000 correlation 2 launch 30000 bytes 0 graph 0 0x0x0 0x0x0 0 0");
  has_line(*trace, "  b3 45000..46000 correlation 3 launch 40000 bytes 0 graph 0 0x0x0 0x0x0 0 0");
  has_line(*trace, "  stray 50000..51000 correlation 77 launch -1 bytes 0 graph 0 0x0x0 0x0x0 0 0");
  EXPECT_EQ(trace->processes[0].coverage.operations, 2u);
  EXPECT_EQ(trace->processes[1].coverage.operations, 4u);
}

// The same without external ids: both processes may have launched either kernel. The arrows in the file decide.
TEST(KinetoImport, AsksArrowsWhereCorrelationIdsOfMergedTracesCollide) {
  const std::string events = R"json({"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":1,"ts":10,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":200,"tid":1,"ts":12,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"a1","pid":0,"tid":7,"ts":30,"dur":1,"args":{"device":0,"context":1,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"b1","pid":1,"tid":7,"ts":31,"dur":1,"args":{"device":1,"context":1,"stream":7,"correlation":1}})json";
  const std::string arrows = R"json(,
{"ph":"s","cat":"ac2g","name":"ac2g","id":5,"pid":100,"tid":1,"ts":10},
{"ph":"f","cat":"ac2g","name":"ac2g","id":5,"pid":0,"tid":7,"ts":30,"bp":"e"},
{"ph":"s","cat":"ac2g","name":"ac2g","id":6,"pid":200,"tid":1,"ts":12},
{"ph":"f","cat":"ac2g","name":"ac2g","id":6,"pid":1,"tid":7,"ts":31,"bp":"e"})json";
  for (const size_t stretch : {size_t{200}, kKinetoStretch}) {
    const auto told = import_text(events + arrows + "]}", stretch);
    has_line(*told, "stream 7 context 1 device 0  of 100");
    has_line(*told, "stream 7 context 1 device 1  of 200");
    has_line(*told, "  a1 20000..21000 correlation 1 launch 0 bytes 0 graph 0 0x0x0 0x0x0 0 0");
    has_line(*told, "  b1 21000..22000 correlation 1 launch 2000 bytes 0 graph 0 0x0x0 0x0x0 0 0");
    EXPECT_EQ(set_aside(*told, "several processes"), "");
  }
  // Without arrows, and with arrows whose ids collide as well, the latest launch is used, and that is reported.
  std::string colliding = arrows;
  for (size_t at; (at = colliding.find("\"id\":6")) != std::string::npos;) colliding[at + 5] = '5';
  for (const std::string& without : {std::string(), colliding}) {
    const auto guessed = import_text(events + without + "]}");
    EXPECT_EQ(set_aside(*guessed, "several processes").substr(0, 2), "2 ");
    has_line(*guessed, "stream 7 context 1 device 0  of 200");
  }
}

TEST(KinetoImport, AppendsToAModelOnOneTimeLine) {
  Trace trace;
  import_kineto(TextSource::of_memory(R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":1}])"), "a", trace, {});
  import_kineto(TextSource::of_memory(R"([{"ph":"X","name":"b","pid":2,"tid":1,"ts":990,"dur":1}])"), "b", trace, {});
  ASSERT_EQ(trace.processes.size(), 2u);
  EXPECT_EQ(trace.start_realtime_ns, 990'000u);
  EXPECT_EQ(trace.ranges[trace.threads[0].ranges.first].begin_ns, 10'000);
  EXPECT_EQ(trace.ranges[trace.threads[1].ranges.first].begin_ns, 0);
}

// Ids that several calls share join a launch with what is no kernel.
TEST(KinetoImport, AKernelLaunchWhoseIdBelongsToACopyHasNoKernelAndACopyCallNoBytesOfAKernel) {
  const auto trace = import_text(R"json({"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":1,"dur":5,"args":{"correlation":5}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":10,"dur":5,
 "args":{"correlation":5,"device":0,"stream":7,"bytes":100}},
{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":1,"tid":2,"ts":20,"dur":5,"args":{"correlation":6}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30,"dur":5,
 "args":{"correlation":6,"device":0,"stream":7,"registers per thread":32,"grid":[1,1,1],"block":[1,1,1]}}]})json");
  ASSERT_EQ(trace->host.size(), 2u);
  EXPECT_EQ(trace->host[0].kind(), HostKind::KernelLaunch);
  EXPECT_EQ(trace->host[0].subject, 0u);
  EXPECT_EQ(trace->host[1].kind(), HostKind::MemoryLaunch);
  EXPECT_EQ(trace->host[1].subject, 0u);
}

}  // namespace
}  // namespace prof::analyzer
