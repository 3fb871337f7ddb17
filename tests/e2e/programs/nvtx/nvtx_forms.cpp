// All forms of NVTX: returned levels and ids, text in every encoding, domains, colours, payloads.
// Link: none
// Expect: status 0
// Expect: log 1: 1 nvtx_push(ascii), 1 nvtx_push(wörld 😀), 1 nvtx_push(registered), 1 nvtx_push(attributes), 4 nvtx_pop, 1 nvtx_domain, whole, 0 lost
// Expect: log 1: 1 nvtx_start(range), 1 nvtx_start(in domain), 2 nvtx_end, 1 nvtx_mark(mark), 1 nvtx_mark(int32), text color=4278255360
// Expect: log 1: text payload=4609434218613702656, text payload=18446744073709551615, text nvtx_category domain=0 category=7 name="seven"
#include <nvtx3/nvToolsExt.h>

int main() {
  if (nvtxRangePushA("ascii") != 0 || nvtxRangePushW(L"w\u00f6rld \U0001F600") != 1) return 1;
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("my domain");
  if (nvtxDomainCreateA("my domain") != domain) return 2;
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  if (event.message.registered == nullptr) return 3;
  if (nvtxDomainRangePushEx(domain, &event) != 0 || nvtxDomainRangePop(domain) != 0) return 4;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "attributes";
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff00ff00;
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 1.5;
  if (nvtxRangePushEx(&event) != 2) return 5;
  if (nvtxRangePop() != 2 || nvtxRangePop() != 1 || nvtxRangePop() != 0) return 6;
  event.message.ascii = "int32";
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  event.payload.iValue = -1;
  nvtxMarkEx(&event);
  nvtxMarkA("mark");
  event.message.ascii = "in domain";
  const nvtxRangeId_t one = nvtxRangeStartA("range"), two = nvtxDomainRangeStartEx(domain, &event);
  if (one == 0 || one == two) return 7;
  nvtxDomainRangeEnd(domain, two);
  nvtxRangeEnd(one);
  nvtxNameCategoryA(7, "seven");
  return 0;
}
