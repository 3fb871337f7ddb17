// After each call of the program errno is what the driver's function left, although every function of CUPTI and every
// other driver call that the recorder makes inside it sets errno: in whole recordings, in parts that the program, an
// NVTX range or a number of launches starts and ends, in bursts, with hardware counters and samples, and with stacks.
// After a call that is not of CUDA (NVTX, dlopen, dlsym, fork, signals) errno is what it was before, and after a call
// of CUPTI by a profiler of the program it is that or what CUPTI left.
// Env: PROF_SIGNAL=USR2 PROF_ASSUME_IDEMPOTENT=1 SIM="errno 1000;cupti errno 77"
// Shell: for how in A=1 PROF_START=profiler PROF_START=nvtx:step PROF_START=launches:40 PROF_START=signal PROF_BUDGET=50% PROF_COUNTERS=memory PROF_SAMPLING=overview PROF_STACKS=launch PROF_GRAPHS=whole PROF_UNIFIED=on PROF_REPEAT_KERNEL=inside:5=3 PROF_RING=1M; do env $how PROF_PARTS=0 {run} || { echo $how; exit 1; }; done; echo all
// Link: cupti
// Expect: status 0
// Expect: stdout all
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <cupti.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <thread>

using namespace sim_program;

namespace {

constexpr int kOfDriver = 1000, kOfCupti = 77, kBefore = 5;  // SIM
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME};
int failures = 0;

void expect(const char* what, int found, int wanted) {
  if (found == wanted) return;
  ++failures;
  fprintf(stderr, "%s left errno %d, not %d\n", what, found, wanted);
}

