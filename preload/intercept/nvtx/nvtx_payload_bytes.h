// How are extended payloads written to the log? Their bytes, up to a limit, and the data that they point to. It runs in
// the program.
#pragma once

#include "preload/intercept/nvtx/nvtx_record.h"

namespace prof::preload {

inline constexpr size_t kMaxPayloadBytes = 1024;  // of one payload
inline constexpr size_t kMaxPayloadTexts = 512;   // of the texts that one payload points to

// What the payloads of an event contain about the event itself.
struct NvtxFound {
  NvtxMessage& message;
  char* text;          // kMaxPayloadTexts bytes for a message that must be converted
  uint64_t scope = 0;  // of a batch
  format::StampClock clock{};
  uint64_t begin = 0, end = 0;  // time stamps; end 0: there is none
};

// Writes one nvtx_payload record for each payload. `time` is the time of the event, which the caller records next. The
// caller is inside a scope.
void record_payloads(uint64_t time, NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count,
                     NvtxFound& found);
void record_payloads(uint64_t time, NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count);

}  // namespace prof::preload
