// Functions that return a handle to the program (nvtx_functions.h): domains, registered strings, resources,
// synchronisation objects.
#include "preload/intercept/nvtx/nvtx_chain.h"
#include "preload/intercept/nvtx/nvtx_functions.h"
#include "preload/intercept/nvtx/nvtx_given_names.h"
#include "preload/intercept/nvtx/nvtx_record.h"
#include "preload/record/thread_local.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace prof::preload::nvtx_functions {

namespace {

uint32_t own_tid() {
  return static_cast<uint32_t>(syscall(SYS_gettid));  // NOLINT(cppcoreguidelines-pro-type-vararg)
}

// The meaning of NVTX's identifier type: [class | index].
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

}  // namespace

nvtxStringHandle_t DomainRegisterStringA(nvtxDomainHandle_t handle, const char* text) {
  const KeepErrno keep;
  NvtxObject* const domain = nvtx_domain_of(handle);
  NvtxObject* const string = nvtx_registered(domain, text != nullptr ? text : "");
  if (string != nullptr && g_nvtx_chain.DomainRegisterStringA != nullptr) {
    string->chained.store(g_nvtx_chain.DomainRegisterStringA(chained_domain(domain), text), std::memory_order_release);
  }
  return static_cast<nvtxStringHandle_t>(nvtx_string_handle(string));
}
nvtxStringHandle_t DomainRegisterStringW(nvtxDomainHandle_t handle, const wchar_t* text) {
  const KeepErrno keep;
  WideBuffer wide;
  NvtxObject* const domain = nvtx_domain_of(handle);
  NvtxObject* const string = nvtx_registered(domain, nvtx_utf8(text, wide.bytes));
  if (string != nullptr && g_nvtx_chain.DomainRegisterStringW != nullptr) {
    string->chained.store(g_nvtx_chain.DomainRegisterStringW(chained_domain(domain), text), std::memory_order_release);
  }
  return static_cast<nvtxStringHandle_t>(nvtx_string_handle(string));
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

}  // namespace prof::preload::nvtx_functions
