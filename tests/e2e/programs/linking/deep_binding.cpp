// A library opened with RTLD_DEEPBIND prefers what it is linked with to libprof.so. Its launches are recorded, whether
// it calls the driver itself or finds it by dlsym.
// Env: PROF_GPU=off SHIM={shim}
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 15 kernel_launch(kernel), whole, 0 lost
// Expect: report gpu-trace: coverage: launches 15, with GPU time 0 .GPU times off 15.; GPU operations 0, with launch 0; lost records 0$
#include "tests/e2e/programs/linking/deep_binding.h"

int main() { return deep_binding::run(RTLD_NOW); }
