// Green contexts: their streams belong to the device on which they were made, whichever context is current. A later
// context that has the handle of a destroyed one is another context.
// Expect: status 0
// Expect: log 1: 3 context, 4 stream, 7 kernel_launch, 7 kernel_run, 2 api_call(cuGreenCtxCreate), 2 api_call(cuGreenCtxDestroy), whole, 0 lost
// Expect: trace: launches 7, with GPU time 7; GPU operations 7, with launch 7
// Expect: report gpu-trace: 3 x ,Simulated H200 \(1\),3,,(7|13),.*,in_green,
// Expect: report gpu-trace: 2 x ,Simulated H200 \(0\),4,,13,.*,in_green,
// Expect: report gpu-trace: 2 x ,Simulated H200 \(0\),1,,7,.*,plain,
#include "tests/sim/sim_program.h"

#include <initializer_list>

static CUgreenCtx make_green(CUdevice device) {
  CUdevResource all, half;
  unsigned groups = 1;
  CUdevResourceDesc description;
  CUgreenCtx green;
  SIM_CHECK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  SIM_CHECK(cuDevSmResourceSplitByCount(&half, &groups, &all, nullptr, 0, all.sm.smCount / 2));
  SIM_CHECK(cuDevResourceGenerateDesc(&description, &half, 1));
  SIM_CHECK(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
  return green;
}

int main() {
  const CUcontext plain = sim_program::make_context();
  const CUfunction function = sim_program::kernel("plain"), green_function = sim_program::kernel("in_green");
  SIM_CHECK(sim_program::launch(function));
  for (const CUdevice device : {1, 0}) {
    const CUgreenCtx green = make_green(device);
    CUstream stream;
    CUcontext context;
    SIM_CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    SIM_CHECK(cuCtxFromGreenCtx(&context, green));
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(sim_program::launch(green_function, stream));
    if (device == 1) SIM_CHECK(sim_program::launch(green_function));  // its own default stream
    SIM_CHECK(sim_program::launch(green_function, stream));
    SIM_CHECK(cuStreamSynchronize(stream));
    SIM_CHECK(cuStreamDestroy(stream));
    SIM_CHECK(cuCtxSetCurrent(plain));
    SIM_CHECK(cuGreenCtxDestroy(green));
  }
  SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
}
