// PROF_NVTX=off: NVTX finds no tool, so its calls cost nothing and there is no log.
// Env: PROF_NVTX=off
// Link: none
// Expect: status 0
// Expect: logs 0
#include <nvtx3/nvToolsExt.h>

int main() { return nvtxRangePushA("nobody listens") == NVTX_NO_PUSH_POP_TRACKING ? 0 : 1; }
