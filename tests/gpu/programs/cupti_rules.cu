// Rules of CUPTI alone on which sharing it with another profiler depends.
//   cupti_rules calls CALLBACKS CALLS   CALLBACKS: none, runtime (its whole domain), runtime_launch (one function),
//                                       driver, resource, late_runtime (once there is a context); CALLS: driver (single driver
//                                       calls), both (single driver and runtime calls), kinds (all of both).
//                                       Prints for each operation which record of a call has its correlation id
//   cupti_rules graph SETTINGS          what it returns after the launch of a graph, with some of libprof.so's settings
//   cupti_rules errors                  what cuptiGetLastError returns after each function that libprof.so calls
// CUPTI is CUPTI_BASELINE_LIB or the one that the loader finds.
#include "check.cuh"

#include <cuda.h>

#include <cstring>
#include <map>
#include <string>
#include <thread>

#define CUPTI_FUNCTIONS(F)                                                                                        \
  F(cuptiSubscribe)                                                                                               \
  F(cuptiUnsubscribe) F(cuptiEnableDomain) F(cuptiEnableCallback) F(cuptiGetLastError) F(cuptiGetResultString)    \
      F(cuptiActivityRegisterTimestampCallback) F(cuptiActivityRegisterCallbacks) F(cuptiActivityEnable)          \
          F(cuptiActivityDisable) F(cuptiActivityEnableDriverApi) F(cuptiActivityEnableRuntimeApi)                \
              F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) F(cuptiActivityGetNumDroppedRecords)         \
                  F(cuptiActivitySetAttribute) F(cuptiSetThreadIdType) F(cuptiGetStreamIdEx) F(cuptiGetContextId) \
                      F(cuptiGetDeviceId) F(cuptiGetGraphId) F(cuptiGetGraphNodeId) F(cuptiGetGraphExecId)        \
                          F(cuptiGetVersion)
#include "cupti_alone.cuh"

__global__ void empty_kernel() {}

struct Call {
  bool runtime;
  uint32_t cbid, correlation;
};
static std::vector<Call> g_calls;
static std::vector<std::pair<char, uint32_t>> g_operations;
static bool g_no_buffer = false;

static void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  CUpti_Activity* record = nullptr;
  while (valid != 0 && g_cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      g_operations.push_back({'k', uint32_t{reinterpret_cast<CUpti_ActivityKernel10*>(record)->correlationId}});
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
      g_operations.push_back({'c', uint32_t{reinterpret_cast<CUpti_ActivityMemcpy6*>(record)->correlationId}});
    if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER || record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
      const auto& call = *reinterpret_cast<CUpti_ActivityAPI*>(record);
      g_calls.push_back({record->kind == CUPTI_ACTIVITY_KIND_RUNTIME, call.cbid, call.correlationId});
    }
  }
  g_free.push_back(buffer);
}
static void CUPTIAPI maybe_requested(uint8_t** buffer, size_t* size, size_t* most) {
  if (g_no_buffer)
    *buffer = nullptr, *size = *most = 0;
  else
    requested(buffer, size, most);
}
static void CUPTIAPI called_back(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

static void single_calls(bool runtime) {
  for (const CUpti_CallbackId call :
       {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpy})
    g_cupti.cuptiActivityEnableDriverApi(call, 1);
  if (!runtime) return;
  for (const CUpti_CallbackId call : {
         CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
             CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
#if CUDART_VERSION >= 13000
             CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
#endif
             CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000
       })
    g_cupti.cuptiActivityEnableRuntimeApi(call, 1);
}

static void subscribe(const std::string& callbacks) {
  CUpti_SubscriberHandle subscriber = nullptr;
  std::printf("subscribe %d; ", g_cupti.cuptiSubscribe(&subscriber, called_back, nullptr));
  if (callbacks == "runtime" || callbacks == "late_runtime")
    g_cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  if (callbacks == "driver") g_cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  if (callbacks == "resource") g_cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE);
  if (callbacks == "runtime_launch") {
    g_cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
#if CUDART_VERSION >= 13000
    g_cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000);
#endif
  }
}

