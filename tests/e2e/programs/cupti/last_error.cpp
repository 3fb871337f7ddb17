// CUPTI's last error of a thread belongs to the program. Calls of the recorder (of its own, in a call of the program's,
// and while it reads buffers in a flush of the program) leave none, and none of the program's is lost by them.
// Env: SIM="cupti no_graph_ids"
// Link: cupti
// Expect: status 0
// Expect: stderr empty
// Expect: stdout after launches 0
// Expect: stdout after a captured launch 0
// Expect: stdout after a graph 0
// Expect: stdout in the callback 0
// Expect: stdout after a flush 0
// Expect: stdout failed, then launches on a new stream 21
// Expect: stdout read again 0
// Expect: stdout failed, then captured 21
// Expect: stdout the last of two 1
// Expect: stdout of another thread 0
// Expect: stdout of this thread 21
// Expect: log 1: 32 kernel_run, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <cupti.h>

#include <thread>

static int in_callback = 0;
static uint8_t memory[1 << 18];
static void requested(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = memory;
  *size = sizeof memory;
  *most = 0;
}
static bool asks = true;  // in callbacks, which would read an error that the program waits for
static void called_back(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  if (asks) in_callback += cuptiGetLastError();
}

static void completed(CUcontext, uint32_t, uint8_t*, size_t, size_t) {
  if (asks) in_callback += cuptiGetLastError();
}

static void say(const char* when) { printf("%s %d\n", when, cuptiGetLastError()); }
static void fail() { cuptiActivityEnable(CUPTI_ACTIVITY_KIND_FORCE_INT); }  // CUPTI_ERROR_INVALID_KIND
static void fail_otherwise() { cuptiGetVersion(nullptr); }                  // INVALID_PARAMETER, 1

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cuptiSubscribe(&subscriber, called_back, nullptr) != CUPTI_SUCCESS) return 41;
  cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  cuptiActivityRegisterCallbacks(requested, completed);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  const CUstream stream = sim_program::make_stream();
  for (int i = 0; i < 10; ++i) SIM_CHECK(sim_program::launch(function, stream));
  say("after launches");
  CUgraph graph = nullptr;
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  SIM_CHECK(sim_program::launch(function, stream));
  say("after a captured launch");
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  say("after a graph");
  SIM_CHECK(cuStreamSynchronize(stream));
  cuptiActivityFlushAll(1);
  printf("in the callback %d\n", in_callback);
  say("after a flush");

  asks = false;
  fail();
  const CUstream other = sim_program::make_stream();
  for (int i = 0; i < 20; ++i) SIM_CHECK(sim_program::launch(function, other));
  SIM_CHECK(cuStreamSynchronize(other));
  cuptiActivityFlushAll(1);
  say("failed, then launches on a new stream");
  say("read again");
  fail();
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  SIM_CHECK(sim_program::launch(function, stream));
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  say("failed, then captured");
  fail();
  SIM_CHECK(sim_program::launch(function, sim_program::make_stream()));
  fail_otherwise();
  say("the last of two");
  fail();
  std::thread([] { say("of another thread"); }).join();
  say("of this thread");
  SIM_CHECK(cuCtxSynchronize());
}
