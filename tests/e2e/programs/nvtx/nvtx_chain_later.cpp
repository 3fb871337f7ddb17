// The program itself names an NVTX tool before its first use of NVTX: the tool gets every event, and so does the log.
// Link: none
// Env: CHAINED={shim}
// Expect: status 0
// Expect: stdout tool: push both
// Expect: log 1: 1 nvtx_push(both), whole
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>

int main() {
  if (setenv("NVTX_INJECTION64_PATH", getenv("CHAINED"), 1) != 0) return 1;
  nvtxRangePushA("both");
  nvtxRangePop();
  return 0;
}
