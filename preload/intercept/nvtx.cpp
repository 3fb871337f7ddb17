// The NVTX functions themselves, and InitializeInjectionNvtx2, by which each shared object of the program that uses NVTX
// (it is header-only, so each has its own copy) finds them through NVTX_INJECTION64_PATH on its first use.
#include "preload/format/block.h"
#include "preload/intercept/nvtx_chain.h"
#include "preload/intercept/nvtx_events.h"
#include "preload/runtime/options.h"
#include "preload/runtime/recorder.h"
#include "preload/runtime/start.h"
#include "preload/runtime/triggers.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace prof::preload {
namespace {

// A slow first event, the log growing, the chained tool: none of it may show in the program's errno.
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

uint32_t own_tid() {
  return static_cast<uint32_t>(syscall(SYS_gettid));  // NOLINT(cppcoreguidelines-pro-type-vararg)
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
  if (name != nullptr) nvtx_name({format::NamedKind::Thread, tid}, name);
  if (g_nvtx_chain.NameOsThreadA != nullptr) g_nvtx_chain.NameOsThreadA(tid, name);
}
void NameOsThreadW(uint32_t tid, const wchar_t* name) {
  const KeepErrno keep;
  WideBuffer wide;
  nvtx_name({format::NamedKind::Thread, tid}, nvtx_utf8(name, wide.bytes));
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

// Names of CUDA's objects: `what` of format::NamedKind by its handle, in narrow and in wide text.
template <class Object> uint64_t object_bits(Object object) {
  if constexpr (std::is_pointer_v<Object>) {
    return reinterpret_cast<uint64_t>(object);
  } else {
    return static_cast<uint64_t>(object);
  }
}
#define NVTX_NAME(function, what, Object)                                                   \
  void function##A(Object object, const char* name) {                                       \
    const KeepErrno keep;                                                                   \
    if (name != nullptr) nvtx_name({format::NamedKind::what, object_bits(object)}, name);   \
    if (g_nvtx_chain.function##A != nullptr) g_nvtx_chain.function##A(object, name);        \
  }                                                                                         \
  void function##W(Object object, const wchar_t* name) {                                    \
    const KeepErrno keep;                                                                   \
    WideBuffer wide;                                                                        \
    nvtx_name({format::NamedKind::what, object_bits(object)}, nvtx_utf8(name, wide.bytes)); \
    if (g_nvtx_chain.function##W != nullptr) g_nvtx_chain.function##W(object, name);        \
  }
NVTX_NAME(NameCuDevice, Device, nvtx_CUdevice)
NVTX_NAME(NameCuContext, Context, nvtx_CUcontext)
NVTX_NAME(NameCuStream, Stream, nvtx_CUstream)
NVTX_NAME(NameCuEvent, Event, nvtx_CUevent)
NVTX_NAME(NameCudaDevice, Device, int)
NVTX_NAME(NameCudaStream, Stream, nvtx_cudaStream_t)
NVTX_NAME(NameCudaEvent, Event, nvtx_cudaEvent_t)
#undef NVTX_NAME

// What NVTX's type of an identifier means: [class | index].
NvtxNamed named_by(int32_t type, uint64_t identifier) {
  NvtxNamed named{format::NamedKind::Other, identifier};
  named.type = static_cast<uint32_t>(type);
  switch (static_cast<uint32_t>(type)) {
    case 1u << 16 | 3: named.what = format::NamedKind::Thread; break;
    case 1u << 16 | 4:
      if (identifier == static_cast<uint64_t>(pthread_self())) named = {format::NamedKind::Thread, own_tid()};
      break;
    case 4u << 16 | 1:
    case 5u << 16 | 0: named.what = format::NamedKind::Device; break;
    case 4u << 16 | 2: named.what = format::NamedKind::Context; break;
    case 4u << 16 | 3:
    case 5u << 16 | 1: named.what = format::NamedKind::Stream; break;
    case 4u << 16 | 4:
    case 5u << 16 | 2: named.what = format::NamedKind::Event; break;
    default: break;
  }
  return named;
}

nvtxResourceHandle_t DomainResourceCreate(nvtxDomainHandle_t handle, nvtxResourceAttributes_t* attributes) {
  const KeepErrno keep;
  if (attributes == nullptr || attributes->size < sizeof(nvtxResourceAttributes_t)) return nullptr;
  WideBuffer wide;
  NvtxObject* const domain = nvtx_domain_of(handle);
  const std::string_view name = nvtx_text(attributes->messageType, attributes->message, wide.bytes);
  NvtxNamed named = named_by(attributes->identifierType, attributes->identifier.ullValue);
  named.domain = domain;
  NvtxObject* const resource = nvtx_new_resource(domain, name);
  if (resource == nullptr) return nullptr;
  resource->named = static_cast<uint64_t>(named.what) << 32 | named.type;
  resource->named_object = named.object;
  nvtx_name(named, name);
  if (g_nvtx_chain.DomainResourceCreate != nullptr) {
    nvtxResourceAttributes_t theirs = *attributes;
    theirs.message = chained_message(attributes->messageType, attributes->message);
    resource->chained.store(g_nvtx_chain.DomainResourceCreate(chained_domain(domain), &theirs));
  }
  return reinterpret_cast<nvtxResourceHandle_t>(resource);
}
void DomainResourceDestroy(nvtxResourceHandle_t handle) {
  const KeepErrno keep;
  NvtxObject* const resource = nvtx_resource_of(handle);
  if (resource == nullptr) return;
  NvtxNamed named{static_cast<format::NamedKind>(resource->named >> 32), resource->named_object};
  named.domain = resource->domain;
  named.type = static_cast<uint32_t>(resource->named);
  named.gone = true;
  nvtx_name(named, resource->view());
  if (g_nvtx_chain.DomainResourceDestroy != nullptr)
    g_nvtx_chain.DomainResourceDestroy(static_cast<nvtxResourceHandle_t>(resource->chained.load()));
  nvtx_destroy(resource);
}

nvtx_nvtxSyncUser_t DomainSyncUserCreate(nvtxDomainHandle_t handle, const nvtx_nvtxSyncUserAttributes_t* given) {
  const KeepErrno keep;
  const auto* const attributes = static_cast<const nvtxSyncUserAttributes_t*>(given);
  NvtxObject* const domain = nvtx_domain_of(handle);
  WideBuffer wide;
  std::string_view name;
  if (attributes != nullptr && attributes->size >= sizeof *attributes)
    name = nvtx_text(attributes->messageType, attributes->message, wide.bytes);
  NvtxObject* const object = nvtx_new_sync(domain, name);
  if (object == nullptr) return nullptr;
  nvtx_sync(object, format::SyncAction::Create);
  if (g_nvtx_chain.DomainSyncUserCreate != nullptr && attributes != nullptr) {
    nvtxSyncUserAttributes_t theirs = *attributes;
    theirs.message = chained_message(attributes->messageType, attributes->message);
    object->chained.store(g_nvtx_chain.DomainSyncUserCreate(chained_domain(domain), &theirs));
  }
  return object;
}
#define NVTX_SYNC_ACTION(function, action)                                                                        \
  void function(nvtx_nvtxSyncUser_t handle) {                                                                     \
    const KeepErrno keep;                                                                                         \
    NvtxObject* const object = nvtx_sync_of(handle);                                                              \
    if (object == nullptr) return;                                                                                \
    nvtx_sync(object, format::SyncAction::action);                                                                \
    if (g_nvtx_chain.function != nullptr) g_nvtx_chain.function(object->chained.load(std::memory_order_acquire)); \
    if (format::SyncAction::action == format::SyncAction::Destroy) nvtx_destroy(object);                          \
  }
NVTX_SYNC_ACTION(DomainSyncUserDestroy, Destroy)
NVTX_SYNC_ACTION(DomainSyncUserAcquireStart, AcquireStart)
NVTX_SYNC_ACTION(DomainSyncUserAcquireFailed, AcquireFailed)
NVTX_SYNC_ACTION(DomainSyncUserAcquireSuccess, AcquireSuccess)
NVTX_SYNC_ACTION(DomainSyncUserReleasing, Releasing)
#undef NVTX_SYNC_ACTION

struct NvtxRow {
  NvtxCallbackModule module;
  unsigned id;
  NvtxFunctionPointer function;
};
const NvtxRow kNvtxRows[] = {
#define NVTX_FUNCTION(module, name, kind)                \
  {NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##name, \
   reinterpret_cast<NvtxFunctionPointer>(static_cast<nvtx##name##_##kind##_fntype>(name))},
#include "preload/intercept/nvtx_functions.def"
#undef NVTX_FUNCTION
};

// The options are read with the first event, which may come later than this; the variable itself is as good.
bool switched_off() {
  const char* const value = std::getenv("PROF_NVTX");
  return value != nullptr && std::strcmp(value, "off") == 0 && !begins_with_range();
}

int install(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return 0;
  for (const NvtxRow& row : kNvtxRows) {
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