static int calls(const std::string& callbacks, const std::string& enabled) {
  const bool late = callbacks == "late_runtime";
  if (callbacks != "none" && !late) subscribe(callbacks);
  if (cuInit(0) != CUDA_SUCCESS) return 102;
  g_cupti.cuptiActivityRegisterCallbacks(requested, completed);
  g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
  if (enabled == "kinds") {
    g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
    g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  } else {
    single_calls(enabled == "both");
  }
  void* memory = nullptr;
  char bytes[64] = {};
  CHECK(cudaMalloc(&memory, sizeof bytes));
  if (late) subscribe(callbacks);
  CHECK(cudaMemcpy(memory, bytes, sizeof bytes, cudaMemcpyHostToDevice));
  for (int i = 0; i < 3; ++i) empty_kernel<<<1, 1>>>();
  CHECK(cudaMemcpy(bytes, memory, sizeof bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaDeviceSynchronize());
  g_cupti.cuptiActivityFlushAll(1);
  const std::lock_guard<std::mutex> lock(g_mutex);
  for (const auto& [what, id] : g_operations) {
    std::printf("%c%u:", what, id);
    for (const Call& call : g_calls)
      if (call.correlation == id) std::printf(" %s%u", call.runtime ? "runtime" : "driver", call.cbid);
    std::printf("; ");
  }
  std::printf("all calls:");
  for (const Call& call : g_calls) std::printf(" %s%u=%u", call.runtime ? "r" : "d", call.cbid, call.correlation);
  std::printf("\n");
  return 0;
}

static void last(const char* after, int result) {
  const CUptiResult error = g_cupti.cuptiGetLastError();
  const CUptiResult again = g_cupti.cuptiGetLastError();
  const char* text = "";
  g_cupti.cuptiGetResultString(error, &text);
  std::printf("%s: returned %d, last error %d %s, read again %d\n", after, result, error, text, again);
}

// Which of our settings makes the launch of a graph leave an error: one letter each of t (timestamp callback), i
// (system thread ids), z (zeroed buffers), d (single driver calls), p (copies between devices), r (runtime calls).
static int graph(const char* settings) {
  const auto has = [&](char letter) { return std::strchr(settings, letter) != nullptr; };
  uint8_t zeroed = 1;
  size_t size = sizeof zeroed;
  if (has('t')) g_cupti.cuptiActivityRegisterTimestampCallback(clock_ns);
  if (has('i')) g_cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (has('z')) g_cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  g_cupti.cuptiActivityRegisterCallbacks(requested, completed);
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
    g_cupti.cuptiActivityEnable(kind);
  if (has('p')) g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2);
  if (has('r')) g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  if (has('d')) {
    single_calls(false);
    g_cupti.cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, 1);
  }
  cudaStream_t stream = nullptr;
  cudaGraph_t made = nullptr;
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < 3; ++i) empty_kernel<<<1, 1, 0, stream>>>();
  CHECK(cudaStreamEndCapture(stream, &made));
  CHECK(cudaGraphInstantiate(&exec, made, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  last(*settings != '-' ? settings : "none", 0);
  return 0;
}

static int errors() {
  last("at the start", 0);
#define TRY(...) last(#__VA_ARGS__, g_cupti.__VA_ARGS__)
  if (cuInit(0) != CUDA_SUCCESS) return 102;
  TRY(cuptiActivityRegisterTimestampCallback(clock_ns));
  TRY(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  uint8_t zeroed = 1;
  size_t size = sizeof zeroed;
  TRY(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed));
  TRY(cuptiActivityRegisterCallbacks(maybe_requested, completed));
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMCPY2})
    TRY(cuptiActivityEnable(kind));
  for (uint32_t cbid = 1; cbid < CUPTI_DRIVER_TRACE_CBID_SIZE; ++cbid) {
    const CUptiResult result = g_cupti.cuptiActivityEnableDriverApi(cbid, 1);
    const CUptiResult error = g_cupti.cuptiGetLastError();
    if (result != CUPTI_SUCCESS || error != CUPTI_SUCCESS)
      std::printf("cuptiActivityEnableDriverApi(%u): returned %d, last error %d\n", cbid, result, error);
  }
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64));
  last("cudaMalloc", 0);
  for (int i = 0; i < 3; ++i) empty_kernel<<<1, 1>>>();
  last("launches", 0);
  size_t dropped = 0;
  TRY(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped));
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  uint32_t id = 0;
  TRY(cuptiGetContextId(context, &id));
  TRY(cuptiGetDeviceId(context, &id));
  TRY(cuptiGetStreamIdEx(context, nullptr, 0, &id));
  TRY(cuptiGetStreamIdEx(nullptr, nullptr, 0, &id));
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  TRY(cuptiGetStreamIdEx(context, stream, 0, &id));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  empty_kernel<<<1, 1, 0, stream>>>();
  last("a captured launch", 0);
  TRY(cuptiGetStreamIdEx(context, stream, 0, &id));
  CHECK(cudaStreamEndCapture(stream, &graph));
  last("cudaStreamEndCapture", 0);
  cudaGraphNode_t node = nullptr;
  size_t nodes = 1;
  CHECK(cudaGraphGetNodes(graph, &node, &nodes));
  uint64_t node_id = 0;
  TRY(cuptiGetGraphId(graph, &id));
  TRY(cuptiGetGraphNodeId(node, &node_id));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  last("cudaGraphInstantiate", 0);
  TRY(cuptiGetGraphExecId(exec, &id));
  CHECK(cudaGraphLaunch(exec, stream));
  last("cudaGraphLaunch", 0);
  CHECK(cudaDeviceSynchronize());
  TRY(cuptiActivityFlushAll(0));
  TRY(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
  TRY(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
  TRY(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL));
  last("cuptiActivityEnable(KERNEL) leaves for the next call", 0);
  g_cupti.cuptiActivityEnable(static_cast<CUpti_ActivityKind>(999));
  g_cupti.cuptiGetVersion(&id);
  last("a failing call, then one that succeeds", 0);
  g_cupti.cuptiActivityEnable(static_cast<CUpti_ActivityKind>(999));
  std::thread([] { last("a failing call of another thread", 0); }).join();
  last("that failing call in its own thread", 0);
  g_no_buffer = true;
  for (int i = 0; i < 40'000; ++i) empty_kernel<<<1, 1>>>();
  last("launches without a buffer", 0);
  CHECK(cudaDeviceSynchronize());
  TRY(cuptiActivityFlushAll(0));
  TRY(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped));
  std::printf("dropped: %zu\n", dropped);
  return 0;
}

int main(int argc, char** argv) {
  open_cupti();
  if (argc == 4 && std::strcmp(argv[1], "calls") == 0) return calls(argv[2], argv[3]);
  if (argc == 2 && std::strcmp(argv[1], "errors") == 0) return errors();
  if (argc == 3 && std::strcmp(argv[1], "graph") == 0) return graph(argv[2]);
  std::fprintf(stderr, "usage: cupti_rules calls CALLBACKS CALLS | errors\n");
  return 2;
}
