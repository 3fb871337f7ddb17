// The other tool of nvtx_chain.cpp: prints the events that it receives.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtCounters.h>

#include <cstdint>
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

static void name_stream(void* stream, const char* name) { std::printf("tool: stream %p is %s\n", stream, name); }
static void* sync_create(nvtxDomainHandle_t, const void*) { return reinterpret_cast<void*>(0x3000); }
static void sync_acquire(void* object) { std::printf("tool: acquire %p\n", object); }
static uint64_t schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* given) {
  const uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;
  std::printf("tool: schema %llu of %zu in %p\n", static_cast<unsigned long long>(id), given->numEntries,
              static_cast<void*>(domain));
  return id;
}
static int pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t) {
  return std::printf("tool: payload %llu in %p\n", static_cast<unsigned long long>(data->schemaId),
                     static_cast<void*>(domain)),
         0;
}
static uint64_t counter(nvtxDomainHandle_t, const nvtxCounterAttr_t*) { return 99; }
static void sample(nvtxDomainHandle_t, uint64_t id, int64_t value) {
  std::printf("tool: counter %d is %d\n", static_cast<int>(id), static_cast<int>(value));
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  intptr_t* const slots = module->segments[0].functionSlots;
  if (module->moduleId == NVTX_EXT_PAYLOAD_MODULEID) {
    slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] = reinterpret_cast<intptr_t>(schema);
    slots[NVTX3EXT_CBID_nvtxRangePopPayload] = reinterpret_cast<intptr_t>(pop_payload);
  } else if (module->moduleId == NVTX_EXT_COUNTERS_MODULEID) {
    slots[NVTX3EXT_CBID_nvtxCounterRegister] = reinterpret_cast<intptr_t>(counter);
    slots[NVTX3EXT_CBID_nvtxCounterSampleInt64] = reinterpret_cast<intptr_t>(sample);
  }
  return 1;
}

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
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CUDA, &table, &size);
  *table[NVTX_CBID_CUDA_NameCuStreamA] = reinterpret_cast<NvtxFunctionPointer>(name_stream);
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_SYNC, &table, &size);
  *table[NVTX_CBID_SYNC_DomainSyncUserCreate] = reinterpret_cast<NvtxFunctionPointer>(sync_create);
  *table[NVTX_CBID_SYNC_DomainSyncUserAcquireStart] = reinterpret_cast<NvtxFunctionPointer>(sync_acquire);
  return 1;
}
