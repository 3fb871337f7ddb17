// Plans of cuFFT are made in every way before the first CUDA call. Each transform has the sizes of its plan and its
// FLOPs by convention, divided among all kernels that it launched. It has none if the plan could not be made or no
// longer exists; a reused number means its current plan. 5·1024·10·16 = 819200, 2.5·1000·log2(1000) = 24914.46,
// 5·256·8 = 10240 FLOPs; bytes of the first: 2·16·1024·8.
// Env: PROF_LIBS=1 PROF_START=profiler
// Link: libraries
// Expect: status 0
// Expect: log 1: 12 library_call, 0 lost, whole, 16 kernel_launch(vector_fft), 5 kernel_launch(scale_fft)
// Expect: log 1: 2 library_call(cufftExecC2C(points=1024, batch=16, A=complex64, C=complex64, direction=forward))
// Expect: log 1: 1 library_call(cufftExecC2C(points=1024, batch=16, A=complex64, C=complex64, direction=inverse))
// Expect: log 1: 1 library_call(cufftExecR2C(points=64x64, A=fp32, C=complex64))
// Expect: log 1: 1 library_call(cufftExecC2C(points=8x16x32, A=complex64, C=complex64, direction=forward))
// Expect: log 1: 1 library_call(cufftExecZ2D(points=10x20, batch=5, A=complex128, C=fp64))
// Expect: log 1: 1 library_call(cufftExecR2C(points=1000, A=fp32, C=complex64))
// Expect: log 1: 1 library_call(cufftExecC2C(points=32x48, batch=7, A=complex64, C=complex64, direction=forward))
// Expect: log 1: 1 library_call(cufftXtExec(points=64x64, batch=3, A=complex32, C=complex32, direction=inverse))
// Expect: log 1: 1 library_call(cufftExecC2C(points=256, A=complex64, C=complex64, direction=forward))
// Expect: log 1: 2 library_call(cufftExecC2C()), text status=1
// Expect: trace: 3 x "name":"vector_fft",.*"kernel_flop":819200,.*"kernel_num_gb":0.000262144,.*"flops from":"nominal, bytes library"
// Expect: trace: 1 x "name":"vector_fft",.*"kernel_flop":24914,
// Expect: trace: 1 x "name":"vector_fft",.*"kernel_flop":10240,
// Expect: trace: 21 x "name":"(vector|scale)_fft",.*"kernel_flop":[1-9]
#include "tests/e2e/programs/libraries/library_program.h"

#include <cudaProfiler.h>

constexpr int kC2C = 0x29, kR2C = 0x2a, kZ2D = 0x6c, kHalf = 6, kForward = -1, kInverse = 1;

static int check(int status, int line) {
  if (status != 0) exit(line & 0xff);
  return status;
}
#define CHECK(call) check(call, __LINE__)

static int created() {
  int plan = 0;
  CHECK(cufftCreate(&plan));
  return plan;
}

int main() {
  int line = 0, plane = 0, cube = 0, many = 0;
  int sizes[] = {10, 20};
  long long wide[] = {32, 48}, square[] = {64, 64};
  CHECK(cufftPlan1d(&line, 1024, kC2C, 16));
  CHECK(cufftPlan2d(&plane, 64, 64, kR2C));
  CHECK(cufftPlan3d(&cube, 8, 16, 32, kC2C));
  CHECK(cufftPlanMany(&many, 2, sizes, nullptr, 1, 0, nullptr, 1, 0, kZ2D, 5));
  const int odd = created(), large = created(), half = created(), unmade = created();
  CHECK(cufftMakePlan1d(odd, 1000, kR2C, 1, nullptr));
  CHECK(cufftMakePlanMany64(large, 2, wide, nullptr, 1, 0, nullptr, 1, 0, kC2C, 7, nullptr));
  CHECK(cufftXtMakePlanMany(half, 2, square, nullptr, 1, 0, kHalf, nullptr, 1, 0, kHalf, 3, nullptr, kHalf));
  if (cufftMakePlan1d(unmade, -1, kC2C, 1, nullptr) == 0) return 1;

  sim_program::make_context();
  SIM_CHECK(cuProfilerStart());
  for (int i = 0; i < 2; ++i) CHECK(cufftExecC2C(line, nullptr, nullptr, kForward));
  CHECK(cufftExecC2C(line, nullptr, nullptr, kInverse));
  CHECK(cufftExecR2C(plane, nullptr, nullptr));
  CHECK(cufftExecC2C(cube, nullptr, nullptr, kForward));
  CHECK(cufftExecZ2D(many, nullptr, nullptr));
  CHECK(cufftExecR2C(odd, nullptr, nullptr));
  CHECK(cufftExecC2C(large, nullptr, nullptr, kForward));
  CHECK(cufftXtExec(half, nullptr, nullptr, kInverse));
  if (cufftExecC2C(unmade, nullptr, nullptr, kForward) != 1) return 2;
  CHECK(cufftDestroy(line));
  if (cufftExecC2C(line, nullptr, nullptr, kForward) != 1) return 3;
  int again = 0;
  CHECK(cufftPlan1d(&again, 256, kC2C, 1));
  if (again != line) return 4;
  CHECK(cufftExecC2C(again, nullptr, nullptr, kForward));
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuProfilerStop());
  return 0;
}
