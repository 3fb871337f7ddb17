// A timer source whose code is unloaded while its clock is in use is no longer called, and its earlier values remain
// valid.
// Link: none
// Env: CLOCK_LIBRARY={shim}
// Expect: status 0
// Expect: log 1: whole, 0 lost, 2 nvtx_deferred, 2 nvtx_sync_point
// Expect: report nvtx-trace: ,there,.*,submitted later,
// Expect: report nvtx-trace: ,gone,.*,submitted later,
// Expect: report nvtx-trace: coverage: .*lost records 0$
#include <dlfcn.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>

int main() {
  void* const library = dlopen(std::getenv("CLOCK_LIBRARY"), RTLD_NOW);
  if (library == nullptr) return 1;
  const auto read_clock = reinterpret_cast<int64_t (*)()>(dlsym(library, "read_clock"));
  if (read_clock == nullptr) return 2;
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  nvtxTimeDomainAttr_t clock{};
  nvtxSemanticsTime_t time{};
  time.header = {sizeof time, NVTX_SEMANTIC_ID_TIME_V1, NVTX_TIME_SEMANTIC_VERSION, nullptr};
  time.timeDomainId = nvtxTimeDomainRegister(domain, &clock);
  nvtxTimerSource(domain, time.timeDomainId, NVTX_TIMER_SOURCE_SAFE_CALL_AFTER_PROCESS_TEARDOWN, read_clock);
  const nvtxPayloadSchemaEntry_t entries[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name"},
      {NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "at", nullptr, 0, 0, &time.header}};
  nvtxPayloadSchemaAttr_t given{};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
  given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  given.flags = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
  given.entries = entries;
  given.numEntries = 2;
  struct Mark {
    const char* name;
    int64_t at;
  } mark = {"there", read_clock()};
  const nvtxPayloadData_t payload = {nvtxPayloadSchemaRegister(domain, &given), sizeof mark, &mark};
  nvtxEventSubmit(domain, &payload, 1);
  mark = {"gone", read_clock()};
  if (dlclose(library) != 0 || dlopen(std::getenv("CLOCK_LIBRARY"), RTLD_NOW | RTLD_NOLOAD) != nullptr) return 3;
  const timespec a_while = {0, 30'000'000};  // libprof would call it again
  nanosleep(&a_while, nullptr);
  nvtxEventSubmit(domain, &payload, 1);
  return 0;
}
