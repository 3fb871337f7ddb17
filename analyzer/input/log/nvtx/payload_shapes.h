// What are the size and alignment of the entries of an NVTX payload's schema? Computed like in the recorder. The schema
// comes from the program and may contain itself. Offline.
#pragma once

#include "analyzer/input/log/nvtx/payload_values.h"

#include <cstdint>
#include <unordered_map>

namespace prof::analyzer {

inline constexpr int kMaxPayloadDepth = 8;  // of nested schemas

struct PayloadShape {
  uint64_t size = 0;  // 0: depends on values, or unknown
  uint64_t align = 1;
};

// The alignment of an entry whose own alignment is `align`.
uint64_t packed_align(const DefinedSchema& schema, uint64_t align);

bool is_payload_union(const DefinedSchema& schema);

class PayloadShapes {
 public:
  explicit PayloadShapes(const PayloadSchemas& schemas) : schemas_(schemas) {}

  // Of one element, if the entry is an array.
  PayloadShape of(const format::NvtxSchemaEntry& entry, int depth);

 private:
  PayloadShape of(const DefinedSchema& schema, int depth);
  PayloadShape computed(const DefinedSchema& schema, int depth);

  const PayloadSchemas& schemas_;
  std::unordered_map<const DefinedSchema*, PayloadShape> known_;
};

}  // namespace prof::analyzer
