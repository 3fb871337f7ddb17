// See payload_places.h.
#include "analyzer/input/log/nvtx/payload_places.h"

#include "preload/format/wire.h"

namespace prof::analyzer {

std::optional<std::string_view> PayloadPlaces::copied(const RecordedPayload& payload, uint64_t offset) {
  const auto* const from = reinterpret_cast<const uint8_t*>(payload.texts.data());
  format::Cursor cursor{from, from + payload.texts.size()};
  while (cursor.ok && !cursor.at_end()) {
    const uint64_t at = cursor.varint();
    const std::string_view bytes = cursor.text();
    if (cursor.ok && at == offset) return bytes;
  }
  return std::nullopt;
}

std::optional<PayloadPlace> PayloadPlaces::at(uint64_t address) const {
  for (const RecordedPayload* each : payloads_) {
    if (each->address != 0 && address >= each->address && address - each->address < each->data.size())
      return PayloadPlace{each, address - each->address};
  }
  return std::nullopt;
}

}  // namespace prof::analyzer
