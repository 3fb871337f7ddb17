// Another NVTX tool was loaded first: it gets every event, with its own handles, and so does the log.
// Link: none
// Env: NVTX_INJECTION64_PATH={shim}
// Expect: status 0
// Expect: stdout tool: push both
// Expect: stdout tool: pop
// Expect: stdout tool: domain theirs is 0x1000
// Expect: stdout tool: push in 0x1000 string 0x2000
// Expect: stdout tool: end 4711
// Expect: stdout tool: stream 0x42 is theirs too
// Expect: stdout tool: acquire 0x3000
// Expect: stdout tool: schema 4294967296 of 1 in 0x1000
// Expect: stdout tool: payload 4294967296 in 0x1000
// Expect: stdout tool: counter 99 is 5
// Expect: report nvtx-trace: ,with payload,.*,value=7$
// Expect: report nvtx-counters: ^count,
// Expect: log 1: 1 nvtx_push(both), 1 nvtx_push(registered), 3 nvtx_pop, 1 nvtx_start(range), 1 nvtx_end, whole
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtSync.h>

#include <cstdint>

int main() {
  if (nvtxRangePushA("both") != 0 || nvtxRangePop() != 0) return 1;
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("theirs");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  nvtxRangeEnd(nvtxRangeStartA("range"));
  nvtxNameCuStreamA(reinterpret_cast<CUstream>(0x42), "theirs too");
  nvtxSyncUserAttributes_t sync{};
  sync.version = NVTX_VERSION;
  sync.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
  nvtxDomainSyncUserAcquireStart(nvtxDomainSyncUserCreate(domain, &sync));

  // The tool assigns the numbers of schemas, so it must know the ones it receives.
  const nvtxPayloadSchemaEntry_t entry = {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "value"};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = &entry;
  schema.numEntries = 1;
  const uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
  if (id != NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START) return 2;
  const int value = 7;
  const nvtxPayloadData_t data = {id, sizeof value, &value};
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "with payload";
  nvtxDomainRangePushEx(domain, &event);
  nvtxRangePopPayload(domain, &data, 1);
  nvtxCounterAttr_t counter{};
  counter.structSize = sizeof counter;
  counter.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  counter.name = "count";
  const uint64_t number = nvtxCounterRegister(domain, &counter);
  if (number != 99) return 3;
  nvtxCounterSampleInt64(domain, number, 5);
  return 0;
}
