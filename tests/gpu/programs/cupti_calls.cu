// CUPTI alone, with GPU times of kernels enabled: the cost of each way to find the launch of a kernel, measured in turn
// in one process.
//   cupti_calls cost [own]   ns per launch, medians of 60 batches of 500 each: kernels alone; with a record of each
//                            driver call that launches; of each runtime call; with external ids, pushed once for all or
//                            around every launch. own: a timestamp callback is registered
//   cupti_calls ids          with kernels, copies and fills alone: a known order of calls on one stream, and the
//                            correlation ids of the operations
// Prints words and values. CUPTI is CUPTI_BASELINE_LIB or the one that the loader finds.
#include "check.cuh"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#define CUPTI_FUNCTIONS(F)                                                                                                                   \
  F(cuptiActivityRegisterTimestampCallback)                                                                                                 \
  F(cuptiActivityRegisterCallbacks)                                                                                                         \
  F(cuptiActivityEnable)                                                                                                                    \
  F(cuptiActivityDisable)                                                                                                                   \
  F(cuptiActivityEnableDriverApi)                                                                                                           \
  F(cuptiActivityEnableRuntimeApi) F(cuptiActivityPushExternalCorrelationId) F(cuptiActivityPopExternalCorrelationId) F(cuptiActivityFlushAll) \
      F(cuptiActivityGetNextRecord)
#include "cupti_alone.cuh"

__global__ void empty_kernel() {}

struct Operation {
  uint64_t start;
  uint32_t id;
  char what;  // k, c, f: kernel, copy, fill
};
static std::vector<Operation> g_operations;
static bool g_keep = false;

template <class Record> static void keep(const CUpti_Activity* record, char what) {
  const auto& r = *reinterpret_cast<const Record*>(record);
  g_operations.push_back({r.start, r.correlationId, what});
}
static void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  CUpti_Activity* record = nullptr;
  while (g_keep && valid != 0 && g_cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) keep<CUpti_ActivityKernel10>(record, 'k');
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) keep<CUpti_ActivityMemcpy6>(record, 'c');
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) keep<CUpti_ActivityMemset4>(record, 'f');
  }
  g_free.push_back(buffer);
}
static void runtime_calls(bool on) {
  for (const CUpti_CallbackId call : {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
#if CUDART_VERSION >= 13000
                                      CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
#endif
                                      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000})
    g_cupti.cuptiActivityEnableRuntimeApi(call, on);
}
static void driver_calls(bool on) {
  for (const CUpti_CallbackId call : {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx})
    g_cupti.cuptiActivityEnableDriverApi(call, on);
}
static void external_once(bool on) {
  uint64_t popped = 0;
  if (on) {
    g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    g_cupti.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN, 1);
  } else {
    g_cupti.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN, &popped);
    g_cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  }
}
static bool g_around = false;
static void external_around(bool on) {
  g_around = on;
  on ? g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) : g_cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
}

static double batch_ns(int launches) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) {
    uint64_t popped = 0;
    if (g_around) g_cupti.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN, static_cast<uint64_t>(i));
    empty_kernel<<<1, 32>>>();
    if (g_around) g_cupti.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN, &popped);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  CHECK(cudaDeviceSynchronize());
  return took.count() / launches;
}

static int cost() {
  constexpr int kBatches = 60, kLaunches = 500;
  struct Way {
    const char* name;
    void (*set)(bool);
    std::vector<double> ns;
  } ways[] = {{"kernels_alone", nullptr, {}}, {"driver_calls", driver_calls, {}}, {"runtime_calls", runtime_calls, {}},
              {"external_id_once", external_once, {}}, {"external_id_around", external_around, {}}};
  CHECK(cudaFree(nullptr));
  g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  for (int batch = -3; batch < kBatches; ++batch) {
    for (Way& way : ways) {
      if (way.set != nullptr) way.set(true);
      batch_ns(50);
      const double ns = batch_ns(kLaunches);
      if (batch >= 0) way.ns.push_back(ns);
      if (way.set != nullptr) way.set(false);
    }
  }
  for (Way& way : ways) {
    std::sort(way.ns.begin(), way.ns.end());
    std::printf("%s %.0f ", way.name, way.ns[kBatches / 2]);
  }
  std::puts("");
  return 0;
}

static int ids() {
  void* device;
  char* host;
  cudaStream_t stream;
  cudaEvent_t event;
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaMallocHost(reinterpret_cast<void**>(&host), 4096));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&event));
  empty_kernel<<<1, 32, 0, stream>>>();
  CHECK(cudaStreamSynchronize(stream));
  g_keep = true;
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
    g_cupti.cuptiActivityEnable(kind);
  const auto launch = [&](int count) {
    for (int i = 0; i < count; ++i) empty_kernel<<<1, 32, 0, stream>>>();
  };
  launch(5);
  CHECK(cudaEventRecord(event, stream));
  launch(2);
  CHECK(cudaMemsetAsync(device, 0, 64, stream));
  cudaStreamQuery(stream);
  launch(2);
  CHECK(cudaMemcpyAsync(device, host, 64, cudaMemcpyHostToDevice, stream));
  launch(2);
  empty_kernel<<<1, 4096, 0, stream>>>();  // fails
  cudaGetLastError();
  launch(2);
  CHECK(cudaMemcpy(host, device, 64, cudaMemcpyDeviceToHost));
  launch(2);
  CHECK(cudaStreamSynchronize(stream));
  g_cupti.cuptiActivityFlushAll(1);
  std::sort(g_operations.begin(), g_operations.end(), [](const Operation& a, const Operation& b) { return a.start < b.start; });
  for (const Operation& operation : g_operations) std::printf("%c%u ", operation.what, operation.id);
  std::puts("");
  return 0;
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "cost";
  open_cupti();
  if (argc > 2) g_cupti.cuptiActivityRegisterTimestampCallback(clock_ns);
  g_cupti.cuptiActivityRegisterCallbacks(requested, completed);
  return std::strcmp(mode, "ids") == 0 ? ids() : cost();
}