// A call of the driver, which leaves kOfDriver plus its callback id.
#define DRIVER(name, ...) DRIVER_CALL(name, __VA_ARGS__)
#define DRIVER_CALL(name, ...)                                        \
  do {                                                                \
    errno = kBefore;                                                  \
    const CUresult result = name(__VA_ARGS__);                        \
    expect(#name, errno, kOfDriver + CUPTI_DRIVER_TRACE_CBID_##name); \
    check(result, #name);                                             \
  } while (false)
// A call that leaves errno as it was.
#define OTHER(...)                        \
  do {                                    \
    errno = kBefore;                      \
    __VA_ARGS__;                          \
    expect(#__VA_ARGS__, errno, kBefore); \
  } while (false)

// A call of CUPTI by the program.
#define CUPTI(name, ...)                                               \
  do {                                                                 \
    errno = kBefore;                                                   \
    const CUptiResult result = name(__VA_ARGS__);                      \
    if (errno != kOfCupti) expect(#name, errno, kBefore);              \
    if (result != CUPTI_SUCCESS) expect(#name " returned", result, 0); \
  } while (false)

void launches(CUfunction function, CUstream stream, int count) {
  for (int i = 0; i < count; ++i)
    DRIVER(cuLaunchKernel, function, 1u + static_cast<unsigned>(i), 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr);
}

void graph(CUfunction function, CUstream stream) {
  CUgraph made = nullptr;
  CUgraphExec exec = nullptr;
  DRIVER(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  launches(function, stream, 3);
  DRIVER(cuStreamEndCapture, stream, &made);
  DRIVER(cuGraphInstantiateWithFlags, &exec, made, 0);
  for (int i = 0; i < 3; ++i) DRIVER(cuGraphLaunch, exec, stream);
  DRIVER(cuGraphExecDestroy, exec);
  DRIVER(cuGraphDestroy, made);
}

void memory(CUstream stream) {
  CUdeviceptr at = 0;
  static char host[4096];
  DRIVER(cuMemAlloc, &at, sizeof host);
  DRIVER(cuMemcpyHtoDAsync, at, host, sizeof host, stream);
  DRIVER(cuMemsetD8Async, at, 1, sizeof host, stream);
  DRIVER(cuMemcpyDtoH, host, at, sizeof host);
  DRIVER(cuMemFree, at);
}

void profiler(CUfunction function) {
  static uint8_t buffer[1 << 16];
  CUpti_SubscriberHandle subscriber = nullptr;
  uint64_t time = 0;
  size_t dropped = 0;
  const CUpti_CallbackFunc called = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) { errno = 99; };
  const CUpti_BuffersCallbackRequestFunc requested = [](uint8_t** to, size_t* size, size_t* most) {
    *to = buffer;
    *size = sizeof buffer;
    *most = 0;
    errno = 99;
  };
  const CUpti_BuffersCallbackCompleteFunc completed = [](CUcontext, uint32_t, uint8_t*, size_t, size_t) { errno = 99; };
  CUPTI(cuptiSubscribe, &subscriber, called, nullptr);
  CUPTI(cuptiEnableDomain, 1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  CUPTI(cuptiActivityRegisterCallbacks, requested, completed);
  for (const CUpti_ActivityKind kind : kKinds) CUPTI(cuptiActivityEnable, kind);
  CUPTI(cuptiActivityEnableDriverApi, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1);
  launches(function, nullptr, 50);
  DRIVER(cuCtxSynchronize);
  CUPTI(cuptiActivityFlushAll, 0);
  CUPTI(cuptiGetTimestamp, &time);
  CUPTI(cuptiActivityGetNumDroppedRecords, nullptr, 0, &dropped);
  for (const CUpti_ActivityKind kind : kKinds) CUPTI(cuptiActivityDisable, kind);
  CUPTI(cuptiActivityFlushAll, 1);
  CUPTI(cuptiUnsubscribe, subscriber);
}

void round(const CUcontext context) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  DRIVER(cuProfilerStart);
  DRIVER(cuModuleLoadData, &module, "image");
  DRIVER(cuModuleGetFunction, &function, module, "inside");
  OTHER(nvtxRangePushA("step"));
  for (int i = 0; i < 3; ++i) {
    DRIVER(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    launches(function, stream, 200);
    memory(stream);
    OTHER(nvtxMarkA("mark"));
    graph(function, stream);
    DRIVER(cuEventCreate, &event, CU_EVENT_DEFAULT);
    DRIVER(cuEventRecord, event, stream);
    DRIVER(cuEventSynchronize, event);
    DRIVER(cuEventDestroy, event);
    DRIVER(cuStreamSynchronize, stream);
    DRIVER(cuStreamDestroy, stream);
    usleep(20'000);
  }
  std::thread([&] {
    DRIVER(cuCtxSetCurrent, context);
    launches(function, nullptr, 50);
    DRIVER(cuCtxSynchronize);
  }).join();
  profiler(function);
  OTHER(nvtxRangePop());
  DRIVER(cuProfilerStop);
  launches(function, nullptr, 20);
  DRIVER(cuModuleUnload, module);
}

}  // namespace

int main() {
  CUcontext context = nullptr, own = nullptr;
  CUdevice device = 0;
  DRIVER(cuInit, 0);
  DRIVER(cuDeviceGet, &device, 0);
  DRIVER(cuDevicePrimaryCtxRetain, &context, device);
  DRIVER(cuCtxSetCurrent, context);
  for (int i = 0; i < 2; ++i) round(context);
  if (getenv("PROF_START") != nullptr && std::string_view(getenv("PROF_START")) == "signal") OTHER(raise(SIGUSR2));
  round(context);
  void* cupti = nullptr;
  OTHER(cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD));
  if (cupti != nullptr) OTHER(dlsym(cupti, "cuptiSubscribe"));
  pid_t child = 0;
  OTHER(child = fork());
  if (child == 0) _exit(failures != 0);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) ++failures;
  DRIVER(cuCtxCreate, &own, nullptr, 0, device);
  launches(kernel("inside"), nullptr, 3);
  DRIVER(cuCtxSynchronize);
  DRIVER(cuCtxDestroy, own);
  DRIVER(cuDevicePrimaryCtxRelease, device);
  return failures != 0;
}
