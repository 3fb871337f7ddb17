// A GPU that no table has: its peaks are computed from the driver's properties, and the report states that, also in a
// trace. 2·4096·4096·1024 FLOPs in 1 ms are 34.36 TFLOP/s, 51.35 % of 132 SMs · 256 · 1.98 GHz in fp32; 100.66 MB
// are 2.05 % of 2 · 3.201 GHz · 6144 bits.
// Env: PROF_LIBS=1 PROF_CLOCK=sim_now_ns SIM="devices 1; device 0 Abacus 3000; kernel gemm 1000000"
// Link: libraries
// Expect: status 0
// Expect: trace: "deviceProperties":.*"clockRateHz":1980000000,"memoryClockRateHz":3201000000,"memoryBusWidthBits":6144
// Expect: log 1: text device_property ordinal=0 key="clockRateHz" value=1980000000
// Expect: log 1: text device_property ordinal=0 key="memoryClockRateHz" value=3201000000
// Expect: log 1: text device_property ordinal=0 key="memoryBusWidthBits" value=6144
// Expect: report kernels --peaks: ,51.35,0.100663,100.7,2.05,fp32,library,,gemm$
#include "tests/e2e/programs/libraries/library_program.h"

int main() {
  sim_program::make_context();
  SimBlas* blas = nullptr;
  if (cublasCreate_v2(&blas) != 0) return 1;
  const float zero = 0, one = 1;
  if (cublasSgemm_v2(blas, 0, 0, 4096, 4096, 1024, &one, nullptr, 4096, nullptr, 1024, &zero, nullptr, 4096) != 0)
    return 2;
  return cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 3;
}
