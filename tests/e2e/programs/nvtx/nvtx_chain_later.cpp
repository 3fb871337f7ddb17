// The program itself names an NVTX tool before its first use of NVTX: the tool gets every event, and so does the log.
// The program reads its own value of the variable.
// Link: none
// Env: CHAINED={shim}
// Expect: status 0
// Expect: stdout tool: push both
// Expect: log 1: 1 nvtx_push(both), whole
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <cstring>

int main() {
  const char* const tool = getenv("CHAINED");
  if (setenv("NVTX_INJECTION64_PATH", tool, 1) != 0) return 1;
  if (std::strcmp(getenv("NVTX_INJECTION64_PATH"), tool) != 0) return 2;
  nvtxRangePushA("both");
  nvtxRangePop();
  return 0;
}
