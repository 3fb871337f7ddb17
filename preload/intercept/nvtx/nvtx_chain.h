// Another NVTX tool that NVTX_INJECTION64_PATH named before libprof.so. It still gets every event. It writes its
// functions into a table of ours instead of the program's, and our functions call them. It runs in the program.
//
//   program's object ──> our function ──> log
//                                    └──> g_nvtx_chain.name(…)   with the tool's handles (NvtxObject::chained)
#pragma once

#include "preload/intercept/nvtx/nvtx_api.h"
#include "preload/intercept/nvtx/nvtx_objects.h"

namespace prof::preload {

struct NvtxChain {
#define NVTX_FUNCTION(module, name, kind) nvtx##name##_##kind##_fntype name;
#include "preload/intercept/nvtx/nvtx_functions.def"
#undef NVTX_FUNCTION
};
extern NvtxChain g_nvtx_chain;  // null members: there is no tool, or it does not implement that function

// The entries of a tool: of NVTX itself, and of its extensions.
constexpr char kNvtxEntry[] = "InitializeInjectionNvtx2";
constexpr char kNvtxExtensionEntry[] = "InitializeInjectionNvtxExtension";

// The entry of this name in libprof.so; null for every other name.
void* own_nvtx_entry(const char* name);

// The function of this name in the tool's library, which is loaded if necessary. Null: no tool, or it has no such
// function (reported once).
void* chained_symbol(const char* name);

// Initialises the chained tool for one more of the program's objects, whose NVTX gave us `get_table`.
void nvtx_chain_object(NvtxGetExportTableFunc_t get_table);

inline nvtxDomainHandle_t chained_domain(const NvtxObject* domain) {
  return domain == nullptr ? nullptr : static_cast<nvtxDomainHandle_t>(domain->chained.load(std::memory_order_acquire));
}

// The attributes as the tool must get them: a registered string is replaced by the tool's own handle.
nvtxEventAttributes_t chained_attributes(const nvtxEventAttributes_t* attributes);

nvtxMessageValue_t chained_message(int32_t type, nvtxMessageValue_t message);

// Maps our range ids to the tool's.
void chain_range(uint64_t range, nvtxRangeId_t theirs);
nvtxRangeId_t chained_range(uint64_t range);

}  // namespace prof::preload
