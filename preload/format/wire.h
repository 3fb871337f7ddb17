// Bytes of one field: LEB128 varints, zigzag for signed values, length-prefixed text. Used by the record path (which
// must not allocate) and by the reader (which must not trust a byte it reads).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace prof::format {

inline constexpr size_t kMaxVarintBytes = 10;

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

// Writes 1–10 bytes at `to` and returns the byte after them.
inline uint8_t* put_varint(uint8_t* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<uint8_t>(value);
  return to;
}

inline uint8_t* put_text(uint8_t* to, std::string_view text) {
  to = put_varint(to, text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// A cursor over bytes that may be hostile. After a failure `ok` is false and every read yields 0.
struct Cursor {
  const uint8_t* at = nullptr;
  const uint8_t* end = nullptr;
  bool ok = true;

  bool at_end() const { return at == end; }

  uint64_t varint() {
    if (at < end && *at < 0x80) return *at++;  // most fields are one byte
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at == end) return fail();
      const uint8_t byte = *at++;
      if (shift == 63 && byte > 1) return fail();  // would not fit 64 bits
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }

  std::string_view text() {
    const uint64_t size = varint();
    if (size > static_cast<uint64_t>(end - at)) {
      fail();
      return {};
    }
    const std::string_view view(reinterpret_cast<const char*>(at), static_cast<size_t>(size));
    at += size;
    return view;
  }

  uint64_t fail() {
    ok = false;
    at = end;
    return 0;
  }
};

}  // namespace prof::format
