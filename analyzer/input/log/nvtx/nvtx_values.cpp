#include "analyzer/input/log/nvtx/nvtx_values.h"

#include "preload/format/nvtx_types.h"
#include "preload/format/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
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

// Binary128: a sign, 15 bits of exponent, 112 of fraction.
double quadruple(uint64_t low, uint64_t high) {
  const int exponent = static_cast<int>(high >> 48 & 0x7fff);
  const double fraction = static_cast<double>(high & 0xffffffffffff) * 0x1p-48 + static_cast<double>(low) * 0x1p-112;
  double value = 0;
  if (exponent == 0x7fff) {
    value = fraction == 0 ? INFINITY : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -16382) : std::ldexp(1 + fraction, exponent - 16383);
  }
  return high >> 63 != 0 ? -value : value;
}

std::string decimal(unsigned __int128 value) {
  std::string digits;
  for (; value != 0; value /= 10) digits += static_cast<char>('0' + static_cast<int>(value % 10));
  std::reverse(digits.begin(), digits.end());
  return digits.empty() ? "0" : digits;
}

void set_wide(PayloadNumber& n, unsigned __int128 value, bool is_signed) {
  const bool negative = is_signed && static_cast<__int128>(value) < 0;
  const unsigned __int128 size = negative ? -value : value;
  if (!negative && size <= UINT64_MAX) {
    n.natural = static_cast<uint64_t>(size);
  } else if (negative && size <= uint64_t{1} << 63) {
    n.integer = static_cast<int64_t>(-static_cast<uint64_t>(size));
  } else {
    n.wide = (negative ? "-" : "") + decimal(size);
  }
}

}  // namespace

std::string PayloadNumber::json() const {
  if (hex && natural) return fmt::format("\"0x{:x}\"", *natural);
  if (natural) return fmt::format("{}", *natural);
  if (integer) return fmt::format("{}", *integer);
  if (!wide.empty()) return wide;
  if (!real) return {};
  return std::isfinite(*real) ? fmt::format("{}", *real) : fmt::format("\"{}\"", *real);
}

std::optional<double> PayloadNumber::value() const {
  if (natural) return static_cast<double>(*natural);
  if (integer) return static_cast<double>(*integer);
  if (!wide.empty()) return std::strtod(wide.c_str(), nullptr);
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
    case nvtx::kPid32:
    case nvtx::kTid32: natural(static_cast<uint32_t>(word)); break;
    case 7:
    case 9:
    case 17: integer(static_cast<int64_t>(word)); break;
    case 8:
    case 10:
    case 18:
    case nvtx::kSize:
    case nvtx::kScope:
    case nvtx::kPid64:
    case nvtx::kTid64: natural(word); break;
    case nvtx::kAddress:
    case nvtx::kRegisteredString:
      natural(word);
      n.hex = true;
      break;
    case nvtx::kColor:
      natural(static_cast<uint32_t>(word));
      n.hex = true;
      break;
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
    case nvtx::kInt128:
    case nvtx::kUint128:
    case nvtx::kFloat128: {
      if (bytes.size() < 16) break;
      uint64_t high = 0;
      std::memcpy(&high, bytes.data() + 8, 8);
      if (type == nvtx::kFloat128) {
        n.real = quadruple(word, high);
      } else {
        set_wide(n, static_cast<unsigned __int128>(high) << 64 | word, type == nvtx::kInt128);
      }
      break;
    }
    case nvtx::kUnionSelector: natural(static_cast<uint8_t>(word)); break;
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
