// Extended payloads into the log: their bytes, bounded, and what they point to. In the program.
#pragma once

#include "preload/intercept/nvtx/nvtx_record.h"

namespace prof::preload {

inline constexpr size_t kMaxPayloadBytes = 1024;  // of one payload
inline constexpr size_t kMaxPayloadTexts = 512;   // of what one points to

// What the payloads of an event say of the event itself.
struct NvtxFound {
  NvtxMessage& message;
  char* text;          // kMaxPayloadTexts bytes, where a message is put that has to be converted
  uint64_t scope = 0;  // of a batch
  format::StampClock clock{};
  uint64_t begin = 0, end = 0;  // time stamps; end 0: there is none
};

// One nvtx_payload record each. `time` is the event's, which the caller records next. The caller is inside a scope.
void record_payloads(uint64_t time, NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count,
                     NvtxFound& found);
void record_payloads(uint64_t time, NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count);

}  // namespace prof::preload
