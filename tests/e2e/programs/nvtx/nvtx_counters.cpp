// NVTX counters of the program, alone, in groups and in batches with time stamps; ranges and marks submitted after the
// fact.
// Link: none
// Expect: status 0
// Expect: log 1: whole, 0 lost, 11 nvtx_sample, 4 nvtx_deferred, counter nvtx_times_unknown 0, counter nvtx_schema_refused 0
// Expect: report nvtx-trace: coverage: .*nvtx_times_unknown 1
// Expect: report nvtx-counters: ^queue length,requests,app,,,[^,]*,[0-9]+,2,1,3\.000,5\.000,7\.000,7\.000
// Expect: report nvtx-counters: ^load,,app,,,[^,]*,[0-9]+,2,0,0\.000,0\.250,0\.500,0\.000
// Expect: report nvtx-counters: ^memory.used,,app,,,[^,]*,[0-9]+,1,0,100\.000
// Expect: report nvtx-counters: ^memory.free,,app,,,[^,]*,[0-9]+,1,0,50\.000
// Expect: report nvtx-counters: ^batch,,app,,,[^,]*,[0-9]+,3,0,1\.000,2\.000,3\.000,3\.000
// Expect: report nvtx-counters: ^stamped,,app,,,[^,]*,[0-9]+,2,0,1\.500,2\.000,2\.500,2\.500
// Expect: report nvtx-trace: ,later range,.*,StartEnd,app,submitted later,,,"name=""later range"",
// Expect: report nvtx-trace: ,later mark,.*,Mark,app,submitted later,
// Expect: report nvtx-trace: 2 x ,batched,.*,StartEnd,app,submitted later,
// Expect: trace: "ph":"C","name":"app: queue length".*"args":\{"requests":3\}
// Expect: trace: "name":"later range".*"submitted later":true
#include "tests/e2e/programs/nvtx/payload_schema.h"

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <time.h>

#include <cstdint>

namespace {

int64_t monotonic() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

uint64_t counter(nvtxDomainHandle_t domain, const char* name, uint64_t schema, const void* semantics = nullptr) {
  nvtxCounterAttr_t given{};
  given.structSize = sizeof given;
  given.schemaId = schema;
  given.name = name;
  given.semantics = static_cast<const nvtxSemanticsHeader_t*>(semantics);
  return nvtxCounterRegister(domain, &given);
}

}  // namespace

int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  nvtxSemanticsCounter_t requests{};
  requests.header = {sizeof requests, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION, nullptr};
  requests.unit = "requests";
  const uint64_t length = counter(domain, "queue length", NVTX_PAYLOAD_ENTRY_TYPE_INT64, &requests);
  if (length < NVTX_COUNTER_ID_DYNAMIC_START) return 1;
  nvtxCounterSampleInt64(domain, length, 3);
  nvtxCounterSampleInt64(domain, length, 7);
  nvtxCounterSampleNoValue(domain, length, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
  const uint64_t load = counter(domain, "load", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
  nvtxCounterSampleFloat64(domain, load, 0.5);
  nvtxCounterSampleNoValue(domain, load, NVTX_COUNTER_SAMPLE_ZERO);
  nvtxCounterSampleInt64(domain, 12345, 1);  // not registered: counted

  const nvtxPayloadSchemaEntry_t group[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "used"},
                                            {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "free"}};
  const uint64_t memory =
      counter(domain, "memory", static_schema(domain, group, NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP));
  const struct {
    uint32_t used;
    float free;
  } sample = {100, 50};
  nvtxCounterSample(domain, memory, &sample, sizeof sample);

  // Time stamps of the tool, and of CLOCK_MONOTONIC as begin and interval.
  nvtxSemanticsTime_t tool{}, own{}, strange{};
  tool.header = own.header =
      strange.header = {sizeof tool, NVTX_SEMANTIC_ID_TIME_V1, NVTX_TIME_SEMANTIC_VERSION, nullptr};
  tool.timeDomainId = NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED;
  strange.timeDomainId = NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER;
  nvtxTimeDomainAttr_t clock{};
  clock.timestampTypeId = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC;
  own.timeDomainId = nvtxTimeDomainRegister(domain, &clock);
  const int64_t stamps[] = {nvtxTimestampGet(), nvtxTimestampGet()};
  if (stamps[0] <= 0 || stamps[1] < stamps[0]) return 2;
  const double halves[] = {1.5, 2.5};
  nvtxCounterBatch_t batch{};
  batch.counterId = counter(domain, "stamped", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, &tool);
  batch.counters = halves;
  batch.countersSize = sizeof halves;
  batch.timestamps = stamps;
  batch.timestampsSize = sizeof stamps;
  nvtxCounterBatchSubmit(domain, &batch);
  const int16_t numbers[] = {1, 2, 3};
  const int64_t begin_and_interval[] = {monotonic(), 1000};
  batch.counterId = counter(domain, "batch", NVTX_PAYLOAD_ENTRY_TYPE_INT16, &own);
  batch.counters = numbers;
  batch.countersSize = sizeof numbers;
  batch.timestamps = begin_and_interval;
  nvtxCounterBatchSubmit(domain, &batch);

  struct Event {
    const char* name;
    int64_t begin, end;
  };
  const nvtxPayloadSchemaEntry_t range[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name"},
      {NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin",
       nullptr, 0, 0, &own.header},
      {NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end",
       nullptr, 0, 0, &own.header}};
  const uint64_t ranges = static_schema(domain, range, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP);
  const int64_t now = monotonic();
  const Event later = {"later range", now - 1000, now};
  const nvtxPayloadData_t data = {ranges, sizeof later, &later};
  nvtxEventSubmit(domain, &data, 1);
  const Event two[] = {{"batched", now - 500, now - 400}, {"batched", now - 300, now - 200}};
  nvtxEventBatch_t events{};
  events.eventSchemaId = ranges;
  events.size = sizeof two;
  events.events = two;
  nvtxEventBatchSubmit(domain, &events);
  const nvtxPayloadSchemaEntry_t mark[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name"},
      {NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_MARK, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "at", nullptr,
       0, 0, &strange.header}};
  const Event at = {"later mark", 5, 0};
  const nvtxPayloadData_t unplaced = {static_schema(domain, mark, NVTX_PAYLOAD_SCHEMA_FLAG_MARK), 16, &at};
  nvtxEventSubmit(domain, &unplaced, 1);
  return 0;
}
