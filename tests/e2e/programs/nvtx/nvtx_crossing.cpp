// Ranges that begin on one thread and end on another, that never end, that end twice, out of order, or that have no
// begin: each is shown as it is.
// Link: none
// Expect: status 0
// Expect: log 1: whole, 0 lost
// Expect: report nvtx-trace: ,elsewhere,.*,StartEnd,,closed by thread [0-9]+,
// Expect: report nvtx-trace: ,never,.*,StartEnd,,unfinished,
// Expect: report nvtx-trace: ,twice,.*,StartEnd,,closed again,
// Expect: report nvtx-trace: ,in order,.*,StartEnd,,,
// Expect: report nvtx-trace: ,outer,.*,PushPop,crossing,closed out of order,
// Expect: report nvtx-trace: ,inner,.*,PushPop,,,
// Expect: report nvtx-trace: ,left open,.*,PushPop,,unfinished,
// Expect: report nvtx-trace: coverage: .*nvtx_ended_again 1; nvtx_ends_without_start 1; nvtx_pops_without_push 1
// Expect: trace: "ph":"b".*"name":"elsewhere".*"closed by thread":[0-9]+
// Expect: trace: "ph":"b".*"name":"never".*"unfinished":true
// Expect: trace: "ph":"b".*"name":"twice".*"closed again":true
// Expect: trace: "name":"outer".*"closed out of order":true
#include <nvtx3/nvToolsExt.h>

#include <thread>

int main() {
  const nvtxRangeId_t elsewhere = nvtxRangeStartA("elsewhere");
  std::thread([&] { nvtxRangeEnd(elsewhere); }).join();
  nvtxRangeStartA("never");
  const nvtxRangeId_t twice = nvtxRangeStartA("twice"), in_order = nvtxRangeStartA("in order");
  nvtxRangeEnd(twice);
  nvtxRangeEnd(twice);
  nvtxRangeEnd(in_order);
  nvtxRangeEnd(424242);
  if (nvtxRangePop() >= 0) return 1;
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("crossing");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "outer";
  nvtxDomainRangePushEx(domain, &event);
  nvtxRangePushA("inner");
  nvtxDomainRangePop(domain);
  nvtxRangePop();
  nvtxRangePushA("left open");
  return 0;
}
