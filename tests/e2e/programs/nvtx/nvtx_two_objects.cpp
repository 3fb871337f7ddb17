// NVTX is header-only: a shared object and the program each start their own copy; both record, into the same domains.
// Link: shim
// Expect: status 0
// Expect: log 1: 1 nvtx_push(program), 1 nvtx_push(library), 2 nvtx_pop, 1 nvtx_mark(shared), 1 nvtx_domain, whole
#include <nvtx3/nvToolsExt.h>

extern "C" nvtxDomainHandle_t in_library();
int main() {
  nvtxRangePushA("program");
  const nvtxDomainHandle_t domain = in_library();
  nvtxRangePop();
  return nvtxDomainCreateA("shared domain") == domain ? 0 : 1;
}
