// NVTX counters and events of NVTX scopes that were registered before the recording started, in each of two recordings:
// their paths, parents that are defined later, are unknown or contain each other, and numbers that are already used.
// Link: none
// Shell: PROF_START=nvtx:step PROF_PARTS=2 {run}
// Expect: status 0
// Expect: logs 2
// Expect: log 1: whole, 0 lost, 8 nvtx_scope, 6 nvtx_counter, text path="/SM[3]", text path="GPU[CUDAID:0]", no nvtx_scope(path="unused")
// Expect: log 2: whole, 0 lost, 8 nvtx_scope, 6 nvtx_counter
// Expect: report nvtx-counters: 2 x ^temperature,,app,CURRENT_HW_MACHINE\[[^]]+\]/GPU\[CUDAID:0\],
// Expect: report nvtx-counters: 2 x ^occupancy,,app,CURRENT_HW_MACHINE\[[^]]+\]/GPU\[CUDAID:0\]/SM\[4\],
// Expect: report nvtx-counters: 2 x ^load,,app,CURRENT_SW_THREAD\[[0-9]+\],
// Expect: report nvtx-counters: 2 x ^early,,app,ROOT/rack/switch,
// Expect: report nvtx-counters: 2 x ^circle,,app,\u2026/one/other,
// Expect: report nvtx-counters: 2 x ^memory.used,,app,CURRENT_HW_MACHINE\[[^]]+\]/GPU\[CUDAID:0\]/SM\[3\],
// Expect: report nvtx-counters: 2 x ^memory.free,,app,\?/orphan,
// Expect: report nvtx-trace: 2 x ,marked,.*,"of=""CURRENT_HW_MACHINE\[[^]]+\]/GPU\[CUDAID:0\]"", ROOT/rack/switch/weight=7"
// Expect: report nvtx-trace: 2 x ,in a batch,.*,submitted later,step,,"name=""in a batch"", scope=""ROOT/rack"""
// Expect: trace: "ph":"C","name":"app: ROOT/rack/switch/early"
// Expect: trace: "name":"marked".*"ROOT/rack/switch/weight":7
#include "tests/e2e/programs/nvtx/payload_schema.h"

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsScope.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

#include <cstdint>
#include <initializer_list>

namespace {

nvtxDomainHandle_t domain;

uint64_t scope(const char* path, uint64_t parent, uint64_t number = 0) {
  nvtxScopeAttr_t given{};
  given.structSize = sizeof given;
  given.path = path;
  given.parentScope = parent;
  given.scopeId = number;
  return nvtxScopeRegister(domain, &given);
}

uint64_t counter(const char* name, uint64_t of_scope, uint64_t schema = NVTX_PAYLOAD_ENTRY_TYPE_INT64) {
  nvtxCounterAttr_t given{};
  given.structSize = sizeof given;
  given.schemaId = schema;
  given.name = name;
  given.scopeId = of_scope;
  return nvtxCounterRegister(domain, &given);
}

}  // namespace

int main() {
  domain = nvtxDomainCreateA("app");
  constexpr uint64_t kStatic = NVTX_SCOPE_ID_STATIC_START;
  const uint64_t gpu = scope("GPU[CUDAID:0]", NVTX_SCOPE_CURRENT_HW_MACHINE);
  const uint64_t sm = scope("/SM[3]", gpu);
  if (gpu < NVTX_SCOPE_ID_DYNAMIC_START || sm == gpu || scope("GPU[CUDAID:0]", NVTX_SCOPE_CURRENT_HW_MACHINE) != gpu)
    return 1;
  const uint64_t child = scope("switch", kStatic + 1, kStatic);  // its parent is defined later
  const uint64_t rack = scope("rack", NVTX_SCOPE_ROOT, kStatic + 1);
  if (child != kStatic || scope("switch", kStatic + 1, kStatic) != child) return 2;
  if (scope("other", NVTX_SCOPE_ROOT, kStatic) != NVTX_SCOPE_NONE) return 3;  // the number is already used
  if (scope("reserved", NVTX_SCOPE_ROOT, 77) != NVTX_SCOPE_NONE) return 4;
  scope("one", kStatic + 3, kStatic + 2);
  scope("other", kStatic + 2, kStatic + 3);
  const uint64_t orphan = scope("orphan", kStatic + 99);
  const uint64_t unused = scope("unused", NVTX_SCOPE_ROOT);
  if (scope("unused too", NVTX_SCOPE_ROOT) == unused || scope("unused", NVTX_SCOPE_ROOT) != unused) return 5;

  // A registered string belongs to its domain, whatever its text.
  const auto text_of = [](nvtxDomainHandle_t of) { return nvtxDomainRegisterStringA(of, "one text"); };
  if (text_of(domain) == text_of(nvtxDomainCreateA("other")) || text_of(domain) != text_of(domain)) return 6;

  nvtxSemanticsScope_t of_rack{}, of_orphan{};
  of_rack.header = of_orphan.header = {sizeof of_rack, NVTX_SEMANTIC_ID_SCOPE_V1, 1, nullptr};
  of_rack.scopeId = child;
  of_orphan.scopeId = orphan;
  const nvtxPayloadSchemaEntry_t group[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, "where"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "used"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "free", nullptr, 0, 0, &of_orphan.header}};
  const nvtxPayloadSchemaEntry_t mark[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_HIDE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, "of"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "weight", nullptr, 0, 0, &of_rack.header}};
  nvtxSemanticsTime_t tool{};
  tool.header = {sizeof tool, NVTX_SEMANTIC_ID_TIME_V1, NVTX_TIME_SEMANTIC_VERSION, nullptr};
  tool.timeDomainId = NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED;
  const nvtxPayloadSchemaEntry_t later[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name"},
      {NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_HIDE, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "at", nullptr,
       0, 0, &tool.header}};
  const uint64_t marks = static_schema(domain, mark),
                 laters = static_schema(domain, later, NVTX_PAYLOAD_SCHEMA_FLAG_MARK);
  const uint64_t temperature = counter("temperature", gpu), occupancy = counter("occupancy", scope("/SM[4]", gpu));
  const uint64_t load = counter("load", NVTX_SCOPE_CURRENT_SW_THREAD), early = counter("early", child);
  const uint64_t circle = counter("circle", kStatic + 3);
  const uint64_t memory = counter("memory", gpu, static_schema(domain, group, NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP));

  for (int part = 0; part < 2; ++part) {
    nvtxRangePushA("step");
    for (const uint64_t each : {temperature, occupancy, load, early, circle}) nvtxCounterSampleInt64(domain, each, 1);
    const struct {
      uint64_t where;
      uint32_t used, free;
    } sample = {sm, 5, 6};
    nvtxCounterSample(domain, memory, &sample, sizeof sample);
    const struct {
      const char* name;
      uint64_t of;
      uint32_t weight;
    } marked = {"marked", gpu, 7};
    const nvtxPayloadData_t payload = {marks, sizeof marked, &marked};
    nvtxMarkPayload(domain, &payload, 1);
    const struct {
      const char* name;
      int64_t at;
    } in_batch = {"in a batch", nvtxTimestampGet()};
    nvtxEventBatch_t batch{};
    batch.eventSchemaId = laters;
    batch.size = sizeof in_batch;
    batch.events = &in_batch;
    batch.scope = rack;
    nvtxEventBatchSubmit(domain, &batch);
    nvtxRangePop();
  }
  return 0;
}
