// Another profiler has callbacks of runtime calls, before the first context. CUPTI then records no driver call inside
// of a runtime call. The record of the runtime call leads from the operation to its launch, and the profiler, which did
// not enable those records, gets none.
// Link: runtime
// Expect: status 0
// Expect: stdout callbacks of launches 20, records 0
// Expect: stderr empty
// Expect: log 1: 10 kernel_launch, 10 kernel_run, 2 copy_run, whole, 0 lost
// Expect: report gpu-trace: coverage: launches 12, with GPU time 12; GPU operations 12, with launch 12; lost records 0
#include "tests/e2e/programs/linking/runtime_program.h"

#include <cupti.h>
#include <dlfcn.h>

static void add_stub() {}
static int launches = 0, records = 0;
static void called_back(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void*) {
  launches += domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
}
static void requested(uint8_t** buffer, size_t* size, size_t* most) {
  static uint8_t memory[1 << 16];
  *buffer = memory;
  *size = sizeof memory;
  *most = 0;
}
static void completed(CUcontext, uint32_t, uint8_t*, size_t, size_t valid) { records += valid != 0; }

int main() {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOW);
  if (cupti == nullptr) return 40;
#define CUPTI(name) reinterpret_cast<decltype(&name)>(dlsym(cupti, #name))
  CUpti_SubscriberHandle subscriber = nullptr;
  if (CUPTI(cuptiSubscribe)(&subscriber, called_back, nullptr) != CUPTI_SUCCESS) return 41;
  if (CUPTI(cuptiEnableDomain)(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) != CUPTI_SUCCESS) return 42;
  if (CUPTI(cuptiActivityRegisterCallbacks)(requested, completed) != CUPTI_SUCCESS) return 43;
  const void* const add = runtime_program::kernel(add_stub, "add");
  char host[64] = {};
  void* memory = nullptr;
  RUNTIME_CHECK(cudaMalloc(&memory, 64));
  void* arguments[] = {&memory};
  RUNTIME_CHECK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
  for (int i = 0; i < 10; ++i) RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), arguments, 0, nullptr));
  RUNTIME_CHECK(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
  RUNTIME_CHECK(cudaDeviceSynchronize());
  CUPTI(cuptiActivityFlushAll)(1);
  std::printf("callbacks of launches %d, records %d\n", launches, records);
}
