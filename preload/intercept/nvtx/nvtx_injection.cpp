// InitializeInjectionNvtx2: each shared object of the program that uses NVTX calls it at its first use. NVTX is
// header-only, so each object has its own copy and finds this function through NVTX_INJECTION64_PATH. It gives the
// object the functions of nvtx_functions.h.
#include "preload/base/options.h"
#include "preload/base/own_library.h"
#include "preload/control/triggers.h"
#include "preload/intercept/nvtx/nvtx_chain.h"
#include "preload/intercept/nvtx/nvtx_functions.h"
#include "preload/lifecycle/load.h"
#include "preload/record/thread_local.h"

#include <cstdlib>
#include <cstring>

namespace prof::preload {

namespace nvtx_functions {

void Initialize(const void* reserved) {
  if (g_nvtx_chain.Initialize != nullptr) g_nvtx_chain.Initialize(reserved);
}

}  // namespace nvtx_functions

namespace {

struct NvtxRow {
  NvtxCallbackModule module;
  unsigned id;
  NvtxFunctionPointer function;
};
const NvtxRow kNvtxRows[] = {
#define NVTX_FUNCTION(module, name, kind)                \
  {NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##name, \
   reinterpret_cast<NvtxFunctionPointer>(static_cast<nvtx##name##_##kind##_fntype>(nvtx_functions::name))},
#include "preload/intercept/nvtx/nvtx_functions.def"
#undef NVTX_FUNCTION
};

bool switched_off() { return !ready_to_record() || (!options().nvtx && !starts_with_range()); }

int install(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return 0;
  for (const NvtxRow& row : kNvtxRows) {
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    // An older NVTX has smaller tables, or none.
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
