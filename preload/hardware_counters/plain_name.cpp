#include "preload/hardware_counters/plain_name.h"

#include <cstring>

namespace prof::preload {

namespace {

// Reads a number and as many characters after it. Empty: there is no identifier.
std::string_view take_identifier(std::string_view& rest) {
  size_t length = 0, digits = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9' && length < 100'000; ++digits)
    length = length * 10 + static_cast<size_t>(rest[digits] - '0');
  if (length == 0 || length > rest.size() - digits) return {};
  const std::string_view identifier(rest.data() + digits, length);
  rest.remove_prefix(digits + length);
  return identifier;
}

}  // namespace

std::string_view plain_name(std::string_view mangled, char* buffer, size_t size) {
  if (!mangled.starts_with("_Z")) return {};
  mangled.remove_prefix(2);
  const bool nested = mangled.starts_with('N');
  if (nested) mangled.remove_prefix(1);
  size_t used = 0;
  for (std::string_view part = take_identifier(mangled); !part.empty(); part = take_identifier(mangled)) {
    const size_t colons = used != 0 ? 2 : 0;
    if (colons + part.size() > size - used) return {};
    std::memcpy(buffer + used, "::", colons);
    std::memcpy(buffer + used + colons, part.data(), part.size());
    used += colons + part.size();
    if (!nested) break;
  }
  return {buffer, used};
}

}  // namespace prof::preload
