// Where are the fields of a user-defined record, and how is it made from CUPTI's record with all fields? A profiler
// with the subscriber-scoped API selects fields of each kind. CUPTI delivers all fields, because the recorder reads
// them; the profiler's records are made of these. cupti_client_copy.cpp and the stand-ins use it.
#pragma once

#include "preload/capture/cupti/cupti_subscriber_types.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// What a field of a record is, beyond its bytes.
enum class CuptiField : uint8_t { Plain, Time, Thread, Low4, High4 };
struct CuptiFieldRow {
  uint8_t kind, id;
  uint16_t offset;
  uint8_t bytes, user_bytes;
  CuptiField what;
};
struct CuptiFieldRows {
  const CuptiFieldRow* begin_;
  const CuptiFieldRow* end_;
  const CuptiFieldRow* begin() const { return begin_; }
  const CuptiFieldRow* end() const { return end_; }
};
// The fields of one kind. Empty: user-defined records have none of this kind.
CuptiFieldRows cupti_fields(uint32_t kind);
bool cupti_kind_has_fields(uint32_t kind);

struct CuptiLayout {
  CuptiRecordPlaces places;      // what the profiler gets to see
  const CuptiFieldRow** source;  // as many as places.fields; null: CUPTI does not know the id
  size_t bytes;                  // of memory
};

// Allocates the layout of a selection, as CUPTI 13.5 lays it out: a field starts at a multiple of its alignment, the
// record ends at a multiple of the largest one. Null: the first field is not the kind, or there is no memory.
CuptiLayout* make_cupti_layout(uint32_t kind, const CuptiFieldSelection& fields);
bool same_cupti_layout(const CuptiLayout& layout, const CuptiFieldSelection& fields);
// Writes places.record_bytes bytes. A field that the record is too short for becomes 0.
void write_user_record(const CuptiLayout& layout, const uint8_t* record, size_t size, uint64_t thread, uint8_t* to);

}  // namespace prof::preload
