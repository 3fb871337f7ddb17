// What a program declares about the numbers of its NVTX counters: units with a scale, limits, deltas, fixed point, the
// scope of a number; samples without a number.
// Link: none
// Expect: status 0
// Expect: log 1: whole, 0 lost, 6 nvtx_semantics, counter nvtx_times_unknown 0
// Expect: report nvtx-counters:
//   ^power,W,app,,,[^,]*,\d+,3,0,0\.250,0\.750,1\.500,0\.500,\d+,\d+,0\.000,1\.000,1,"absolute, until the next"
// Expect: report nvtx-counters: ^packets,,app,,,[^,]*,\d+,3,0,2\.000,3\.667,5\.000,4\.000,\d+,\d+,,,,deltas
// Expect: report nvtx-counters: ^level,,app,,,[^,]*,\d+,2,0,0\.000,0\.500,1\.000,1\.000,\d+,\d+,,,,normalised
// Expect: report nvtx-counters:
//   ^tilt,,app,,,[^,]*,\d+,2,0,-1\.000,-0\.500,0\.000,0\.000,\d+,\d+,,,,"since start, normalised, linear between"
// Expect: report nvtx-counters: ^kept,,app,,,[^,]*,\d+,3,1,0\.000,4\.667,7\.000,0\.000,
// Expect: report nvtx-counters:
//   ^disk.read,MB,app,,,[^,]*,\d+,2,1,2\.000,2\.000,2\.000,2\.000,\d+,\d+,,10\.000,0,since the last
// Expect: report nvtx-counters: ^disk.errors,,app,,,[^,]*,\d+,2,1,3\.000,3\.000,3\.000,3\.000,
// Expect: trace: "name":"app: power".*"args":\{"W \(0 to 1\)":1\.5\}
// Expect: trace: "name":"app: packets".*"args":\{"value":4\}
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include <cstdint>
#include <initializer_list>

namespace {

nvtxDomainHandle_t domain;

nvtxSemanticsCounter_t semantics(uint64_t flags) {
  nvtxSemanticsCounter_t made{};
  made.header = {sizeof made, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION, nullptr};
  made.flags = flags;
  made.unitScaleNumerator = made.unitScaleDenominator = 1;
  return made;
}

uint64_t counter(const char* name, uint64_t type, const nvtxSemanticsCounter_t* said) {
  nvtxCounterAttr_t given{};
  given.structSize = sizeof given;
  given.schemaId = type;
  given.name = name;
  given.semantics = said != nullptr ? &said->header : nullptr;
  return nvtxCounterRegister(domain, &given);
}

}  // namespace

int main() {
  domain = nvtxDomainCreateA("app");
  nvtxSemanticsCounter_t milliwatts = semantics(NVTX_COUNTER_FLAG_LIMITS | NVTX_COUNTER_FLAG_VALUETYPE_ABSOLUTE |
                                                NVTX_COUNTER_FLAG_INTERPOLATION_UNTIL_NEXT);
  milliwatts.unit = "W";
  milliwatts.unitScaleDenominator = 1000;
  milliwatts.limitType = NVTX_COUNTER_LIMIT_I64;
  milliwatts.max.i64 = 1000;
  const uint64_t power = counter("power", NVTX_PAYLOAD_ENTRY_TYPE_INT64, &milliwatts);
  for (const int64_t value : {250, 1500, 500}) nvtxCounterSampleInt64(domain, power, value);

  const nvtxSemanticsCounter_t delta = semantics(NVTX_COUNTER_FLAG_VALUETYPE_DELTA);
  const uint64_t packets = counter("packets", NVTX_PAYLOAD_ENTRY_TYPE_INT64, &delta);
  for (const int64_t value : {2, 3, -1}) nvtxCounterSampleInt64(domain, packets, value);

  const nvtxSemanticsCounter_t fixed = semantics(NVTX_COUNTER_FLAG_NORMALIZE);
  const uint64_t level = counter("level", NVTX_PAYLOAD_ENTRY_TYPE_UINT8, &fixed);
  for (const uint8_t value : {uint8_t{0}, uint8_t{255}}) nvtxCounterSample(domain, level, &value, sizeof value);
  const nvtxSemanticsCounter_t sloped =
      semantics(NVTX_COUNTER_FLAG_NORMALIZE | NVTX_COUNTER_FLAG_VALUETYPE_DELTA_SINCE_START |
                NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR);
  const uint64_t tilt = counter("tilt", NVTX_PAYLOAD_ENTRY_TYPE_INT16, &sloped);
  for (const int16_t value : {int16_t{-32768}, int16_t{0}}) nvtxCounterSample(domain, tilt, &value, sizeof value);

  const uint64_t kept = counter("kept", NVTX_PAYLOAD_ENTRY_TYPE_INT64, nullptr);
  nvtxCounterSampleInt64(domain, kept, 7);
  nvtxCounterSampleNoValue(domain, kept, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
  nvtxCounterSampleNoValue(domain, kept, NVTX_COUNTER_SAMPLE_UNCHANGED);
  nvtxCounterSampleNoValue(domain, kept, NVTX_COUNTER_SAMPLE_ZERO);

  // An entry's semantics apply to it, the group's to the others.
  nvtxSemanticsCounter_t megabytes =
      semantics(NVTX_COUNTER_FLAG_LIMIT_MAX | NVTX_COUNTER_FLAG_INTERPOLATION_SINCE_LAST);
  megabytes.unit = "MB";
  megabytes.unitScaleNumerator = 4;
  megabytes.unitScaleDenominator = 2;
  megabytes.limitType = NVTX_COUNTER_LIMIT_F64;
  megabytes.max.f64 = 5;
  const nvtxSemanticsCounter_t plain = semantics(NVTX_COUNTER_FLAG_VALUETYPE_ABSOLUTE);
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "read", nullptr, 0, 0, &megabytes.header},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "errors"}};
  nvtxPayloadSchemaAttr_t given{};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  given.entries = entries;
  given.numEntries = 2;
  const uint64_t disk = counter("disk", nvtxPayloadSchemaRegister(domain, &given), &plain);
  const uint32_t sample[] = {1, 3};
  nvtxCounterSample(domain, disk, sample, sizeof sample);
  nvtxCounterSampleNoValue(domain, disk, NVTX_COUNTER_SAMPLE_UNCHANGED);
  nvtxCounterSampleNoValue(domain, disk, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
  return 0;
}
