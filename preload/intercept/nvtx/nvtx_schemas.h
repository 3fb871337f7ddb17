// Schemas of extended NVTX payloads, enumerations and counters as the program registered them. They are copied into
// memory of ours (nvtx_objects.h). The log of a recording gets their definition when it first needs them. It runs in
// the program.
#pragma once

#include "preload/format/events.h"
#include "preload/format/ids.h"
#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/intercept/nvtx/nvtx_objects.h"

#include <atomic>
#include <string_view>

namespace prof::preload {

// A field of a payload that the recorder itself reads. Fields are found once, at registration, in layouts that do not
// depend on values.
struct NvtxField {
  enum What : uint8_t {
    TextPointer,
    DataPointer,
    Registered,
    EmbeddedText,
    BeginStamp,
    EndStamp,
    Category,
    Color,
    Scope
  };
  uint32_t offset = 0;
  What what{};
  bool message = false;        // the field is the event's message
  uint8_t char_bytes = 1;      // of texts
  uint32_t size = 0;           // EmbeddedText: bytes; DataPointer: of one element
  uint32_t count = 1;          // DataPointer: elements; 0: up to a zero element; kCounted: another entry has the number
  uint32_t length_offset = 0;  // kCounted: where that entry is
  int8_t length_bytes = 0;     // and its width, negative for a signed number
  static constexpr uint32_t kCounted = UINT32_MAX;
  uint64_t time_domain = 0;  // stamps: number of their clock (nvtx_clocks.h)
  uint64_t scope = 0;        // and of the scope if it names no clock
};

// How are the numbers of a counter or an entry to be read (format::NvtxSemanticsDef)?
struct NvtxNumbers {
  bool given = false;
  uint64_t flags = 0, numerator = 1, denominator = 1, limit_type = 0, min = 0, max = 0;
  const char* unit = "";
};

struct NvtxSchema {
  static constexpr uint32_t kMaxFields = 32;
  struct Entry {
    uint64_t flags, type, detail, offset;
    const char* name;
    uint64_t scope;        // number of the scope that its values belong to
    NvtxNumbers* numbers;  // null: not given
  };
  uint64_t key = 0;  // of the contents and the place of registration
  uint64_t number = 0;
  NvtxObject* domain = nullptr;
  std::atomic<uint64_t> defined{0};  // [32 bits epoch of the recording | 32 bits SchemaId]
  uint32_t type = 0, flags = 0;
  uint64_t static_size = 0, pack_align = 0;
  uint32_t size = 0, align = 1;  // of one payload; size 0: it depends on the values
  uint32_t entry_count = 0, field_count = 0;
  const char* name = "";
  Entry* entries = nullptr;
  NvtxField fields[kMaxFields];
};

struct NvtxCounter {
  uint64_t number = 0;
  NvtxObject* domain = nullptr;
  std::atomic<uint64_t> defined{0};
  uint64_t schema = 0, scope = 0;
  uint64_t time_domain = 0;  // clock of stamps that are given with the samples
  NvtxNumbers* numbers = nullptr;
  const char* name = "";
};

// `wanted`: the id that a chained tool gave; 0: the program's own, or a new one. Returns the id for the program; 0:
// refused.
uint64_t nvtx_register_schema(NvtxObject* domain, const NvtxSchemaGiven* given, uint64_t wanted);
uint64_t nvtx_register_enum(NvtxObject* domain, const NvtxEnumGiven* given, uint64_t wanted);
uint64_t nvtx_register_counter(NvtxObject* domain, const NvtxCounterGiven* given, uint64_t wanted);
uint64_t nvtx_new_number();  // for objects whose number the program leaves to the tool

// Null: it is not registered.
NvtxSchema* nvtx_schema(NvtxObject* domain, uint64_t number);
NvtxCounter* nvtx_counter(NvtxObject* domain, uint64_t number);

// Ids in this recording's log. The caller is inside a scope. 0: the definition could not be written.
format::SchemaId nvtx_schema_id(NvtxSchema* schema);
format::NvtxCounterId nvtx_counter_id(NvtxCounter* counter);

}  // namespace prof::preload
