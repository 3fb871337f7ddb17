// Arguments of calls: bytes and their place, flags, advice, the file of a module. They are separate records next to the
// recorded calls. A call without such arguments has no such record.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 17 call_arguments, 2 api_call(cuEventCreate), 2 api_call(cuStreamWaitEvent), 2 api_call(cuStreamBeginCapture_v2), whole, 0 lost
// Expect: log 1: text flags=2, text flags=4, text bytes=4096 target=9, text bytes=4096 target=2, text file="/some/where/module.cubin"
// Expect: log 1: 2 api_call(cuStreamCreate), 1 alloc_call(cuMemAllocManaged), 1 alloc_call(cuMemHostAlloc)
// Expect: trace: "name":"cuMemPrefetchAsync".*"args":{.*"bytes":4096,"target":"device 1"
// Expect: trace: "name":"cuMemAdvise".*"args":{.*"bytes":4096,"target":"host","advice":"set preferred location"
// Expect: trace: "name":"cuMemDiscardBatchAsync".*"args":{.*"bytes":12288
// Expect: trace: "name":"cuModuleLoad".*"args":{.*"file":"/some/where/module.cubin"
// Expect: trace: "name":"cuEventCreate".*"args":{.*"flags":2
// Expect: report api-trace: ,cuMemAdvise_v2,.*,"4096 B, host, set preferred location",
// Expect: report api-trace: ,cuStreamCreate,.*,flags 0x1,
// Expect: trace: "name":"cuMemPoolCreate".*"args":{.*"bytes":1048576,"target":"device 0"
// Expect: trace: "name":"cuMemPoolSetAttribute".*"args":{.*"bytes":65536,"attribute":"release threshold"
// Expect: trace: "name":"cuCtxSetLimit".*"args":{.*"bytes":4096,"limit":"stack size"
// Expect: trace: "name":"cuStreamBeginCapture".*"args":{.*"mode":"relaxed"
// Expect: trace: "name":"cuStreamWaitEvent".*"args":{.*"flags":1
// Expect: trace: "name":"cuEventRecordWithFlags".*"args":{.*"flags":1
// Expect: report api-trace: ,cuMemPoolTrimTo,.*,4096 B,
// Expect: report api-trace: ,cuCtxSetLimit,.*,"8192 B, malloc heap size",
// Expect: trace valid
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  CUevent with_times, without;
  SIM_CHECK(cuEventCreate(&with_times, CU_EVENT_DEFAULT));
  SIM_CHECK(cuEventCreate(&without, CU_EVENT_DISABLE_TIMING));
  CUstream blocking, stream;
  SIM_CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  SIM_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* pinned;
  SIM_CHECK(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_WRITECOMBINED));
  CUdeviceptr managed;
  SIM_CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  CUmemLocation device{}, host{};
  device.type = CU_MEM_LOCATION_TYPE_DEVICE, device.id = 1;
  host.type = CU_MEM_LOCATION_TYPE_HOST;
  SIM_CHECK(cuMemPrefetchAsync(managed, 4096, device, 0, stream));
  SIM_CHECK(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
  SIM_CHECK(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
  CUdeviceptr addresses[] = {managed, managed};
  size_t sizes[] = {4096, 8192};
  SIM_CHECK(cuMemDiscardBatchAsync(addresses, sizes, 2, 0, stream));
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.maxSize = 1 << 20;
  CUmemoryPool pool;
  SIM_CHECK(cuMemPoolCreate(&pool, &properties));
  cuuint64_t threshold = 65536;
  SIM_CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  SIM_CHECK(cuMemPoolTrimTo(pool, 4096));
  SIM_CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  SIM_CHECK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 8192));
  SIM_CHECK(cuEventRecord(without, stream));
  SIM_CHECK(cuStreamWaitEvent(blocking, without, CU_EVENT_WAIT_DEFAULT));
  CUgraph graph;
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  SIM_CHECK(cuEventRecordWithFlags(with_times, stream, CU_EVENT_RECORD_EXTERNAL));
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  SIM_CHECK(cuStreamWaitEvent(blocking, without, CU_EVENT_WAIT_EXTERNAL));
  CUmodule module;
  SIM_CHECK(cuModuleLoad(&module, "/some/where/module.cubin"));
  return 0;
}
