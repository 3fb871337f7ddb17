// Ranges of one text and two categories: the category belongs to what makes a label, so each range keeps its own.
// Link: none
// Expect: status 0
// Expect: log 1: text category=1 has_color, text category=2 has_color, 2 nvtx_push, whole, 0 lost
// Expect: report nvtx-trace: work
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <initializer_list>

int main() {
  for (const uint32_t category : {1u, 2u}) {
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.category = category;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "work";
    nvtxRangePushEx(&attributes);
    nvtxRangePop();
  }
}
