// The NVTX functions themselves, and InitializeInjectionNvtx2, by which each shared object of the program that uses NVTX
// (it is header-only, so each has its own copy) finds them through NVTX_INJECTION64_PATH on its first use.
#include "preload/format/block.h"
#include "preload/intercept/nvtx_chain.h"
#include "preload/intercept/nvtx_events.h"
#include "preload/runtime/options.h"
#include "preload/runtime/recorder.h"
#include "preload/runtime/start.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace prof::preload {
namespace {

// A slow first event, the log growing, the chained tool: none of it may show in the program's errno.
struct KeepErrno {
  int& slot = thread_errno();
  const int value = slot;
  ~KeepErrno() { slot = value; }
};

struct WideBuffer {
  char bytes[format::kMaxTextBytes];
};

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

// Each function: ours, then the chained tool's, if it has one. Wide text has a frame of its own for its buffer.

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
__attribute__((noinline)) int push_wide(NvtxObject* domain, const nvtxEventAttributes_t* attributes) {
  WideBuffer wide;
  return nvtx_push(domain, nvtx_message(attributes, wide.bytes));
}
int push_attributes(NvtxObject* domain, const nvtxEventAttributes_t* attributes) {
  if (attributes != nullptr && attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE)
    return push_wide(domain, attributes);
  return nvtx_push(domain, nvtx_message(attributes, nullptr));
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
  const KeepErrno keep;
  const int level = nvtx_push(nullptr, plain(text));
  if (g_nvtx_chain.RangePushA != nullptr) g_nvtx_chain.RangePushA(text);
  return level;
}
int RangePushW(const wchar_t* text) {
  const KeepErrno keep;
  WideBuffer wide;
  const int level = nvtx_push(nullptr, plain(text, wide.bytes));
  if (g_nvtx_chain.RangePushW != nullptr) g_nvtx_chain.RangePushW(text);
  return level;
}
int RangePop() {
  const KeepErrno keep;
  const int level = nvtx_pop(nullptr);
  if (g_nvtx_chain.RangePop != nullptr) g_nvtx_chain.RangePop();
  return level;
}
void NameCategoryA(uint32_t category, const char* name) {
  const KeepErrno keep;
  if (name != nullptr) nvtx_name_category(nullptr, category, name);
  if (g_nvtx_chain.NameCategoryA != nullptr) g_nvtx_chain.NameCategoryA(category, name);
}
void NameCategoryW(uint32_t category, const wchar_t* name) {
  const KeepErrno keep;
  WideBuffer wide;
  nvtx_name_category(nullptr, category, nvtx_utf8(name, wide.bytes));
  if (g_nvtx_chain.NameCategoryW != nullptr) g_nvtx_chain.NameCategoryW(category, name);
}
void NameOsThreadA(uint32_t tid, const char* name) {
  const KeepErrno keep;
  if (name != nullptr) nvtx_name_thread(tid, name);
  if (g_nvtx_chain.NameOsThreadA != nullptr) g_nvtx_chain.NameOsThreadA(tid, name);
}
void NameOsThreadW(uint32_t tid, const wchar_t* name) {
  const KeepErrno keep;
  WideBuffer wide;
  nvtx_name_thread(tid, nvtx_utf8(name, wide.bytes));
  if (g_nvtx_chain.NameOsThreadW != nullptr) g_nvtx_chain.NameOsThreadW(tid, name);
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
nvtxResourceHandle_t DomainResourceCreate(nvtxDomainHandle_t handle, nvtxResourceAttributes_t* attributes) {
  if (g_nvtx_chain.DomainResourceCreate == nullptr) return nullptr;
  return g_nvtx_chain.DomainResourceCreate(chained_domain(nvtx_domain_of(handle)), attributes);
}
void DomainResourceDestroy(nvtxResourceHandle_t resource) {
  if (g_nvtx_chain.DomainResourceDestroy != nullptr) g_nvtx_chain.DomainResourceDestroy(resource);
}
void DomainNameCategoryA(nvtxDomainHandle_t handle, uint32_t category, const char* name) {
  const KeepErrno keep;
  NvtxObject* const domain = nvtx_domain_of(handle);
  if (name != nullptr) nvtx_name_category(domain, category, name);
  if (g_nvtx_chain.DomainNameCategoryA != nullptr)
    g_nvtx_chain.DomainNameCategoryA(chained_domain(domain), category, name);
}
void DomainNameCategoryW(nvtxDomainHandle_t handle, uint32_t category, const wchar_t* name) {
  const KeepErrno keep;
  WideBuffer wide;
  NvtxObject* const domain = nvtx_domain_of(handle);
  nvtx_name_category(domain, category, nvtx_utf8(name, wide.bytes));
  if (g_nvtx_chain.DomainNameCategoryW != nullptr)
    g_nvtx_chain.DomainNameCategoryW(chained_domain(domain), category, name);
}
nvtxStringHandle_t DomainRegisterStringA(nvtxDomainHandle_t handle, const char* text) {
  const KeepErrno keep;
  NvtxObject* const domain = nvtx_domain_of(handle);
  NvtxObject* const string = nvtx_registered(domain, text != nullptr ? text : "");
  if (string != nullptr && g_nvtx_chain.DomainRegisterStringA != nullptr) {
    string->chained.store(g_nvtx_chain.DomainRegisterStringA(chained_domain(domain), text), std::memory_order_release);
  }
  return reinterpret_cast<nvtxStringHandle_t>(string);
}
nvtxStringHandle_t DomainRegisterStringW(nvtxDomainHandle_t handle, const wchar_t* text) {
  const KeepErrno keep;
  WideBuffer wide;
  NvtxObject* const domain = nvtx_domain_of(handle);
  NvtxObject* const string = nvtx_registered(domain, nvtx_utf8(text, wide.bytes));
  if (string != nullptr && g_nvtx_chain.DomainRegisterStringW != nullptr) {
    string->chained.store(g_nvtx_chain.DomainRegisterStringW(chained_domain(domain), text), std::memory_order_release);
  }
  return reinterpret_cast<nvtxStringHandle_t>(string);
}
nvtxDomainHandle_t DomainCreateA(const char* name) {
  const KeepErrno keep;
  NvtxObject* const domain = nvtx_domain(name != nullptr ? name : "");
  if (domain != nullptr && g_nvtx_chain.DomainCreateA != nullptr) {
    domain->chained.store(g_nvtx_chain.DomainCreateA(name), std::memory_order_release);
  }
  return reinterpret_cast<nvtxDomainHandle_t>(domain);
}
nvtxDomainHandle_t DomainCreateW(const wchar_t* name) {
  const KeepErrno keep;
  WideBuffer wide;
  NvtxObject* const domain = nvtx_domain(nvtx_utf8(name, wide.bytes));
  if (domain != nullptr && g_nvtx_chain.DomainCreateW != nullptr) {
    domain->chained.store(g_nvtx_chain.DomainCreateW(name), std::memory_order_release);
  }
  return reinterpret_cast<nvtxDomainHandle_t>(domain);
}
void DomainDestroy(nvtxDomainHandle_t handle) {
  const KeepErrno keep;
  if (g_nvtx_chain.DomainDestroy != nullptr) g_nvtx_chain.DomainDestroy(chained_domain(nvtx_domain_of(handle)));
}
void Initialize(const void* reserved) {
  if (g_nvtx_chain.Initialize != nullptr) g_nvtx_chain.Initialize(reserved);
}

struct Row {
  NvtxCallbackModule module;
  unsigned id;
  NvtxFunctionPointer function;
};
#define NVTX_ROW(module, id, name) \
  {module, id, reinterpret_cast<NvtxFunctionPointer>(static_cast<nvtx##name##_impl_fntype>(name))},
const Row kRows[] = {
#define NVTX_CORE(name) NVTX_ROW(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_##name, name)
#define NVTX_CORE2(name) NVTX_ROW(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_##name, name)
#include "preload/intercept/nvtx_functions.def"
#undef NVTX_CORE
#undef NVTX_CORE2
};

// The options are read with the first event, which may come later than this; the variable itself is as good.
bool switched_off() {
  const char* const value = std::getenv("PROF_NVTX");
  return value != nullptr && std::strcmp(value, "off") == 0;
}

int install(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return 0;
  for (const Row& row : kRows) {
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    // An older NVTX has smaller tables, down to none.
    if (callbacks->GetModuleFunctionTable(row.module, &table, &size) == 0 || table == nullptr) continue;
    if (row.id < size && table[row.id] != nullptr) *table[row.id] = row.function;
  }
  const auto* const version = static_cast<const NvtxExportTableVersionInfo*>(get_table(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof(NvtxExportTableVersionInfo)) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  return 1;
}

}  // namespace
}  // namespace prof::preload

// 0 means "no tool": NVTX then makes every function of that object a no-op.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  using namespace prof::preload;
  if (get_table == nullptr || inert() || switched_off()) return 0;
  const KeepErrno keep;
  nvtx_chain_object(get_table);
  return install(get_table);
}
