// Time stamps of clocks defined by the program: tied to others by synchronisation points (also from before the
// recording), by a table, by a conversion factor, through another clock, by functions that the recorder calls, or by
// the scope that a time domain was registered for; and one that is not tied.
// Link: none
// Shell: PROF_START=nvtx:step {run}
// Expect: status 0
// Expect: log 1: whole, 0 lost, 13 nvtx_deferred, >=10 nvtx_clock, >=15 nvtx_sync_point, counter nvtx_times_unknown 0
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,by points,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,by table,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,by factor,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,by way of another,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,(199[89]|200[01])[0-9]{3},0,[0-9]+,by function,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,(199[89]|200[01])[0-9]{3},0,[0-9]+,by function with data,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,by scope,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,by epoch,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,raw,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,since boot,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,by a domain of a known type,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,2000000,0,2000000,by points on both sides of the begin,
// Expect: report nvtx-trace: ^-?[0-9]+,-?[0-9]+,0,0,0,by nothing,
// Expect: report nvtx-trace: coverage: .*nvtx_times_unknown 1
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsScope.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>

namespace {

nvtxDomainHandle_t domain;
int asked_data = 0;

int64_t now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// A clock that runs half as fast as CLOCK_MONOTONIC and is late by 77.
int64_t half(int64_t monotonic_ns) { return monotonic_ns / 2 - 77; }
int64_t half_now() { return half(now()); }
int64_t half_with_data(void* data) {
  if (data != &asked_data) std::abort();
  ++asked_data;
  return half_now();
}

uint64_t clock_of(uint64_t type, uint64_t scope = NVTX_SCOPE_NONE, int64_t resolution = 0, uint64_t start = 0) {
  nvtxTimeDomainAttr_t given{};
  given.scopeId = scope;
  given.timestampTypeId = type;
  given.timerResolution = resolution;
  given.timerStart = start;
  return nvtxTimeDomainRegister(domain, &given);
}

void submit(const char* name, uint64_t clock, int64_t begin, int64_t end, uint64_t scope = NVTX_SCOPE_NONE) {
  nvtxSemanticsTime_t time{};
  time.header = {sizeof time, NVTX_SEMANTIC_ID_TIME_V1, NVTX_TIME_SEMANTIC_VERSION, nullptr};
  time.timeDomainId = clock;
  const nvtxSemanticsHeader_t* const said = clock != 0 ? &time.header : nullptr;
  const nvtxPayloadSchemaEntry_t entries[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name"},
      {NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin",
       nullptr, 0, 0, said},
      {NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end",
       nullptr, 0, 0, said}};
  nvtxPayloadSchemaAttr_t given{};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
  given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  given.flags = NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP;
  given.entries = entries;
  given.numEntries = 3;
  const struct {
    const char* name;
    int64_t begin, end;
  } event = {name, begin, end};
  nvtxEventBatch_t batch{};
  batch.eventSchemaId = nvtxPayloadSchemaRegister(domain, &given);
  batch.size = sizeof event;
  batch.events = &event;
  batch.scope = scope;
  nvtxEventBatchSubmit(domain, &batch);
}

}  // namespace

