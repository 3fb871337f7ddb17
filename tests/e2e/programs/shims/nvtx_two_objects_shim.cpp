// The shared object of nvtx_two_objects.cpp: its own hidden copy of NVTX.
#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) nvtxDomainHandle_t in_library() {
  nvtxRangePushA("library");
  nvtxRangePop();
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("shared domain");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "shared";
  nvtxDomainMarkEx(domain, &event);
  return domain;
}
