// A batch of copies is one launch; its number of copies is the one in the call.
// Expect: status 0
// Expect: log 1: 1 memory_launch(cuMemcpyBatchAsync_v2), 3 copy_run, text flags=0 count=3, whole, 0 lost
// Expect: trace: "name":"cuMemcpyBatchAsync".*"args":{.*"count":3
// Expect: report api-trace: ,cuMemcpyBatchAsync_v2,.*,batch of 3,
// Expect: trace valid
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  CUstream stream;
  SIM_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr to[3], from[3];
  size_t sizes[] = {1024, 2048, 4096};
  for (size_t i = 0; i < 3; ++i) to[i] = sim_program::allocate(sizes[i]), from[i] = sim_program::allocate(sizes[i]);
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  size_t first = 0;
  SIM_CHECK(cuMemcpyBatchAsync(to, from, sizes, 3, &attributes, &first, 1, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  return 0;
}
