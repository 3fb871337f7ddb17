#include "preload/stacks/python/python_lines.h"

namespace prof::preload {
namespace {

uint32_t as_line(int64_t line) { return line > 0 && line < (1ll << 31) ? static_cast<uint32_t>(line) : 0; }

// Pairs: bytes of code up to the next line start, lines to it (signed).
uint32_t in_lnotab(std::string_view table, int64_t line, int64_t offset) {
  int64_t at = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    at += static_cast<uint8_t>(table[i]);
    if (at > offset) break;
    line += static_cast<int8_t>(table[i + 1]);
  }
  return as_line(line);
}

// Pairs: bytes of code in the range, lines from the range before (signed; -128: the range has no line).
uint32_t in_ranges(std::string_view table, int64_t line, int64_t offset) {
  int64_t end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    end += static_cast<uint8_t>(table[i]);
    const int byte = static_cast<uint8_t>(table[i + 1]), delta = byte < 0x80 ? byte : byte - 0x100;
    if (delta != -128) line += delta;
    if (offset < end) return delta == -128 ? 0 : as_line(line);
  }
  return 0;
}

// Entries of variable size. The first byte of each has bit 7 set: 1 kkkk lll, kind and number of 2-byte units of code -
// 1.
constexpr unsigned kNoLine = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;

// 6 bits a byte, low bits first. Bit 6: more bytes follow. The lowest bit of the number is the sign.
int64_t signed_number(std::string_view table, size_t& i) {
  uint64_t value = 0;
  for (unsigned shift = 0; i < table.size() && shift < 36; shift += 6) {
    const uint8_t byte = static_cast<uint8_t>(table[i++]);
    value |= static_cast<uint64_t>(byte & 63) << shift;
    if ((byte & 64) == 0) break;
  }
  const int64_t size = static_cast<int64_t>(value >> 1);
  return (value & 1) != 0 ? -size : size;
}

uint32_t in_locations(std::string_view table, int64_t line, int64_t offset) {
  int64_t end = 0;
  for (size_t i = 0; i < table.size();) {
    const uint8_t head = static_cast<uint8_t>(table[i++]);
    const unsigned kind = head >> 3 & 15;
    if (kind == kLong || kind == kNoColumns) {
      line += signed_number(table, i);
    } else if (kind >= kOneLine && kind < kNoColumns) {
      line += kind - kOneLine;
    }
    while (i < table.size() && (static_cast<uint8_t>(table[i]) & 0x80) == 0) ++i;  // columns
    end += ((head & 7) + 1) * 2;
    if (offset < end) return kind == kNoLine ? 0 : as_line(line);
  }
  return 0;
}

}  // namespace

uint32_t python_line(LineFormat format, std::string_view table, uint32_t first_line, int64_t offset) {
  if (offset < 0) return first_line;
  switch (format) {
    case LineFormat::Lnotab: return in_lnotab(table, first_line, offset);
    case LineFormat::Ranges: return in_ranges(table, first_line, offset);
    case LineFormat::Locations: return in_locations(table, first_line, offset);
  }
  return 0;
}

}  // namespace prof::preload
