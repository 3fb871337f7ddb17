// Reads the number formats of unwind tables. cfi.cpp uses it, in the program. The bytes may make no sense: it never
// reads beyond `end`. After a failure `ok` is false and every read returns 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace prof::preload {

struct Bytes {
  const uint8_t* at;
  const uint8_t* end;
  bool ok = true;

  template <class T> T take() {
    T value{};
    if (static_cast<size_t>(end - at) < sizeof value) {
      ok = false;
      at = end;
      return value;
    }
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; ok; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  int64_t sleb() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    for (; ok && byte >= 0x80; shift += 7) {
      byte = take<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    }
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
  Bytes block() {
    const uint64_t size = uleb();
    if (size > static_cast<uint64_t>(end - at)) ok = false;
    Bytes inner{at, ok ? at + size : at, ok};
    at = inner.end;
    return inner;
  }
  // DW_EH_PE_…. `relative_to` is the base of datarel. Indirect pointers are not followed: only personalities have
  // them.
  uint64_t pointer(uint8_t encoding, uint64_t relative_to) {
    if (encoding == 0xff) return 0;
    const auto here = reinterpret_cast<uint64_t>(at);
    uint64_t value = 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c: value = take<uint64_t>(); break;
      case 0x01: value = uleb(); break;
      case 0x02: value = take<uint16_t>(); break;
      case 0x03: value = take<uint32_t>(); break;
      case 0x09: value = static_cast<uint64_t>(sleb()); break;
      case 0x0a: value = static_cast<uint64_t>(int64_t{take<int16_t>()}); break;
      case 0x0b: value = static_cast<uint64_t>(int64_t{take<int32_t>()}); break;
      default: ok = false; break;
    }
    switch (encoding & 0x70) {
      case 0x00: break;
      case 0x10: value += here; break;
      case 0x30: value += relative_to; break;
      default: ok = false; break;
    }
    return value;
  }
};

}  // namespace prof::preload
