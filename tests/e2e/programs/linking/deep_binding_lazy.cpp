// The same as deep_binding for a library whose references are bound at their first call (RTLD_LAZY), with GPU times: no
// operation is without its launch.
// Env: SHIM={shim}
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 15 kernel_launch(kernel), whole, 0 lost
// Expect: report gpu-trace: coverage: launches 15, with GPU time 15; GPU operations 15, with launch 15; lost records 0
#include "tests/e2e/programs/linking/deep_binding.h"

int main() { return deep_binding::run(RTLD_LAZY); }
