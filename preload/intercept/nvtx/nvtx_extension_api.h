// How do NVTX's payload and counter extensions call a tool? The structs have the layout of their headers (NVTX 3.1 and
// newer) and our own names. A toolkit without these headers therefore builds the same library. A unit test compares
// them with the toolkit's headers.
//
//   program's object  nvtxExtInitOnce ──> InitializeInjectionNvtxExtension(module)
//                                     ──> module's slots = functions of ours
#pragma once

#include "preload/intercept/nvtx/nvtx_api.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

struct NvtxExtSegment {
  size_t id;
  size_t slot_count;
  intptr_t* slots;  // by callback id; 0: NVTX makes the function a no-op
};
struct NvtxExtModule {
  uint16_t nvtx_version, struct_size, module, compatibility;
  size_t segment_count;
  NvtxExtSegment* segments;
  intptr_t (*get_export)(uint32_t);
  const void* info;
};
inline constexpr uint16_t kNvtxPayloadModule = 2, kNvtxCountersModule = 4;
inline constexpr int32_t kNvtxPayloadTypeExtended = static_cast<int32_t>(0xDFBD0009);

struct NvtxPayloadData {
  uint64_t schema;
  size_t size;  // SIZE_MAX: the tool must compute it
  const void* payload;
};

struct NvtxSemantics {  // head of a list; `id` decides what follows
  uint32_t struct_size;
  uint16_t id, version;
  const NvtxSemantics* next;
};
inline constexpr uint16_t kSemanticsScope = 1, kSemanticsTime = 2, kSemanticsCounter = 5;
struct NvtxSemanticsScope {
  NvtxSemantics head;
  uint64_t scope;
};
struct NvtxSemanticsTime {
  NvtxSemantics head;
  uint64_t time_domain;
};
struct NvtxSemanticsCounter {
  NvtxSemantics head;
  uint64_t flags;
  const char* unit;
  uint64_t numerator, denominator;
  int64_t limit_type;
  uint64_t min, max;  // the 64 bits
};

struct NvtxSchemaEntryGiven {
  uint64_t flags, type;
  const char *name, *description;
  uint64_t detail, offset;
  const NvtxSemantics* semantics;
  const void* reserved;
};
struct NvtxSchemaGiven {
  uint64_t fields;  // bits 1…9: which of the following members are set, in order
  const char* name;
  uint64_t type, flags;
  const NvtxSchemaEntryGiven* entries;
  size_t entry_count, static_size, pack_align;
  uint64_t id;
  void* extension;
};
struct NvtxEnumEntryGiven {
  const char* name;
  uint64_t value;
  int8_t is_flag;
};
struct NvtxEnumGiven {
  uint64_t fields;  // bits 1…6
  const char* name;
  const NvtxEnumEntryGiven* entries;
  size_t entry_count, size;
  uint64_t id;
  void* extension;
};
struct NvtxTimeDomainGiven {
  uint64_t scope, timestamp_type, id, flags;
  int64_t resolution;
  uint64_t start;
};
struct NvtxSyncPointGiven {
  int64_t source, destination;
};
struct NvtxScopeGiven {
  size_t struct_size;
  const char* path;
  uint64_t parent, id;
};
struct NvtxEventBatchGiven {
  uint64_t schema;
  size_t size;
  const void* events;
  uint64_t scope, flags;
  const void* flexible;
  size_t flexible_size, flexible_offset;
};
struct NvtxCounterGiven {
  size_t struct_size;
  uint64_t schema;
  const char *name, *description;
  uint64_t scope;
  const NvtxSemantics* semantics;
  uint64_t id;
};
struct NvtxCounterBatchGiven {
  uint64_t counter;
  const void* samples;
  size_t samples_size;
  uint64_t flags;
  const int64_t* stamps;
  size_t stamps_size;
};

}  // namespace prof::preload
