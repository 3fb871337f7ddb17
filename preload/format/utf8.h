// How is one character encoded as UTF-8? The recorder converts wide strings when the program passes them; the reader
// converts those inside payloads. The function must not allocate.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::format {

// Writes 1–4 bytes at `to` and returns their number. If the value is not a character (surrogates, above U+10FFFF),
// U+FFFD is written.
inline size_t put_utf8(uint32_t c, char* to) {
  if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff) c = 0xfffd;
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    to[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    to[0] = static_cast<char>(0xc0 | c >> 6);
    to[1] = tail(0);
    return 2;
  }
  if (c < 0x10000) {
    to[0] = static_cast<char>(0xe0 | c >> 12);
    to[1] = tail(6);
    to[2] = tail(0);
    return 3;
  }
  to[0] = static_cast<char>(0xf0 | c >> 18);
  to[1] = tail(12);
  to[2] = tail(6);
  to[3] = tail(0);
  return 4;
}

}  // namespace prof::format
