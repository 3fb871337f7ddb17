// Registers a payload schema of static size, for the programs about extended payloads.
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>

template <size_t n>
uint64_t static_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaEntry_t (&entries)[n], uint64_t flags = 0) {
  nvtxPayloadSchemaAttr_t given{};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
  given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  given.flags = flags;
  given.entries = entries;
  given.numEntries = n;
  return nvtxPayloadSchemaRegister(domain, &given);
}
