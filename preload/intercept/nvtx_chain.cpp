#include "preload/intercept/nvtx_chain.h"

#include "preload/intercept/handle_map.h"
#include "preload/runtime/libc.h"
#include "preload/runtime/recorder.h"
#include "preload/runtime/start.h"

#include <atomic>
#include <cstring>

namespace prof::preload {

NvtxChain g_nvtx_chain;

namespace {

HandleMap<4096> g_ranges;  // ids shifted by 8, to look like handles
std::atomic<NvtxGetExportTableFunc_t> g_get_table{nullptr};

// Pointers to the members of g_nvtx_chain in the order of NVTX's ids: the table that the tool fills.
NvtxFunctionPointer* g_core[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer* g_core2[NVTX_CBID_CORE2_SIZE];

void fill_tables() {
#define NVTX_CORE(name) g_core[NVTX_CBID_CORE_##name] = reinterpret_cast<NvtxFunctionPointer*>(&g_nvtx_chain.name);
#define NVTX_CORE2(name) g_core2[NVTX_CBID_CORE2_##name] = reinterpret_cast<NvtxFunctionPointer*>(&g_nvtx_chain.name);
#include "preload/intercept/nvtx_functions.def"
#undef NVTX_CORE
#undef NVTX_CORE2
}

int NVTX_API module_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
  if (module == NVTX_CB_MODULE_CORE || module == NVTX_CB_MODULE_CORE2) {
    const bool core = module == NVTX_CB_MODULE_CORE;
    if (table != nullptr) *table = core ? g_core : g_core2;
    if (size != nullptr) *size = core ? unsigned{NVTX_CBID_CORE_SIZE} : unsigned{NVTX_CBID_CORE2_SIZE};
    return 1;
  }
  // Names of CUDA objects and the like: the tool may have the program's own table. Two objects that start at the same
  // moment may be mixed up here; the tool then misses such names of one of them, no event.
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

void nvtx_chain_object(NvtxGetExportTableFunc_t get_table) {
  const char* const path = chained_nvtx_injection();
  const DlsymFunction dlsym_of_libc = real_dlsym();
  if (path[0] == '\0' || prof_libc_dlopen == nullptr || dlsym_of_libc == nullptr) return;
  void* const library = prof_libc_dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  void* const found = library != nullptr ? dlsym_of_libc(library, "InitializeInjectionNvtx2") : nullptr;
  if (found == nullptr) {
    static std::atomic<bool> once{false};
    say(once, "the NVTX tool ", path, " cannot be loaded; NVTX is recorded without it");
    return;
  }
  fill_tables();
  g_get_table.store(get_table, std::memory_order_release);
  reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(found)(export_table);
}

nvtxEventAttributes_t chained_attributes(const nvtxEventAttributes_t* attributes) {
  nvtxEventAttributes_t theirs{};
  if (attributes == nullptr) return theirs;
  std::memcpy(&theirs, attributes, attributes->size < sizeof theirs ? attributes->size : sizeof theirs);
  if (theirs.messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    const NvtxObject* const string = nvtx_string_of(theirs.message.registered);
    theirs.message.registered =
        string != nullptr ? static_cast<nvtxStringHandle_t>(string->chained.load(std::memory_order_acquire)) : nullptr;
  }
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
