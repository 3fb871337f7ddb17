// Where do the pointers of an NVTX payload point? To bytes that were copied when the event was recorded, or into
// another payload of the same event. Offline.
#pragma once

#include "analyzer/input/log/nvtx/payload_values.h"

#include <optional>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct PayloadPlace {
  const RecordedPayload* payload;
  uint64_t offset;
};

class PayloadPlaces {
 public:
  explicit PayloadPlaces(const std::vector<const RecordedPayload*>& payloads) : payloads_(payloads) {}

  // The bytes that were copied from the pointer at this offset of a payload; nullopt: none.
  static std::optional<std::string_view> copied(const RecordedPayload& payload, uint64_t offset);
  // The payload of the event that contains this address.
  std::optional<PayloadPlace> at(uint64_t address) const;
  // The `index`-th payload of the event; null: there are fewer.
  const RecordedPayload* of(uint64_t index) const { return index < payloads_.size() ? payloads_[index] : nullptr; }

 private:
  const std::vector<const RecordedPayload*>& payloads_;
};

}  // namespace prof::analyzer
