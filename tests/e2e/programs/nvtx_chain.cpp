// Another NVTX tool was there first: it gets every event, with its own handles, and so does the log.
// Link: none
// Env: NVTX_INJECTION64_PATH={shim}
// Expect: status 0
// Expect: stdout tool: push both
// Expect: stdout tool: pop
// Expect: stdout tool: domain theirs is 0x1000
// Expect: stdout tool: push in 0x1000 string 0x2000
// Expect: stdout tool: end 4711
// Expect: log 1: 1 nvtx_push(both), 1 nvtx_push(registered), 2 nvtx_pop, 1 nvtx_start(range), 1 nvtx_end, whole
#include <nvtx3/nvToolsExt.h>

int main() {
  if (nvtxRangePushA("both") != 0 || nvtxRangePop() != 0) return 1;
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("theirs");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  nvtxRangeEnd(nvtxRangeStartA("range"));
  return 0;
}
