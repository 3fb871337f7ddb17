#include "analyzer/model/nvtx_values.h"

#include "preload/format/nvtx_types.h"
#include "preload/format/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace prof::analyzer {

namespace nvtx = format::nvtx;

namespace {

double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? INFINITY : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

}  // namespace

std::string PayloadNumber::json() const {
  if (hex && natural) return fmt::format("\"0x{:x}\"", *natural);
  if (natural) return fmt::format("{}", *natural);
  if (integer) return fmt::format("{}", *integer);
  if (!real) return {};
  return std::isfinite(*real) ? fmt::format("{}", *real) : fmt::format("\"{}\"", *real);
}

std::optional<double> PayloadNumber::value() const {
  if (natural) return static_cast<double>(*natural);
  if (integer) return static_cast<double>(*integer);
  return real && std::isfinite(*real) ? real : std::nullopt;
}

PayloadNumber payload_number(std::string_view bytes, uint64_t type) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), std::min<size_t>(bytes.size(), 8));
  PayloadNumber n;
  const auto natural = [&](uint64_t value) { n.natural = value; };
  const auto integer = [&](int64_t value) { n.integer = value; };
  switch (type) {
    case 1:
    case 11: integer(static_cast<int8_t>(word)); break;
    case 2:
    case 12:
    case nvtx::kByte: natural(static_cast<uint8_t>(word)); break;
    case 3:
    case 13: integer(static_cast<int16_t>(word)); break;
    case 4:
    case 14: natural(static_cast<uint16_t>(word)); break;
    case 5:
    case 15: integer(static_cast<int32_t>(word)); break;
    case 6:
    case 16:
    case nvtx::kCategory:
    case 71:
    case 73: natural(static_cast<uint32_t>(word)); break;
    case 7:
    case 9:
    case 17: integer(static_cast<int64_t>(word)); break;
    case 8:
    case 10:
    case 18:
    case nvtx::kSize:
    case 70:
    case 72:
    case 74: natural(word); break;
    case nvtx::kAddress:
    case nvtx::kRegisteredString: natural(word), n.hex = true; break;
    case nvtx::kColor: natural(static_cast<uint32_t>(word)), n.hex = true; break;
    case nvtx::kFloat:
    case nvtx::kFloat32: n.real = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(word))); break;
    case nvtx::kDouble:
    case nvtx::kFloat64: n.real = std::bit_cast<double>(word); break;
    case nvtx::kFloat16: n.real = half(static_cast<uint16_t>(word)); break;
    case nvtx::kBfloat16: n.real = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(word) << 16)); break;
    case 52:  // TF32: a float whose low bits are 0
      n.real = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(word) & 0xffffe000));
      break;
    case nvtx::kLongDouble:
#if defined(__x86_64__)
      if (bytes.size() >= sizeof(long double)) {
        long double wide = 0;
        std::memcpy(&wide, bytes.data(), sizeof wide);
        n.real = static_cast<double>(wide);
      }
#endif
      break;
    case nvtx::kWchar:
    case 25:
    case 26:
    case nvtx::kChar32: natural(word); break;
    default: break;
  }
  return n;
}

bool is_payload_character(uint64_t type) { return type == 1 || (type >= nvtx::kWchar && type <= nvtx::kChar32); }

std::string payload_text(std::string_view bytes, uint32_t char_bytes) {
  std::string text;
  for (size_t at = 0; at + char_bytes <= bytes.size(); at += char_bytes) {
    uint32_t code = 0;
    std::memcpy(&code, bytes.data() + at, char_bytes);
    if (code == 0) break;
    if (char_bytes == 1) {
      text += static_cast<char>(code);
      continue;
    }
    if (char_bytes == 2 && (code & 0xfc00) == 0xd800 && at + 4 <= bytes.size()) {
      uint16_t low = 0;
      std::memcpy(&low, bytes.data() + at + 2, 2);
      if ((low & 0xfc00) == 0xdc00) {
        code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ffu));
        at += 2;
      }
    }
    char utf8[4];
    text.append(utf8, format::put_utf8(code, utf8));
  }
  return text;
}

}  // namespace prof::analyzer
