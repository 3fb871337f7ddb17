#include "preload/intercept/nvtx/nvtx_chain.h"

#include "preload/base/libc.h"
#include "preload/base/messages.h"
#include "preload/driver/handle_map.h"
#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/lifecycle/load.h"
#include "preload/record/launch_extras.h"

#include <atomic>
#include <cstring>

extern "C" {
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
int InitializeInjectionNvtxExtension(prof::preload::NvtxExtModule* module);
}

namespace prof::preload {

NvtxChain g_nvtx_chain;

namespace {

HandleMap<4096> g_ranges;  // ids shifted by 8, so that they look like handles
std::atomic<NvtxGetExportTableFunc_t> g_get_table{nullptr};

// Pointers to the members of g_nvtx_chain in the order of NVTX's ids. The tool fills these tables.
NvtxFunctionPointer* g_CORE[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer* g_CORE2[NVTX_CBID_CORE2_SIZE];
NvtxFunctionPointer* g_CUDA[NVTX_CBID_CUDA_SIZE];
NvtxFunctionPointer* g_CUDART[NVTX_CBID_CUDART_SIZE];
NvtxFunctionPointer* g_SYNC[NVTX_CBID_SYNC_SIZE];

void fill_tables() {
#define NVTX_FUNCTION(module, name, kind) \
  g_##module[NVTX_CBID_##module##_##name] = reinterpret_cast<NvtxFunctionPointer*>(&g_nvtx_chain.name);
#include "preload/intercept/nvtx/nvtx_functions.def"
#undef NVTX_FUNCTION
}

int NVTX_API module_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
  const auto ours = [&](NvtxFunctionTable functions, unsigned count) {
    if (table != nullptr) *table = functions;
    if (size != nullptr) *size = count;
    return 1;
  };
  switch (module) {
    case NVTX_CB_MODULE_CORE: return ours(g_CORE, NVTX_CBID_CORE_SIZE);
    case NVTX_CB_MODULE_CORE2: return ours(g_CORE2, NVTX_CBID_CORE2_SIZE);
    case NVTX_CB_MODULE_CUDA: return ours(g_CUDA, NVTX_CBID_CUDA_SIZE);
    case NVTX_CB_MODULE_CUDART: return ours(g_CUDART, NVTX_CBID_CUDART_SIZE);
    case NVTX_CB_MODULE_SYNC: return ours(g_SYNC, NVTX_CBID_SYNC_SIZE);
    default: break;
  }
  // Names of OpenCL objects: the tool may have the program's own table. If two objects start at the same moment, their
  // tables may be mixed up here. The tool then misses such names of one of them, but no event.
  const auto get_table = g_get_table.load(std::memory_order_acquire);
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  return callbacks != nullptr ? callbacks->GetModuleFunctionTable(module, table, size) : 0;
}

const NvtxExportTableCallbacks kCallbacks = {sizeof(NvtxExportTableCallbacks), module_table};

const void* NVTX_API export_table(uint32_t id) {
  if (id == NVTX_ETID_CALLBACKS) return &kCallbacks;
  return g_get_table.load(std::memory_order_acquire)(id);
}

}  // namespace

void* own_nvtx_entry(const char* name) {
  if (std::strcmp(name, kNvtxEntry) == 0) return reinterpret_cast<void*>(InitializeInjectionNvtx2);
  if (std::strcmp(name, kNvtxExtensionEntry) == 0) return reinterpret_cast<void*>(InitializeInjectionNvtxExtension);
  return nullptr;
}

void* chained_symbol(const char* name) {
  const char* const path = chained_nvtx_injection();
  const DlsymFunction dlsym_of_libc = real_dlsym();
  if (path[0] == '\0' || real_dlopen() == nullptr || dlsym_of_libc == nullptr) return nullptr;
  void* const library = real_dlopen()(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    static std::atomic<bool> once{false};
    say(once, "the NVTX tool ", path, " cannot be loaded; NVTX is recorded without it");
    return nullptr;
  }
  return dlsym_of_libc(library, name);
}

void nvtx_chain_object(NvtxGetExportTableFunc_t get_table) {
  void* const found = chained_symbol(kNvtxEntry);
  if (found == nullptr) return;
  set_nvtx_extra(kNvtxChain, true);
  fill_tables();
  g_get_table.store(get_table, std::memory_order_release);
  reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(found)(export_table);
}

nvtxMessageValue_t chained_message(int32_t type, nvtxMessageValue_t message) {
  if (type != NVTX_MESSAGE_TYPE_REGISTERED) return message;
  const NvtxObject* const string = nvtx_string_of(message.registered);
  message.registered =
      string != nullptr ? static_cast<nvtxStringHandle_t>(string->chained.load(std::memory_order_acquire)) : nullptr;
  return message;
}

nvtxEventAttributes_t chained_attributes(const nvtxEventAttributes_t* attributes) {
  nvtxEventAttributes_t theirs{};
  if (attributes == nullptr) return theirs;
  std::memcpy(&theirs, attributes, attributes->size < sizeof theirs ? attributes->size : sizeof theirs);
  theirs.message = chained_message(theirs.messageType, theirs.message);
  return theirs;
}

void chain_range(uint64_t range, nvtxRangeId_t theirs) { g_ranges.put(reinterpret_cast<void*>(range << 8), theirs); }

nvtxRangeId_t chained_range(uint64_t range) {
  void* const key = reinterpret_cast<void*>(range << 8);
  const nvtxRangeId_t theirs = g_ranges.find(key);
  g_ranges.erase(key);
  return theirs;
}

}  // namespace prof::preload
