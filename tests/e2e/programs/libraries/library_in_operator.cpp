// A product inside an operator that has its own shapes (PyTorch's emit_nvtx), with a kernel that the operator launches
// itself, and a range of another domain around the call: the call's FLOPs count once, and the operator's do not count
// in addition.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: log 1: 1 library_call, 3 kernel_launch, 3 kernel_run, 0 lost, whole
// Expect: trace: 1 x "name":"gemm",.*"kernel_flop":65536[,}].*"flops from":"library"
// Expect: trace: 0 x "name":"expand",.*"kernel_flop"
// Expect: trace: 1 x "name":"alone",.*"kernel_flop":65536[,}].*"flops from":"shapes"
// Expect: report kernels --peaks: counted at an operator inside,expand$
#include "tests/e2e/programs/libraries/library_program.h"

#include <nvtx3/nvToolsExt.h>

int main() {
  sim_program::make_context();
  SimBlas* blas = nullptr;
  if (cublasCreate_v2(&blas) != 0) return 1;
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("application");
  nvtxEventAttributes_t inner = {};
  inner.version = NVTX_VERSION;
  inner.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  inner.messageType = NVTX_MESSAGE_TYPE_ASCII;
  inner.message.ascii = "product";
  const float zero = 0, one = 1;
  nvtxRangePushA("aten::mm, seq = 0, sizes = [[16, 64], [64, 32]]");
  SIM_CHECK(sim_program::launch(sim_program::kernel("expand")));
  nvtxDomainRangePushEx(domain, &inner);
  if (cublasSgemm_v2(blas, 0, 1, 16, 32, 64, &one, nullptr, 16, nullptr, 32, &zero, nullptr, 16) != 0) return 2;
  nvtxDomainRangePop(domain);
  nvtxRangePop();
  nvtxRangePushA("aten::mm, seq = 1, sizes = [[16, 64], [64, 32]]");
  SIM_CHECK(sim_program::launch(sim_program::kernel("alone")));
  nvtxRangePop();
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
