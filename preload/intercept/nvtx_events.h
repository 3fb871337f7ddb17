// NVTX events into the log: what each function of nvtx.cpp records. Push and pop are the hot ones. In the program.
#pragma once

#include "preload/intercept/nvtx_api.h"
#include "preload/intercept/nvtx_objects.h"

#include <string_view>

namespace prof::preload {

// What the program said about an event, in any of NVTX's forms.
struct NvtxMessage {
  std::string_view text;
  uint64_t text_hash = 0;  // 0: not hashed yet
  uint32_t category = 0;
  uint32_t color = 0;
  bool has_color = false;
  uint32_t payload_type = 0;
  uint64_t payload = 0;
};

// `buffer` holds kMaxTextBytes and is only written for wide text.
NvtxMessage nvtx_message(const nvtxEventAttributes_t* attributes, char* buffer);

// The nesting level of the range that is pushed or popped, per thread and domain; negative where there is none to pop or the
// program has more domains than a thread keeps levels for (NVTX_NO_PUSH_POP_TRACKING).
int nvtx_push(NvtxObject* domain, const NvtxMessage& message);
int nvtx_pop(NvtxObject* domain);
uint64_t nvtx_start(NvtxObject* domain, const NvtxMessage& message);
void nvtx_end(uint64_t range);
void nvtx_mark(NvtxObject* domain, const NvtxMessage& message);

// Names of categories and threads go into the log as facts about the run: "nvtx_category/<domain>/<number>", "thread_name/<tid>".
void nvtx_name_category(NvtxObject* domain, uint32_t category, std::string_view name);
void nvtx_name_thread(uint32_t tid, std::string_view name);

}  // namespace prof::preload
