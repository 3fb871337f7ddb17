// What makes the operations of one stream wait for another stream or for the program: events, words of memory that are
// written and waited for (each condition, 32 and 64 bits, singly and in a batch), a host function, streams of a green
// context, events that a graph records. Every arrow of the trace starts at an operation that had ended. If the log
// cannot know the origin, there is no arrow.
// Env: PROF_CLOCK=sim_now_ns SIM='kernel first 100000; kernel second 20000; host_func 50000; api * 500'
// Expect: status 0
// Expect: log 1: 12 stream_memory, 1 api_call(cuLaunchHostFunc), 2 api_call(cuEventRecordWithFlags), whole, 0 lost
// Expect: log 1: text what=4 address=, text value=4294967297
// Expect: trace valid
// Expect: trace --arrows all: 7 x "ph":"f".*"cat":"dependency".*"pid":0,
// Expect: trace --arrows none: 0 x "cat":"dependency"
// Expect: report idle: 1 x ,host function,1,
#include "tests/sim/sim_program.h"

namespace {

CUfunction g_first, g_second;
CUstream g_one, g_two;

CUdeviceptr word() {
  void* memory = nullptr;
  SIM_CHECK(cuMemAllocHost(&memory, sizeof(uint64_t)));
  *static_cast<uint64_t*>(memory) = 0;
  return reinterpret_cast<CUdeviceptr>(memory);
}

// A kernel in each stream; `order` makes the second wait for the first.
template <class Order> void in_order(Order order) {
  SIM_CHECK(sim_program::launch(g_first, g_one));
  order();
  SIM_CHECK(sim_program::launch(g_second, g_two));
  SIM_CHECK(cuCtxSynchronize());
}

CUstreamBatchMemOpParams wait_op(CUdeviceptr address, uint64_t value) {
  CUstreamBatchMemOpParams op{};
  op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
  op.waitValue.address = address;
  op.waitValue.value64 = value;
  op.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  return op;
}

CUstreamBatchMemOpParams write_op(CUdeviceptr address, uint64_t value) {
  CUstreamBatchMemOpParams op{};
  op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  op.writeValue.address = address;
  op.writeValue.value64 = value;
  return op;
}

void values() {
  const CUdeviceptr narrow = word(), wide = word(), batched = word(), seen = word();
  in_order([&] {
    SIM_CHECK(cuStreamWriteValue32(g_one, narrow, 5, 0));
    SIM_CHECK(cuStreamWaitValue32(g_two, narrow, 4, CU_STREAM_WAIT_VALUE_GEQ));
  });
  in_order([&] {  // the wait comes before the write
    SIM_CHECK(cuStreamWaitValue32_v2(g_two, narrow, 7, CU_STREAM_WAIT_VALUE_EQ));
    SIM_CHECK(cuStreamWriteValue32_v2(g_one, narrow, 7, 0));
  });
  in_order([&] {
    SIM_CHECK(cuStreamWriteValue64(g_one, wide, 1ull << 32 | 1, 0));
    SIM_CHECK(cuStreamWaitValue64(g_two, wide, 1ull << 32, CU_STREAM_WAIT_VALUE_AND));
  });
  in_order([&] {  // until the lowest bit is clear
    SIM_CHECK(cuStreamWriteValue64_v2(g_one, wide, 2, 0));
    SIM_CHECK(cuStreamWaitValue64_v2(g_two, wide, UINT64_MAX - 1, CU_STREAM_WAIT_VALUE_NOR));
  });
  in_order([&] {
    CUstreamBatchMemOpParams write = write_op(batched, 1);
    SIM_CHECK(cuStreamBatchMemOp(g_one, 1, &write, 0));
    CUstreamBatchMemOpParams list[] = {wait_op(batched, 1), write_op(batched, 0)};
    SIM_CHECK(cuStreamBatchMemOp_v2(g_two, 2, list, 0));
  });
  in_order([&] {  // the program's own write
    *reinterpret_cast<uint64_t*>(seen) = 9;
    SIM_CHECK(cuStreamWaitValue64(g_two, seen, 9, CU_STREAM_WAIT_VALUE_GEQ));
  });
}

CUevent event() {
  CUevent made = nullptr;
  SIM_CHECK(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
  return made;
}

void events() {
  const CUevent done = event();
  in_order([&] {
    SIM_CHECK(cuEventRecordWithFlags(done, g_one, CU_EVENT_RECORD_DEFAULT));
    SIM_CHECK(cuStreamWaitEvent(g_two, done, 0));
  });
  // An event that a graph records each time that it is launched.
  SIM_CHECK(cuStreamBeginCapture(g_one, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SIM_CHECK(sim_program::launch(g_first, g_one));
  SIM_CHECK(cuEventRecordWithFlags(done, g_one, CU_EVENT_RECORD_EXTERNAL));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuStreamEndCapture(g_one, &graph));
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, g_one));
  SIM_CHECK(cuStreamWaitEvent(g_two, done, 0));
  SIM_CHECK(sim_program::launch(g_second, g_two));
  SIM_CHECK(cuCtxSynchronize());
}

void host_function() {
  SIM_CHECK(sim_program::launch(g_first, g_one));
  SIM_CHECK(cuLaunchHostFunc(
      g_one, [](void*) {}, nullptr));
  SIM_CHECK(sim_program::launch(g_second, g_one));
  SIM_CHECK(cuCtxSynchronize());
}

void green_context() {
  CUdevice device = 0;
  CUdevResource all, half;
  unsigned groups = 1;
  CUdevResourceDesc description;
  CUgreenCtx green;
  CUstream stream;
  SIM_CHECK(cuCtxGetDevice(&device));
  SIM_CHECK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  SIM_CHECK(cuDevSmResourceSplitByCount(&half, &groups, &all, nullptr, 0, all.sm.smCount / 2));
  SIM_CHECK(cuDevResourceGenerateDesc(&description, &half, 1));
  SIM_CHECK(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
  SIM_CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  const CUevent done = event(), all_done = event();
  SIM_CHECK(sim_program::launch(g_first, stream));
  SIM_CHECK(cuEventRecord(done, stream));
  SIM_CHECK(cuStreamWaitEvent(g_two, done, 0));
  SIM_CHECK(sim_program::launch(g_second, g_two));
  SIM_CHECK(cuStreamSynchronize(g_two));
  // All operations of the context: which of them was last is not recorded.
  SIM_CHECK(sim_program::launch(g_first, stream));
  SIM_CHECK(cuGreenCtxRecordEvent(green, all_done));
  SIM_CHECK(cuStreamWaitEvent(g_two, all_done, 0));
  SIM_CHECK(sim_program::launch(g_second, g_two));
  SIM_CHECK(cuStreamSynchronize(g_two));
}

}  // namespace

int main() {
  sim_program::make_context();
  g_first = sim_program::kernel("first"), g_second = sim_program::kernel("second");
  g_one = sim_program::make_stream(), g_two = sim_program::make_stream();
  values();
  events();
  host_function();
  green_context();
}
