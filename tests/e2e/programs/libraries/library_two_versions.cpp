// Two releases of cuFFT in one process, as two wheels install them: both number their plans from 1 on, and each
// transform has the sizes that were given to its own library.
// Env: PROF_LIBS=1 PROF_GPU=off
// Expect: status 0
// Expect: log 1: 3 library_call, 3 kernel_launch(vector_fft), 0 lost, whole
// Expect: log 1: 1 library_call(cufftExecC2C(points=512, A=complex64, C=complex64, direction=forward))
// Expect: log 1: 1 library_call(cufftExecC2C(points=64, batch=3, A=complex64, C=complex64, direction=forward))
// Expect: log 1: 1 library_call(cufftExecC2C(points=64, batch=3, A=complex64, C=complex64, direction=inverse))
#include "tests/e2e/programs/libraries/library_program.h"

#include <dlfcn.h>

template <class Function> static Function get(void* library, const char* name, Function) {
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) exit(50);
  return reinterpret_cast<Function>(found);
}
#define GET(library, name) get(library, #name, static_cast<decltype(&name)>(nullptr))

int main() {
  sim_program::make_context();
  void* const older = dlopen("libcufft.so.11", RTLD_NOW | RTLD_LOCAL);
  void* const newer = dlopen("libcufft.so.12", RTLD_NOW | RTLD_LOCAL);
  int plan_of_older = 0, plan_of_newer = 0;
  if (GET(older, cufftPlan1d)(&plan_of_older, 512, 0x29, 1) != 0) return 1;
  if (GET(newer, cufftPlan1d)(&plan_of_newer, 64, 0x29, 3) != 0) return 2;
  if (plan_of_older != plan_of_newer) return 3;
  if (GET(newer, cufftExecC2C)(plan_of_newer, nullptr, nullptr, -1) != 0) return 4;
  if (GET(older, cufftExecC2C)(plan_of_older, nullptr, nullptr, -1) != 0) return 5;
  if (GET(older, cufftDestroy)(plan_of_older) != 0) return 6;
  if (GET(newer, cufftExecC2C)(plan_of_newer, nullptr, nullptr, 1) != 0) return 7;
  return 0;
}
