#include "preload/capture/cupti/cupti_record_layout.h"

#include <sys/mman.h>

#include <cstring>

namespace prof::preload {

namespace {

constexpr CuptiFieldRow kFields[] = {
#define CUPTI_FIELD(kind, id, offset, bytes, user_bytes, what) {kind, id, offset, bytes, user_bytes, CuptiField::what},
#include "preload/capture/cupti/cupti_fields.def"
#undef CUPTI_FIELD
};
constexpr size_t kMostFields = 256;

const CuptiFieldRow* field_of(uint32_t kind, int id) {
  for (const CuptiFieldRow& row : cupti_fields(kind)) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

size_t up(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// That of a field's type: a number, a UUID, five numbers of 8 bytes, or numbers of 4 bytes (measured, CUPTI 13.5).
size_t alignment_of(size_t bytes) {
  constexpr size_t kUuid = 16, kProcessors = 40;
  if (bytes == 0 || bytes == kUuid) return 1;
  if (bytes == kProcessors) return 8;
  return bytes <= 8 ? bytes : 4;
}

}  // namespace

CuptiFieldRows cupti_fields(uint32_t kind) {
  const CuptiFieldRow* const end = kFields + sizeof kFields / sizeof *kFields;
  const CuptiFieldRow* first = kFields;
  while (first != end && first->kind != kind) ++first;
  const CuptiFieldRow* last = first;
  while (last != end && last->kind == kind) ++last;
  return {first, last};
}

bool cupti_kind_has_fields(uint32_t kind) { return cupti_fields(kind).begin() != cupti_fields(kind).end(); }

CuptiLayout* make_cupti_layout(uint32_t kind, const CuptiFieldSelection& fields) {
  if (fields.ids == nullptr || fields.count == 0 || fields.count > kMostFields || fields.ids[0] != 0) return nullptr;
  if (!cupti_kind_has_fields(kind)) return nullptr;
  const size_t bytes = sizeof(CuptiLayout) + fields.count * (sizeof(CuptiFieldPlace) + sizeof(CuptiFieldRow*));
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const layout = static_cast<CuptiLayout*>(memory);
  auto* const places = reinterpret_cast<CuptiFieldPlace*>(layout + 1);
  layout->bytes = bytes;
  layout->source = reinterpret_cast<const CuptiFieldRow**>(places + fields.count);
  size_t end = 0, largest = 1;
  for (size_t i = 0; i < fields.count; ++i) {
    // An id that CUPTI does not know has a place of no bytes.
    const CuptiFieldRow* const row = field_of(kind, fields.ids[i]);
    const size_t size = row != nullptr ? row->user_bytes : 0;
    const size_t alignment = alignment_of(size);
    places[i] = {sizeof places[i], fields.ids[i], up(end, alignment), size, alignment};
    layout->source[i] = row;
    end = places[i].offset + size;
    if (alignment > largest) largest = alignment;
  }
  layout->places = {sizeof layout->places, places, fields.count, up(end, largest)};
  return layout;
}

bool same_cupti_layout(const CuptiLayout& layout, const CuptiFieldSelection& fields) {
  if (fields.ids == nullptr || fields.count != layout.places.count) return false;
  for (size_t i = 0; i < fields.count; ++i) {
    if (layout.places.fields[i].id != fields.ids[i]) return false;
  }
  return true;
}

void write_user_record(const CuptiLayout& layout, const uint8_t* record, size_t size, uint64_t thread, uint8_t* to) {
  std::memset(to, 0, layout.places.record_bytes);
  for (size_t i = 0; i < layout.places.count; ++i) {
    if (layout.source[i] == nullptr) continue;
    const CuptiFieldRow& from = *layout.source[i];
    uint8_t* const field = to + layout.places.fields[i].offset;
    if (from.offset + size_t{from.bytes} > size) continue;
    const size_t bytes = from.bytes < from.user_bytes ? from.bytes : from.user_bytes;
    switch (from.what) {
      case CuptiField::Low4: *field = record[from.offset] & 15; break;
      case CuptiField::High4: *field = record[from.offset] >> 4; break;
      case CuptiField::Thread:
        if (thread != 0 && from.user_bytes == sizeof thread) {
          std::memcpy(field, &thread, sizeof thread);
          break;
        }
        [[fallthrough]];
      default: std::memcpy(field, record + from.offset, bytes);
    }
  }
}

}  // namespace prof::preload
