#include "analyzer/base/json/json_decimal.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr int kMostDigits = 19;  // any 19 digits fit 64 bits, and some 20 do

// value * 10^exponent; the callers round or truncate it to an integer.
struct Decimal {
  uint64_t value = 0;
  int exponent = 0;
  bool negative = false;
  bool cut = false;  // non-zero digits that did not fit were omitted
};

bool read_exponent(const char*& p, const char* end, int& exponent) {
  bool negative = false;
  if (p != end && (*p == '+' || *p == '-')) negative = *p++ == '-';
  if (p == end) return false;
  int value = 0;
  for (; p != end && is_digit(*p); ++p) value = std::min(value * 10 + (*p - '0'), 100'000);
  exponent = std::clamp(exponent + (negative ? -value : value), -1'000'000, 1'000'000);
  return true;
}

bool read(std::string_view text, Decimal& decimal) {
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p != end && (*p == '-' || *p == '+')) decimal.negative = *p++ == '-';
  int digits = 0;  // from the first non-zero digit on
  bool any = false, fraction = false;
  for (; p != end; ++p) {
    if (*p == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (!is_digit(*p)) break;
    any = true;
    const auto digit = static_cast<uint64_t>(*p - '0');
    uint64_t longer = 0;
    if (digits >= kMostDigits &&
        (digits > kMostDigits || __builtin_mul_overflow(decimal.value, uint64_t{10}, &longer) ||
         __builtin_add_overflow(longer, digit, &longer))) {
      digits = kMostDigits + 1;
      decimal.cut |= digit != 0;
      if (!fraction && decimal.exponent < 1'000'000) ++decimal.exponent;
      continue;
    }
    decimal.value = decimal.value * 10 + digit;
    if (decimal.value != 0) ++digits;
    if (fraction && decimal.exponent > -1'000'000) --decimal.exponent;
  }
  if (!any) return false;
  if (p != end && (*p == 'e' || *p == 'E') && !read_exponent(++p, end, decimal.exponent)) return false;
  return p == end;
}

// value * 10^exponent; false if it does not fit.
bool scale_up(uint64_t& value, int exponent) {
  if (value == 0) return true;
  if (exponent > kMostDigits) return false;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return false;
  }
  return true;
}

uint64_t power_of_ten(int exponent) {
  uint64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

bool read_hex(std::string_view text, uint64_t& value) {
  if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return false;
  value = 0;
  for (const char c : text.substr(2)) {
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0 || value >> 60 != 0) return false;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
  return true;
}

// The absolute value of the integer that a text represents.
DecimalResult whole(std::string_view text, uint64_t& value, bool& negative) {
  negative = false;
  if (read_hex(text, value)) return DecimalResult::Ok;
  Decimal decimal;
  if (!read(text, decimal)) return DecimalResult::NotANumber;
  negative = decimal.negative;
  value = decimal.value;
  if (decimal.exponent >= 0) {
    return !decimal.cut && scale_up(value, decimal.exponent) ? DecimalResult::Ok : DecimalResult::OutOfRange;
  }
  if (value == 0) return decimal.cut ? DecimalResult::NotANumber : DecimalResult::Ok;
  if (-decimal.exponent > kMostDigits || decimal.cut) return DecimalResult::NotANumber;
  const uint64_t divisor = power_of_ten(-decimal.exponent);
  if (value % divisor != 0) return DecimalResult::NotANumber;
  value /= divisor;
  return DecimalResult::Ok;
}

// "1234567.891" with at most 18 digits: the form of nearly all times.
bool micros_fast(std::string_view text, int64_t& ns) {
  if (text.empty() || text.size() > 19) return false;
  const char* p = text.data();
  const char* const end = p + text.size();
  uint64_t value = 0;
  for (; p != end && is_digit(*p); ++p) value = value * 10 + static_cast<uint64_t>(*p - '0');
  if (p == text.data() || p - text.data() > 15) return false;
  int left = 3;
  if (p != end) {
    if (*p++ != '.') return false;
    for (; p != end && left > 0 && is_digit(*p); ++p, --left) value = value * 10 + static_cast<uint64_t>(*p - '0');
    if (p != end) return false;
  }
  for (; left > 0; --left) value *= 10;
  ns = static_cast<int64_t>(value);
  return true;
}

}  // namespace

DecimalResult micros_to_ns(std::string_view text, int64_t& ns) {
  if (micros_fast(text, ns)) return DecimalResult::Ok;
  Decimal decimal;
  if (!read(text, decimal)) return DecimalResult::NotANumber;
  const int shift = decimal.exponent + 3;
  uint64_t value = decimal.value;
  if (shift >= 0) {
    if (!scale_up(value, shift)) return DecimalResult::OutOfRange;
  } else if (-shift > kMostDigits) {
    value = 0;
  } else {
    const uint64_t divisor = power_of_ten(-shift);
    const uint64_t rest = value % divisor;
    value = value / divisor + (rest >= divisor - rest ? 1 : 0);
  }
  if (value >= uint64_t{1} << 62) return DecimalResult::OutOfRange;
  ns = decimal.negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  return DecimalResult::Ok;
}

DecimalResult to_uint64(std::string_view text, uint64_t& value) {
  bool negative = false;
  const DecimalResult result = whole(text, value, negative);
  return result == DecimalResult::Ok && negative && value != 0 ? DecimalResult::OutOfRange : result;
}

DecimalResult to_int64(std::string_view text, int64_t& value) {
  bool negative = false;
  uint64_t magnitude = 0;
  const DecimalResult result = whole(text, magnitude, negative);
  if (result != DecimalResult::Ok) return result;
  const uint64_t most = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (magnitude > most) return DecimalResult::OutOfRange;
  value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return DecimalResult::Ok;
}

}  // namespace prof::analyzer
