// The other tool of nvtx_chain.cpp: prints what it is told.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

static int push(const char* text) { return std::printf("tool: push %s\n", text), 0; }
static int pop() { return std::printf("tool: pop\n"), 0; }
static nvtxDomainHandle_t create(const char* name) {
  std::printf("tool: domain %s is 0x1000\n", name);
  return reinterpret_cast<nvtxDomainHandle_t>(0x1000);
}
static nvtxStringHandle_t string(nvtxDomainHandle_t, const char*) {
  return reinterpret_cast<nvtxStringHandle_t>(0x2000);
}
static int push_in(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return std::printf("tool: push in %p string %p\n", static_cast<void*>(domain),
                     static_cast<const void*>(event->message.registered)),
         0;
}
static nvtxRangeId_t start(const char*) { return 4711; }
static void end(nvtxRangeId_t id) { std::printf("tool: end %d\n", static_cast<int>(id)); }

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size);
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  *table[NVTX_CBID_CORE_RangeStartA] = reinterpret_cast<NvtxFunctionPointer>(start);
  *table[NVTX_CBID_CORE_RangeEnd] = reinterpret_cast<NvtxFunctionPointer>(end);
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size);
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create);
  *table[NVTX_CBID_CORE2_DomainRegisterStringA] = reinterpret_cast<NvtxFunctionPointer>(string);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push_in);
  return 1;
}