int main() {
  constexpr uint64_t kMonotonic = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC;
  constexpr int64_t kStep = 2'000'000;
  domain = nvtxDomainCreateA("app");
  const int64_t start = now() / 2000 * 2000;
  const uint64_t points = clock_of(NVTX_TIMESTAMP_TYPE_NONE), other = clock_of(NVTX_TIMESTAMP_TYPE_NONE);
  nvtxTimeSyncPoint(domain, points, kMonotonic, half(start), start);
  nvtxTimeSyncPoint(domain, kMonotonic, points, start + 2 * kStep, half(start + 2 * kStep));
  const uint64_t asked = clock_of(NVTX_TIMESTAMP_TYPE_NONE), with_data = clock_of(NVTX_TIMESTAMP_TYPE_NONE);
  nvtxTimerSource(domain, asked, NVTX_TIMER_SOURCE_SAFE_CALL_AFTER_PROCESS_TEARDOWN, half_now);

  const uint64_t both_sides = clock_of(NVTX_TIMESTAMP_TYPE_NONE);
  nvtxTimeSyncPoint(domain, both_sides, kMonotonic, half(start), start);

  nvtxRangePushA("step");
  nvtxTimerSourceWithData(domain, with_data, NVTX_TIMER_SOURCE_UNSAFE_CALL_AFTER_PROCESS_TEARDOWN, half_with_data,
                          &asked_data);
  submit("by points", points, half(start), half(start + kStep));
  const uint64_t table = clock_of(NVTX_TIMESTAMP_TYPE_NONE), factor = clock_of(NVTX_TIMESTAMP_TYPE_NONE);
  const nvtxSyncPoint_t pairs[] = {{half(start), start}, {half(start + kStep), start + kStep}, {half(start) / 2, 5}};
  nvtxTimeSyncPointTable(domain, table, kMonotonic, pairs, 3);
  submit("by table", table, half(start + kStep), half(start + 2 * kStep));
  nvtxTimestampConversionFactor(domain, factor, kMonotonic, 2.0, 1000, start);
  submit("by factor", factor, 1000 + kStep, 1000 + kStep + kStep / 2);
  nvtxTimeSyncPoint(domain, other, points, 0, half(start));
  nvtxTimeSyncPoint(domain, other, points, kStep, half(start + kStep));
  submit("by way of another", other, 0, kStep);
  nvtxScopeAttr_t device{};
  device.structSize = sizeof device;
  device.path = "device";
  const uint64_t scope = nvtxScopeRegister(domain, &device);
  const uint64_t scoped = clock_of(NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER, scope);
  nvtxTimeSyncPoint(domain, NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER, kMonotonic, half(start), start);
  nvtxTimeSyncPoint(domain, NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER, kMonotonic, half(start + kStep), start + kStep);
  if (scoped == NVTX_TIME_DOMAIN_ID_NONE) return 1;
  submit("by scope", 0, half(start), half(start + kStep), scope);
  const uint64_t epoch = clock_of(NVTX_TIMESTAMP_TYPE_NONE, NVTX_SCOPE_NONE, 1'000'000, NVTX_TIMER_START_UNIX_EPOCH);
  const int64_t realtime_us = now(CLOCK_REALTIME) / 1000;
  submit("by epoch", epoch, realtime_us, realtime_us + kStep / 1000);
  const timespec a_while = {0, 30'000'000};
  nanosleep(&a_while, nullptr);
  submit("by function", asked, half_now() - kStep / 2, half_now());
  submit("by function with data", with_data, half_now() - kStep / 2, half_now());
  const int64_t raw_ns = now(CLOCK_MONOTONIC_RAW), boot_ns = now(CLOCK_BOOTTIME);
  submit("raw", clock_of(NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_RAW), raw_ns - kStep, raw_ns);
  submit("since boot", NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_BOOTTIME, boot_ns - kStep, boot_ns);
  const uint64_t cpu = clock_of(kMonotonic), gpu = clock_of(NVTX_TIMESTAMP_TYPE_NONE);
  nvtxTimeSyncPoint(domain, gpu, cpu, half(start), start);
  nvtxTimeSyncPoint(domain, cpu, gpu, start + kStep, half(start + kStep));
  submit("by a domain of a known type", gpu, half(start), half(start + kStep));
  nvtxTimeSyncPoint(domain, both_sides, kMonotonic, half(start + kStep), start + kStep);
  submit("by points on both sides of the begin", both_sides, half(start), half(start + kStep));
  submit("by nothing", clock_of(NVTX_TIMESTAMP_TYPE_NONE), 5, 6);
  nvtxRangePop();
  return asked_data >= 2 ? 0 : 2;
}
