// Streams that wait for events of others, the program that waits for the last one, and the live depth of the next
// launch on each. The kernel's name says what was waited for. Without GPU times and marks, nothing else lowers the
// depth.
// Env: PROF_GPU=off PROF_DEPTH=counts SIM='kernel * 100000'
// Expect: status 0
// Expect: log 1: 1 kernel_launch(pair depth=0), 1 kernel_launch(empty depth=0), 1 kernel_launch(chain depth=0),
//    1 kernel_launch(chain_middle depth=1), whole, 0 lost
// Expect: log 1: 1 kernel_launch(again depth=3), 1 kernel_launch(many depth=0), 1 kernel_launch(before depth=2)
// Expect: log 1: 1 kernel_launch(captured depth=2), 1 kernel_launch(external depth=3), 1 kernel_launch(node depth=4),
//    1 kernel_launch(shared depth=2)
// Expect: log 1: 1 kernel_launch(other_device depth=0), 1 kernel_launch(legacy depth=0),
//    1 kernel_launch(next_stream depth=2)
#include "tests/sim/sim_program.h"

#include <initializer_list>

namespace {

using sim_program::kernel, sim_program::make_stream;

CUfunction g_kernel;
CUstream g_a, g_b, g_c;

CUevent event() {
  CUevent made = nullptr;
  SIM_CHECK(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
  return made;
}

void launch(CUstream stream, int times = 1, CUfunction function = g_kernel) {
  for (int i = 0; i < times; ++i) SIM_CHECK(sim_program::launch(function, stream));
}

// `waiting` waits for all that `awaited` has.
void join(CUstream waiting, CUstream awaited, CUevent with = event()) {
  SIM_CHECK(cuEventRecord(with, awaited));
  SIM_CHECK(cuStreamWaitEvent(waiting, with, 0));
}

// The launch whose depth is expected. All work is known to have finished afterwards.
void check(const char* name, CUstream stream) {
  launch(stream, 1, kernel(name));
  for (CUstream each : {g_a, g_b, g_c, stream}) SIM_CHECK(cuStreamSynchronize(each));
}

void waits() {
  launch(g_a, 3);
  join(g_b, g_a);
  launch(g_b);
  const CUevent last = event();
  SIM_CHECK(cuEventRecord(last, g_b));
  SIM_CHECK(cuEventSynchronize(last));
  check("pair", g_a);

  launch(g_a, 3);
  join(g_b, g_a);
  SIM_CHECK(cuStreamSynchronize(g_b));
  check("empty", g_a);

  launch(g_a, 3);
  join(g_b, g_a);
  launch(g_b);
  join(g_c, g_b);
  launch(g_b);
  SIM_CHECK(cuStreamSynchronize(g_c));
  launch(g_b, 1, kernel("chain_middle"));
  check("chain", g_a);

  const CUevent twice = event();
  launch(g_a, 2);
  join(g_b, g_a, twice);
  launch(g_a, 3);
  SIM_CHECK(cuEventRecord(twice, g_a));
  SIM_CHECK(cuStreamSynchronize(g_b));
  check("again", g_a);

  for (int i = 0; i < 30; ++i) {
    launch(g_a);
    join(g_b, g_a);
    launch(g_b);
  }
  SIM_CHECK(cuStreamSynchronize(g_b));
  check("many", g_a);

  launch(g_a, 2);
  launch(g_b);
  SIM_CHECK(cuEventRecord(last, g_b));
  join(g_b, g_a);
  SIM_CHECK(cuEventSynchronize(last));
  check("before", g_a);
}

void captures() {
  const CUevent fork = event(), back = event();
  CUgraph graph = nullptr;
  launch(g_a, 2);
  SIM_CHECK(cuEventRecord(fork, g_a));
  SIM_CHECK(cuStreamBeginCapture(g_a, CU_STREAM_CAPTURE_MODE_RELAXED));
  join(g_b, g_a, fork);
  launch(g_b);
  join(g_a, g_b, back);
  SIM_CHECK(cuStreamEndCapture(g_a, &graph));
  launch(g_b);
  SIM_CHECK(cuStreamSynchronize(g_b));
  check("captured", g_a);

  // Launches of a graph record the event as well: a result may be of one of these.
  const CUevent external = event();
  launch(g_a, 2);
  SIM_CHECK(cuEventRecord(external, g_a));
  SIM_CHECK(cuStreamBeginCapture(g_b, CU_STREAM_CAPTURE_MODE_RELAXED));
  SIM_CHECK(cuEventRecordWithFlags(external, g_b, CU_EVENT_RECORD_EXTERNAL));
  SIM_CHECK(cuStreamEndCapture(g_b, &graph));
  launch(g_a);
  SIM_CHECK(cuEventRecord(external, g_a));
  SIM_CHECK(cuEventSynchronize(external));
  check("external", g_a);

  const CUevent in_node = event();
  CUgraphNode node = nullptr;
  SIM_CHECK(cuGraphCreate(&graph, 0));
  launch(g_a, 4);
  SIM_CHECK(cuEventRecord(in_node, g_a));
  SIM_CHECK(cuGraphAddEventRecordNode(&node, graph, nullptr, 0, in_node));
  SIM_CHECK(cuEventSynchronize(in_node));
  check("node", g_a);

  const CUevent shared = event();
  CUipcEventHandle handle;
  launch(g_a, 2);
  SIM_CHECK(cuEventRecord(shared, g_a));
  cuIpcGetEventHandle(&handle, shared);  // the simulated driver refuses; another would not
  SIM_CHECK(cuEventSynchronize(shared));
  check("shared", g_a);
}

void others() {
  join(nullptr, g_a);
  launch(g_a, 3);
  join(nullptr, g_a);
  SIM_CHECK(cuStreamSynchronize(nullptr));
  check("legacy", g_a);

  // A new stream in the place of a destroyed one. Its waits are not those of the old one.
  CUstream old = make_stream();
  launch(old);
  launch(g_a, 2);
  join(old, g_a);
  SIM_CHECK(cuStreamDestroy(old));
  CUstream next = make_stream();
  launch(next);
  SIM_CHECK(cuStreamSynchronize(next));
  check("next_stream", g_a);

  CUcontext here = nullptr, there = nullptr;
  CUdevice device = 0;
  SIM_CHECK(cuCtxGetCurrent(&here));
  SIM_CHECK(cuDeviceGet(&device, 1));
  SIM_CHECK(cuDevicePrimaryCtxRetain(&there, device));
  SIM_CHECK(cuCtxSetCurrent(there));
  const CUstream remote = make_stream();
  const CUevent done = event();
  launch(remote, 3);
  SIM_CHECK(cuEventRecord(done, remote));
  SIM_CHECK(cuCtxSetCurrent(here));
  SIM_CHECK(cuStreamWaitEvent(g_a, done, 0));
  SIM_CHECK(cuStreamSynchronize(g_a));
  SIM_CHECK(cuCtxSetCurrent(there));
  check("other_device", remote);
  SIM_CHECK(cuCtxSetCurrent(here));
}

}  // namespace

int main() {
  sim_program::make_context();
  g_kernel = kernel("work");
  g_a = make_stream(), g_b = make_stream(), g_c = make_stream();
  waits();
  captures();
  others();
}
