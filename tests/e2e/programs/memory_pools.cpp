// From which pool and device memory comes: default pools, a pool that was made the current one, a pool that the call
// names, a pool on another device than its stream; plain allocations by the current context. Allocations of a graph
// belong to the graph.
// Expect: status 0
// Expect: log 1: 3 memory_pool, 2 api_call(cuMemPoolCreate), 1 api_call(cuDeviceSetMemPool), 1 api_call(cuMemPoolDestroy), whole, 0 lost
// Expect: log 1: text origin=1 location=1 place=0, text origin=2 location=1 place=0, text origin=2 location=1 place=1
// Expect: report memory: ^,[^,]*,\d+,device 0,,CUDA calls,6,7350,5,4350,0,6100,\d+,\d+,3000,0,$
// Expect: report memory: ^,[^,]*,\d+,device 0,none,CUDA calls,2,3050,1,50,0,3050,\d+,\d+,3000,0,$
// Expect: report memory: ^,[^,]*,\d+,device 0,default,CUDA calls,2,1200,2,1200,0,1000,\d+,\d+,0,0,$
// Expect: report memory: ^,[^,]*,\d+,device 0,pool 1,CUDA calls,2,3100,2,3100,0,3100,\d+,\d+,0,0,$
// Expect: report memory: ^,[^,]*,\d+,device 1,,CUDA calls,2,4500,1,500,0,4000,\d+,\d+,4000,0,$
// Expect: report memory: ^,[^,]*,\d+,device 1,none,CUDA calls,1,4000,0,0,0,4000,\d+,\d+,4000,0,$
// Expect: report memory: ^,[^,]*,\d+,device 1,pool 2,CUDA calls,1,500,1,500,0,500,\d+,\d+,0,0,$
// Expect: report memory-ops --group-by call,pool: ^,[^,]*,\d+,device 0,1,3000,3000,3000,49.2,3000,cuMemAlloc_v2,none$
// Expect: report memory-ops --group-by call,pool:
//   ^,[^,]*,\d+,device 0,1,100,100,100,1.6,0,cuMemAllocFromPoolAsync,pool 1$
// Expect: report memory-ops --group-by call,pool: ^,[^,]*,\d+,device 0,1,3000,3000,3000,49.2,0,cuMemAllocAsync,pool 1$
// Expect: report memory-ops --group-by call,pool: ^,[^,]*,\d+,device 0,2,1200,1000,0,0.0,0,cuMemAllocAsync,default$
// Expect: report memory-trace: 6 x ^\d+,,[^,]*,\d+,\d+,device [01],\w*.*,cuMemAlloc(Async|FromPoolAsync),\d+,,
// Expect: report memory-trace: 1 x ^\d+,,[^,]*,\d+,\d+,device 0,pool 1,cuMemFreeAsync,,3000,3100,100,\d+,
#include "tests/sim/sim_program.h"

static CUdeviceptr allocate(size_t bytes, CUstream stream, CUmemoryPool pool = nullptr) {
  CUdeviceptr memory = 0;
  SIM_CHECK(pool == nullptr ? cuMemAllocAsync(&memory, bytes, stream)
                            : cuMemAllocFromPoolAsync(&memory, bytes, pool, stream));
  return memory;
}

static CUmemoryPool make_pool(int device) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemoryPool pool = nullptr;
  SIM_CHECK(cuMemPoolCreate(&pool, &properties));
  return pool;
}

int main() {
  sim_program::make_context();
  const CUstream stream = sim_program::make_stream();
  sim_program::allocate(3000);  // kept
  SIM_CHECK(cuMemFreeAsync(allocate(1000, stream), stream));

  const CUmemoryPool chosen = make_pool(0);
  SIM_CHECK(cuDeviceSetMemPool(0, chosen));
  const CUdeviceptr first = allocate(3000, stream), second = allocate(100, stream, chosen);
  SIM_CHECK(cuMemFreeAsync(first, stream));
  SIM_CHECK(cuMemFreeAsync(second, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  SIM_CHECK(cuMemPoolDestroy(chosen));  // the default pool is the device's current one again
  SIM_CHECK(cuMemFreeAsync(allocate(200, stream), stream));

  CUgraph graph = nullptr;
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  SIM_CHECK(cuMemFreeAsync(allocate(50, stream), stream));
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  SIM_CHECK(cuGraphDestroy(graph));

  const CUmemoryPool other = make_pool(1);  // its handle may be that of the first
  SIM_CHECK(cuMemFreeAsync(allocate(500, stream, other), stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  SIM_CHECK(cuCtxSynchronize());
  sim_program::make_context(1);
  sim_program::allocate(4000);  // kept
}
