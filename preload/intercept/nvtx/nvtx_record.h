// NVTX events in the log: what does each function of nvtx_functions.h record? Push and pop are the hot ones. It runs in
// the program.
#pragma once

#include "preload/intercept/nvtx/nvtx_api.h"
#include "preload/intercept/nvtx/nvtx_objects.h"
#include "preload/intercept/nvtx/nvtx_schemas.h"

#include <string_view>

namespace prof::preload {

// What the program passed for an event, in any of NVTX's forms.
struct NvtxMessage {
  std::string_view text;
  uint64_t text_hash = 0;  // 0: not hashed yet
  uint32_t category = 0;
  uint32_t color = 0;
  bool has_color = false;
  uint32_t payload_type = 0;  // NVTX's types; from kNvtxExtended on: extended payloads
  uint64_t payload = 0;       // the value, or the address of the NvtxPayloadData of an extended payload
};

// The text of a message in any of NVTX's forms. `buffer` holds kMaxTextBytes and is only written for wide text.
std::string_view nvtx_text(int32_t type, nvtxMessageValue_t message, char* buffer);

// payload_type of extended payloads: kNvtxExtended plus their number.
inline constexpr uint32_t kNvtxExtended = 0x100, kMaxNvtxPayloads = 16;
inline uint32_t nvtx_extended(size_t payloads) {
  return kNvtxExtended + static_cast<uint32_t>(payloads < 0xffff ? payloads : 0xffff);
}

// `buffer` holds kMaxTextBytes and is only written for wide text.
NvtxMessage nvtx_message(const nvtxEventAttributes_t* attributes, char* buffer);

// The nesting level of the range that is pushed or popped, per thread and domain. Negative: there is no range to pop.
// It is NVTX_NO_PUSH_POP_TRACKING if the program has more domains than a thread keeps levels for.
int nvtx_push(NvtxObject* domain, const NvtxMessage& message);
int nvtx_pop(NvtxObject* domain);
// The same for a text without attributes in the default domain. False: there is more to do than one record, and nothing
// was done.
bool nvtx_push_known(const char* text, int& level);
bool nvtx_pop_plain(int& level);
uint64_t nvtx_start(NvtxObject* domain, const NvtxMessage& message);
void nvtx_end(uint64_t range);
void nvtx_mark(NvtxObject* domain, const NvtxMessage& message);

// The same with extended payloads. They may contain the message and are recorded right before the event.
int nvtx_pop(NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count);
void nvtx_end(NvtxObject* domain, uint64_t range, const NvtxPayloadData* payloads, size_t payload_count);

// Ranges and marks with the program's own time stamps, in payloads. `scope`: of the batch; 0: none.
void nvtx_deferred(NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count, uint64_t scope);

// Records what happened to a synchronisation object.
void nvtx_sync(const NvtxObject* object, format::SyncAction action);

}  // namespace prof::preload
