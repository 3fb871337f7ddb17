// A product that is captured into a graph and launched three times, and one that is not captured: each replay has the
// call's FLOPs.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: log 1: 2 library_call, 0 lost, whole, 5 kernel_run
// Expect: trace: 4 x "name":"gemm",.*"kernel_flop":65536[,}].*"flops from":"library"
// Expect: trace: 1 x "name":"own",
// Expect: report kernels --peaks: ,library,.*,gemm$
#include "tests/e2e/programs/libraries/library_program.h"

int main() {
  sim_program::make_context();
  SimBlas* blas = nullptr;
  if (cublasCreate_v2(&blas) != 0) return 1;
  const CUstream stream = sim_program::make_stream();
  cublasSetStream_v2(blas, stream);
  const float zero = 0, one = 1;
  const auto product = [&] {
    return cublasSgemm_v2(blas, 0, 1, 16, 32, 64, &one, nullptr, 16, nullptr, 32, &zero, nullptr, 16);
  };
  if (product() != 0) return 2;
  SIM_CHECK(sim_program::launch(sim_program::kernel("own"), stream));
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  if (product() != 0) return 3;
  CUgraph graph = nullptr;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
