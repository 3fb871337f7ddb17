// Schemas of extended NVTX payloads, enumerations and counters as the program registered them: copied into memory
// of ours (nvtx_objects.h), defined in the log when a life first needs them. In the program.
#pragma once

#include "preload/format/events.h"
#include "preload/format/ids.h"
#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/intercept/nvtx/nvtx_objects.h"

#include <atomic>
#include <string_view>

namespace prof::preload {

// What of a payload the recorder itself reads: found once, at registration, in layouts that do not depend on values.
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
  bool message = false;        // it is the event's message
  uint8_t char_bytes = 1;      // of texts
  uint32_t size = 0;           // EmbeddedText: bytes; DataPointer: of one element
  uint32_t count = 1;          // DataPointer: elements, 0: up to one of zeros; kCounted: as many as another entry says
  uint32_t length_offset = 0;  // kCounted: where that entry is
  int8_t length_bytes = 0;     //           and its width, negative of a signed one
  static constexpr uint32_t kCounted = UINT32_MAX;
  uint64_t time_domain = 0;  // stamps: number of their clock (nvtx_clocks.h)
  uint64_t scope = 0;        //   and of the scope, if it names none
};

// How the numbers of a counter or of an entry are to be read (format::NvtxSemanticsDef).
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
    uint64_t scope;        // number of the one that its values belong to
    NvtxNumbers* numbers;  // null: nothing is said
  };
  uint64_t key = 0;  // of the contents and the place where it was registered
  uint64_t number = 0;
  NvtxObject* domain = nullptr;
  std::atomic<uint64_t> defined{0};  // [32 bits life | 32 bits SchemaId]
  uint32_t type = 0, flags = 0;
  uint64_t static_size = 0, pack_align = 0;
  uint32_t size = 0, align = 1;  // of one payload; size 0: depends on its values
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
  uint64_t time_domain = 0;  // of stamps given beside the samples
  NvtxNumbers* numbers = nullptr;
  const char* name = "";
};

// `wanted`: the id that a chained tool gave; 0: the program's own, or a new one. Returns the id for the program; 0: refused.
uint64_t nvtx_register_schema(NvtxObject* domain, const NvtxSchemaGiven* given, uint64_t wanted);
uint64_t nvtx_register_enum(NvtxObject* domain, const NvtxEnumGiven* given, uint64_t wanted);
uint64_t nvtx_register_counter(NvtxObject* domain, const NvtxCounterGiven* given, uint64_t wanted);
uint64_t nvtx_new_number();  // for things whose number the program leaves to us

// Null: nobody registered it.
NvtxSchema* nvtx_schema(NvtxObject* domain, uint64_t number);
NvtxCounter* nvtx_counter(NvtxObject* domain, uint64_t number);

// Ids in this life's log; the caller is inside a scope. 0: not to be had.
format::SchemaId nvtx_schema_id(NvtxSchema* schema);
format::NvtxCounterId nvtx_counter_id(NvtxCounter* counter);

}  // namespace prof::preload
