// See nvtx_layout.h.
#include "preload/intercept/nvtx/nvtx_layout.h"

#include "preload/format/nvtx_definitions.h"
#include "preload/format/nvtx_types.h"
#include "preload/intercept/nvtx/nvtx_clocks.h"
#include "preload/intercept/nvtx/nvtx_scopes.h"

namespace prof::preload {
namespace {

namespace nvtx = format::nvtx;

constexpr uint64_t kMaxOffset = 1u << 20;  // such a large payload is cut anyway

void add_field(NvtxSchema& schema, const NvtxField& field) {
  if (schema.field_count < NvtxSchema::kMaxFields) schema.fields[schema.field_count++] = field;
}

// The places of the entries that are laid out so far. An array whose length is in another entry needs them.
struct Placed {
  uint32_t offset[kMaxNvtxEntries];
  int8_t bytes[kMaxNvtxEntries];  // of one number; negative: it is signed; 0: not known
};

// Data that a pointer leads to and that is to be copied, except a text. False: its size is not known.
bool add_pointed(NvtxSchema& schema, const NvtxSchemaEntryGiven& entry, NvtxField field, const NvtxSchema* nested,
                 const Placed& placed, uint32_t index) {
  const uint64_t array = entry.flags & nvtx::kArrayMask;
  field.what = NvtxField::DataPointer;
  field.size = nested != nullptr ? nested->size : nvtx::type_bytes(entry.type);
  if (array == nvtx::kArrayFixed && entry.detail < kMaxOffset) {
    field.count = static_cast<uint32_t>(entry.detail);
  } else if (array == nvtx::kArrayZeroEnded) {
    field.count = 0;
  } else if (array == nvtx::kArrayLengthIndex && entry.detail < index && placed.bytes[entry.detail] != 0) {
    field.count = NvtxField::kCounted;
    field.length_offset = placed.offset[entry.detail];
    field.length_bytes = placed.bytes[entry.detail];
  } else if (array != 0) {
    return false;
  }
  if (field.size == 0) return false;
  add_field(schema, field);
  return true;
}

// Adds the fields of one entry at `offset`, together with those of a nested schema.
void add_fields(NvtxSchema& schema, const NvtxSchemaEntryGiven& entry, uint32_t offset, const NvtxSchema* nested,
                const Placed& placed, uint32_t index) {
  constexpr uint64_t kCopied = nvtx::kFlagPointer | nvtx::kFlagDeepCopy;
  if ((entry.flags & (nvtx::kFlagFromBase | nvtx::kFlagFromHere)) != 0) return;  // the data is in the payload itself
  NvtxField field;
  field.offset = offset;
  field.message = (entry.flags & nvtx::kMeaningMask) == nvtx::kMeaningMessage;
  if (nvtx::is_text_pointer(entry.type, entry.flags, entry.detail)) {
    // Without a deep copy, a pointer leads into another payload of the event. The reader follows it.
    if ((entry.flags & nvtx::kFlagPointer) != 0 && (entry.flags & nvtx::kFlagDeepCopy) == 0) return;
    field.what = NvtxField::TextPointer;
    field.char_bytes = static_cast<uint8_t>(nvtx::char_bytes(entry.type));
    add_field(schema, field);
  } else if ((entry.flags & kCopied) == kCopied) {
    add_pointed(schema, entry, field, nested, placed, index);
  } else if (nvtx::is_string(entry.type)) {
    const uint64_t array = entry.flags & nvtx::kArrayMask;
    if (field.message && (array == 0 || array == nvtx::kArrayFixed) && entry.detail < kMaxOffset) {
      field.what = NvtxField::EmbeddedText;
      field.char_bytes = static_cast<uint8_t>(nvtx::char_bytes(entry.type));
      field.size = static_cast<uint32_t>(entry.detail) * field.char_bytes;
      add_field(schema, field);
    }
  } else if (entry.type == nvtx::kRegisteredString) {
    field.what = NvtxField::Registered;
    add_field(schema, field);
  } else if (entry.type == nvtx::kCategory || entry.type == nvtx::kColor) {
    field.what = entry.type == nvtx::kCategory ? NvtxField::Category : NvtxField::Color;
    add_field(schema, field);
  } else if (entry.type == nvtx::kScope && (entry.flags & nvtx::kArrayMask) == 0) {
    field.what = NvtxField::Scope;
    add_field(schema, field);
  } else if ((entry.flags & nvtx::kMeaningMask) == nvtx::kMeaningTime && nvtx::type_bytes(entry.type) == 8) {
    field.what = (entry.flags & nvtx::kOfMask) == nvtx::kOfEnd ? NvtxField::EndStamp : NvtxField::BeginStamp;
    field.time_domain = nvtx_time_domain_of(entry.semantics);
    field.scope = nvtx_scope_of(entry.semantics);
    add_field(schema, field);
  } else if (nested != nullptr && (entry.flags & (nvtx::kArrayMask | nvtx::kFlagPointer)) == 0) {
    for (uint32_t i = 0; i < nested->field_count; ++i) {
      NvtxField inner = nested->fields[i];
      inner.offset += offset;
      inner.length_offset += offset;
      add_field(schema, inner);
    }
  }
}

}  // namespace

void lay_out_nvtx_schema(NvtxSchema& schema, const NvtxSchemaEntryGiven* given) {
  uint64_t at = 0, largest = 0;
  const bool is_union = schema.type == format::kSchemaUnion || schema.type == format::kSchemaUnionInside;
  bool known = true;
  Placed placed{};
  for (uint32_t i = 0; i < schema.entry_count; ++i) {
    const NvtxSchemaEntryGiven& entry = given[i];
    const NvtxSchema* const nested =
        entry.type >= nvtx::kFirstSchema ? nvtx_schema(schema.domain, entry.type) : nullptr;
    constexpr uint64_t kElsewhere = nvtx::kFlagPointer | nvtx::kFlagFromBase | nvtx::kFlagFromHere;
    const bool pointer =
        (entry.flags & kElsewhere) != 0 || nvtx::is_text_pointer(entry.type, entry.flags, entry.detail);
    const uint64_t array = entry.flags & nvtx::kArrayMask;
    uint64_t size = pointer ? 8 : nested != nullptr ? nested->size : nvtx::type_bytes(entry.type);
    uint64_t align = pointer ? 8 : nested != nullptr ? nested->align : size < 16 ? size : 16;
    if (!pointer && (array == nvtx::kArrayFixed || (nvtx::is_string(entry.type) && array == 0))) {
      size = entry.detail < kMaxOffset ? size * entry.detail : 0;
    } else if (!pointer && array != 0) {
      size = 0;
    }
    if (schema.pack_align != 0 && align > schema.pack_align) align = schema.pack_align;
    if (align > schema.align) schema.align = static_cast<uint32_t>(align);
    if (entry.offset != 0) {
      at = entry.offset;
      known = true;
    } else if (is_union) {
      at = 0;
    } else if (align > 1) {
      at = (at + align - 1) / align * align;
    }
    if (at >= kMaxOffset) return;
    if (known && !is_union) {
      add_fields(schema, entry, static_cast<uint32_t>(at), nested, placed, i);
      placed.offset[i] = static_cast<uint32_t>(at);
      const bool number = !pointer && array == 0 && nvtx::is_integer(entry.type);
      const auto width = static_cast<int8_t>(number ? size : 0);
      placed.bytes[i] = static_cast<int8_t>(nvtx::is_signed(entry.type) ? -width : width);
    }
    if (size == 0) known = false;
    at += size;
    if (at > largest) largest = at;
  }
  if (schema.static_size != 0 && schema.static_size < kMaxOffset) {
    schema.size = static_cast<uint32_t>(schema.static_size);
  } else if (known && schema.type != format::kSchemaDynamic) {
    schema.size = static_cast<uint32_t>((largest + schema.align - 1) / schema.align * schema.align);
  }
}

}  // namespace prof::preload
