// What are the numbers and characters in the bytes of NVTX payloads, by the entry types of nvToolsExtPayload.h?
// Offline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prof::analyzer {

struct PayloadNumber {
  std::optional<int64_t> integer;
  std::optional<uint64_t> natural;
  std::optional<double> real;
  std::string wide;  // a 128-bit number in decimal, if it fits neither
  bool hex = false;  // an address, a handle or a colour

  std::string json() const;             // empty: no number type
  std::optional<double> value() const;  // nullopt: none, or not finite
};

// The number of this entry type in `bytes`, which may be shorter than the type.
PayloadNumber payload_number(std::string_view bytes, uint64_t type);

bool is_payload_character(uint64_t type);

// Characters of 1, 2 or 4 bytes up to a zero, as UTF-8.
std::string payload_text(std::string_view bytes, uint32_t char_bytes);

}  // namespace prof::analyzer
