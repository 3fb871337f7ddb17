// Managed memory is recorded if the option requests it: CUPTI, not the calls, reports pages that move.
// Env: PROF_UNIFIED=on
// Expect: status 0
// Expect: log 1: 1 alloc_call(cuMemAllocManaged), 2 copy_run, 2 unified_memory, text what=1 value=65536, text what=2 value=4096, text address=139637976727552 destination=1, text address=139637976727552 source=1, whole, 0 lost
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  CUdeviceptr managed = 0;
  SIM_CHECK(cuMemAllocManaged(&managed, 65536, CU_MEM_ATTACH_GLOBAL));
  static char host[65536];
  SIM_CHECK(cuMemcpyHtoD_v2(managed, host, sizeof host));
  SIM_CHECK(cuMemcpyDtoH_v2(host, managed, 4096));
  return 0;
}
