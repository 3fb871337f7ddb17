// PROF_COUNTERS_OF=nvtx:NAME: each outermost range of that name has the values of everything launched inside it,
// including a graph. Nested ranges, other names and other domains have none. A range that overlaps another thread's,
// and one around a capture, are counted.
// Env: PROF_COUNTERS=memory PROF_COUNTERS_OF=nvtx:step*@ SIM="kernel one 5000; kernel two 7000"
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 1 counter_set, 4 counter_values, 1203 kernel_launch, 0 kernel_run, whole, 0 lost
// Expect: log 1: 1 counters(step-1 gpu__time_duration=12000 dram__bytes_read=512), 1 counters(step-2 gpu__time_duration=5000 dram__bytes_read=256)
// Expect: log 1: 1 counters(step-3 gpu__time_duration=17000 dram__bytes_read=768), 1 counters(step-many gpu__time_duration=5975000)
// Expect: log 1: counter counters_overlapped 1, counter counters_captured 1, counter counters_failed 1, counter counters_unread 0
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

#include <thread>

using namespace sim_program;

int main() {
  const CUcontext context = make_context();
  const CUfunction one = kernel("one"), two = kernel("two");
  const CUstream stream = make_stream();
  nvtxDomainHandle_t other = nvtxDomainCreateA("other");
  nvtxEventAttributes_t named{};
  named.version = NVTX_VERSION, named.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  named.messageType = NVTX_MESSAGE_TYPE_ASCII, named.message.ascii = "step-of-a-library";
  nvtxDomainRangePushEx(other, &named);
  nvtxRangePushA("warm");
  SIM_CHECK(launch(one, stream));
  nvtxRangePop();
  nvtxRangePushA("step-1");
  SIM_CHECK(launch(one, stream));
  nvtxRangePushA("step-inside");
  SIM_CHECK(launch(two, nullptr));
  nvtxDomainRangePop(other);
  nvtxRangePop();
  nvtxRangePop();
  SIM_CHECK(launch(two, stream));
  nvtxRangePushA("step-2");
  SIM_CHECK(launch(one, stream));
  std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    nvtxRangePushA("step-elsewhere");
    nvtxRangePop();
  }).join();
  nvtxRangePop();
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  nvtxRangePushA("step-captured");
  SIM_CHECK(launch(one, stream));
  nvtxRangePop();
  CUgraph graph;
  SIM_CHECK(launch(two, stream));
  SIM_CHECK(launch(one, stream));
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  nvtxRangePushA("step-3");
  SIM_CHECK(cuGraphLaunch(exec, stream));
  nvtxRangePop();
  nvtxRangePushA("step-many");
  for (int i = 0; i < 1195; ++i) SIM_CHECK(launch(one, stream));
  nvtxRangePop();
  nvtxRangePushA("step-around-a-capture");
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  nvtxRangePop();
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
}
