// Functions of marks and ranges (nvtx_functions.h). Push and pop are the hot ones.
#include "preload/intercept/nvtx/nvtx_chain.h"
#include "preload/intercept/nvtx/nvtx_functions.h"
#include "preload/intercept/nvtx/nvtx_record.h"
#include "preload/record/thread_local.h"

namespace prof::preload::nvtx_functions {

namespace {

NvtxMessage plain(const char* text) {
  NvtxMessage message;
  if (text != nullptr) message.text = text;
  return message;
}

NvtxMessage plain(const wchar_t* text, char* buffer) {
  NvtxMessage message;
  message.text = nvtx_utf8(text, buffer);
  return message;
}

uint64_t started(uint64_t range, nvtxRangeId_t theirs) {
  chain_range(range, theirs);
  return range;
}

__attribute__((noinline)) int push_wide(NvtxObject* domain, const nvtxEventAttributes_t* attributes) {
  WideBuffer wide;
  return nvtx_push(domain, nvtx_message(attributes, wide.bytes));
}
__attribute__((noinline)) int push_any(const char* text) {
  const KeepErrno keep;
  const int level = nvtx_push(nullptr, plain(text));
  if (g_nvtx_chain.RangePushA != nullptr) g_nvtx_chain.RangePushA(text);
  return level;
}
__attribute__((noinline)) int pop_any() {
  const KeepErrno keep;
  const int level = nvtx_pop(nullptr);
  if (g_nvtx_chain.RangePop != nullptr) g_nvtx_chain.RangePop();
  return level;
}
int push_attributes(NvtxObject* domain, const nvtxEventAttributes_t* attributes) {
  if (attributes != nullptr && attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE)
    return push_wide(domain, attributes);
  return nvtx_push(domain, nvtx_message(attributes, nullptr));
}

}  // namespace

void MarkEx(const nvtxEventAttributes_t* attributes) {
  const KeepErrno keep;
  WideBuffer wide;
  nvtx_mark(nullptr, nvtx_message(attributes, wide.bytes));
  if (g_nvtx_chain.MarkEx != nullptr) {
    const auto theirs = chained_attributes(attributes);
    g_nvtx_chain.MarkEx(&theirs);
  }
}
void MarkA(const char* text) {
  const KeepErrno keep;
  nvtx_mark(nullptr, plain(text));
  if (g_nvtx_chain.MarkA != nullptr) g_nvtx_chain.MarkA(text);
}
void MarkW(const wchar_t* text) {
  const KeepErrno keep;
  WideBuffer wide;
  nvtx_mark(nullptr, plain(text, wide.bytes));
  if (g_nvtx_chain.MarkW != nullptr) g_nvtx_chain.MarkW(text);
}
nvtxRangeId_t RangeStartEx(const nvtxEventAttributes_t* attributes) {
  const KeepErrno keep;
  WideBuffer wide;
  const uint64_t range = nvtx_start(nullptr, nvtx_message(attributes, wide.bytes));
  if (g_nvtx_chain.RangeStartEx == nullptr) return range;
  const auto theirs = chained_attributes(attributes);
  return started(range, g_nvtx_chain.RangeStartEx(&theirs));
}
nvtxRangeId_t RangeStartA(const char* text) {
  const KeepErrno keep;
  const uint64_t range = nvtx_start(nullptr, plain(text));
  return g_nvtx_chain.RangeStartA == nullptr ? range : started(range, g_nvtx_chain.RangeStartA(text));
}
nvtxRangeId_t RangeStartW(const wchar_t* text) {
  const KeepErrno keep;
  WideBuffer wide;
  const uint64_t range = nvtx_start(nullptr, plain(text, wide.bytes));
  return g_nvtx_chain.RangeStartW == nullptr ? range : started(range, g_nvtx_chain.RangeStartW(text));
}
void RangeEnd(nvtxRangeId_t range) {
  const KeepErrno keep;
  nvtx_end(range);
  if (g_nvtx_chain.RangeEnd != nullptr) g_nvtx_chain.RangeEnd(chained_range(range));
}
int RangePushEx(const nvtxEventAttributes_t* attributes) {
  const KeepErrno keep;
  const int level = push_attributes(nullptr, attributes);
  if (g_nvtx_chain.RangePushEx != nullptr) {
    const auto theirs = chained_attributes(attributes);
    g_nvtx_chain.RangePushEx(&theirs);
  }
  return level;
}
int RangePushA(const char* text) {
  int level = 0;
  return nvtx_push_known(text, level) ? level : push_any(text);
}
int RangePushW(const wchar_t* text) {
  const KeepErrno keep;
  WideBuffer wide;
  const int level = nvtx_push(nullptr, plain(text, wide.bytes));
  if (g_nvtx_chain.RangePushW != nullptr) g_nvtx_chain.RangePushW(text);
  return level;
}
int RangePop() {
  int level = 0;
  return nvtx_pop_plain(level) ? level : pop_any();
}
void DomainMarkEx(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* attributes) {
  const KeepErrno keep;
  WideBuffer wide;
  NvtxObject* const domain = nvtx_domain_of(handle);
  nvtx_mark(domain, nvtx_message(attributes, wide.bytes));
  if (g_nvtx_chain.DomainMarkEx != nullptr) {
    const auto theirs = chained_attributes(attributes);
    g_nvtx_chain.DomainMarkEx(chained_domain(domain), &theirs);
  }
}
nvtxRangeId_t DomainRangeStartEx(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* attributes) {
  const KeepErrno keep;
  WideBuffer wide;
  NvtxObject* const domain = nvtx_domain_of(handle);
  const uint64_t range = nvtx_start(domain, nvtx_message(attributes, wide.bytes));
  if (g_nvtx_chain.DomainRangeStartEx == nullptr) return range;
  const auto theirs = chained_attributes(attributes);
  return started(range, g_nvtx_chain.DomainRangeStartEx(chained_domain(domain), &theirs));
}
void DomainRangeEnd(nvtxDomainHandle_t handle, nvtxRangeId_t range) {
  const KeepErrno keep;
  nvtx_end(range);
  if (g_nvtx_chain.DomainRangeEnd != nullptr) {
    g_nvtx_chain.DomainRangeEnd(chained_domain(nvtx_domain_of(handle)), chained_range(range));
  }
}
int DomainRangePushEx(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* attributes) {
  const KeepErrno keep;
  NvtxObject* const domain = nvtx_domain_of(handle);
  const int level = push_attributes(domain, attributes);
  if (g_nvtx_chain.DomainRangePushEx != nullptr) {
    const auto theirs = chained_attributes(attributes);
    g_nvtx_chain.DomainRangePushEx(chained_domain(domain), &theirs);
  }
  return level;
}
int DomainRangePop(nvtxDomainHandle_t handle) {
  const KeepErrno keep;
  NvtxObject* const domain = nvtx_domain_of(handle);
  const int level = nvtx_pop(domain);
  if (g_nvtx_chain.DomainRangePop != nullptr) g_nvtx_chain.DomainRangePop(chained_domain(domain));
  return level;
}

}  // namespace prof::preload::nvtx_functions
