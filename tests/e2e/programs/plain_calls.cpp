// Calls that launch no operation are recorded with their handle and their result, also if the driver refuses them. A
// function that the driver does not have is not found, by any kind of lookup.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 1 api_call(cuCtxSetLimit), 1 api_call(cuCtxEnablePeerAccess), 1 api_call(cuMemPoolSetAttribute), 0 lost, whole
// Expect: log 1: 1 api_call(cuGraphCreate), 2 api_call(cuGraphAddEmptyNode), 1 api_call(cuGraphAddDependencies_v2), 1 api_call(cuGraphDestroyNode)
// Expect: log 1: 1 api_call(cuImportExternalMemory), 1 api_call(cuMemSetAccess), 1 api_call(cuMulticastCreate), text result=801
// Expect: log 1: 1 alloc_call(cuExternalMemoryGetMappedBuffer), no api_call(cuDeviceGetDefaultMemPool)
#include "tests/sim/sim_program.h"

#include <dlfcn.h>
#include <cerrno>

int main() {
  const CUcontext context = sim_program::make_context();
  SIM_CHECK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 20));
  cuCtxEnablePeerAccess(context, 0);
  CUmemoryPool pool = nullptr;
  SIM_CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
  cuuint64_t keep = 1 << 20;
  SIM_CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));

  CUgraph graph = nullptr;
  CUgraphNode first = nullptr, second = nullptr;
  SIM_CHECK(cuGraphCreate(&graph, 0));
  SIM_CHECK(cuGraphAddEmptyNode(&first, graph, nullptr, 0));
  SIM_CHECK(cuGraphAddEmptyNode(&second, graph, nullptr, 0));
  SIM_CHECK(cuGraphAddDependencies(graph, &first, &second, nullptr, 1));
  SIM_CHECK(cuGraphDestroyNode(second));

  // The simulated driver implements none of these.
  errno = 77;
  CUexternalMemory external = nullptr;
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC from{};
  if (cuImportExternalMemory(&external, &from) != CUDA_ERROR_NOT_SUPPORTED) return 1;
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer{};
  CUdeviceptr mapped = 0;
  if (cuExternalMemoryGetMappedBuffer(&mapped, external, &buffer) != CUDA_ERROR_NOT_SUPPORTED) return 2;
  if (cuMemSetAccess(4096, 4096, nullptr, 0) != CUDA_ERROR_NOT_SUPPORTED) return 3;
  if (cuMulticastCreate(nullptr, nullptr) != CUDA_ERROR_NOT_SUPPORTED) return 4;
  if (errno != 77) return 5;

  // Newer than this driver.
  void* found = nullptr;
  if (dlsym(RTLD_DEFAULT, "cuMemcpyWithAttributesAsync") != nullptr) return 6;
  if (cuGetProcAddress("cuMemcpyWithAttributesAsync", &found, 13020, 0, nullptr) == CUDA_SUCCESS) return 7;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr || dlsym(driver, "cuGraphAddNode_v3") != nullptr) return 8;
  return 0;
}
