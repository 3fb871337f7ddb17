// See payload_shapes.h.
#include "analyzer/input/log/nvtx/payload_shapes.h"

#include "preload/format/nvtx_types.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

namespace nvtx = format::nvtx;

// Whether the entry itself is only a pointer or an offset.
bool is_elsewhere(const format::NvtxSchemaEntry& entry) {
  return (entry.flags & (nvtx::kFlagPointer | nvtx::kFlagFromBase | nvtx::kFlagFromHere)) != 0 ||
         nvtx::is_text_pointer(entry.type, entry.flags, entry.detail);
}

// 0: depends on values.
uint64_t fixed_bytes(const format::NvtxSchemaEntry& entry, uint64_t one) {
  if (is_elsewhere(entry)) return 8;
  const uint64_t array = entry.flags & nvtx::kArrayMask;
  if (array == nvtx::kArrayFixed || (array == 0 && nvtx::is_string(entry.type)))
    return entry.detail < UINT32_MAX ? one * entry.detail : 0;
  return array == 0 ? one : 0;
}

}  // namespace

uint64_t packed_align(const DefinedSchema& schema, uint64_t align) {
  return schema.def.pack_align != 0 ? std::min(align, schema.def.pack_align) : align;
}

bool is_payload_union(const DefinedSchema& schema) {
  return schema.def.type == format::kSchemaUnion || schema.def.type == format::kSchemaUnionInside;
}

PayloadShape PayloadShapes::of(const format::NvtxSchemaEntry& entry, int depth) {
  if (is_elsewhere(entry)) return {8, 8};
  if (const DefinedSchema* const nested = schemas_.find(entry.nested); nested != nullptr && entry.type == 0)
    return of(*nested, depth + 1);
  const uint64_t size = nvtx::type_bytes(entry.type);
  return {size, std::clamp<uint64_t>(size, 1, 16)};
}

PayloadShape PayloadShapes::of(const DefinedSchema& schema, int depth) {
  const auto [known, added] = known_.try_emplace(&schema);  // a schema that contains itself has no size
  if (!added) return known->second;
  const PayloadShape shape = computed(schema, depth);
  return known_[&schema] = shape;
}

PayloadShape PayloadShapes::computed(const DefinedSchema& schema, int depth) {
  if (schema.def.type == format::kSchemaEnum) {
    const uint64_t size = schema.def.bytes == 0 ? 4 : schema.def.bytes;
    return {size, size};
  }
  PayloadShape shape;
  if (depth > kMaxPayloadDepth) return shape;
  uint64_t at = 0, largest = 0;
  bool known = schema.def.type != format::kSchemaDynamic;
  const bool is_union = is_payload_union(schema);
  for (const format::NvtxSchemaEntry& entry : schema.entries) {
    const PayloadShape one = of(entry, depth);
    const uint64_t align = packed_align(schema, one.align);
    shape.align = std::max(shape.align, align);
    at = entry.offset != 0 ? entry.offset : is_union ? 0 : (at + align - 1) / align * align;
    const uint64_t size = fixed_bytes(entry, one.size);
    known = known && size != 0;
    at += std::min<uint64_t>(size, UINT32_MAX);
    largest = std::max(largest, at);
  }
  if (schema.def.bytes != 0) {
    shape.size = schema.def.bytes;
  } else if (known) {
    shape.size = (largest + shape.align - 1) / shape.align * shape.align;
  }
  return shape;
}

}  // namespace prof::analyzer
