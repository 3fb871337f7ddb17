// The programs runtime_callbacks*.cpp: a profiler that has callbacks of runtime calls, and registers buffers for
// activity records but enables none.
#pragma once

#include "tests/e2e/programs/linking/runtime_program.h"

#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

namespace runtime_callbacks {

inline int g_launches = 0, g_records = 0;

inline void called_back(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void*) {
  g_launches += domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
}
inline void requested(uint8_t** buffer, size_t* size, size_t* most) {
  static uint8_t memory[1 << 16];
  *buffer = memory;
  *size = sizeof memory;
  *most = 0;
}
inline void completed(CUcontext, uint32_t, uint8_t*, size_t, size_t valid) { g_records += valid != 0; }

inline void* cupti() {
  static void* const library = dlopen("libcupti.so.13", RTLD_NOW);
  if (library == nullptr) _exit(40);
  return library;
}
#define CUPTI(name) reinterpret_cast<decltype(&name)>(dlsym(runtime_callbacks::cupti(), #name))

// `enable(subscriber)` enables the callbacks.
template <class Enable> void start_profiler(Enable enable) {
  CUpti_SubscriberHandle subscriber = nullptr;
  if (CUPTI(cuptiSubscribe)(&subscriber, called_back, nullptr) != CUPTI_SUCCESS) _exit(41);
  if (enable(subscriber) != CUPTI_SUCCESS) _exit(42);
  if (CUPTI(cuptiActivityRegisterCallbacks)(requested, completed) != CUPTI_SUCCESS) _exit(43);
}

// Two copies and ten launches. `between()` runs after the first five launches.
template <class Between> void work(Between between) {
  static const auto stub = [] {};
  const void* const add = runtime_program::kernel(+stub, "add");
  char host[64] = {};
  void* memory = nullptr;
  RUNTIME_CHECK(cudaMalloc(&memory, 64));
  void* arguments[] = {&memory};
  const auto launch_five = [&] {
    for (int i = 0; i < 5; ++i) RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), arguments, 0, nullptr));
  };
  RUNTIME_CHECK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
  launch_five();
  between();
  launch_five();
  RUNTIME_CHECK(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
  RUNTIME_CHECK(cudaDeviceSynchronize());
  CUPTI(cuptiActivityFlushAll)(1);
  std::printf("callbacks of launches %d, records %d\n", g_launches, g_records);
}

}  // namespace runtime_callbacks
