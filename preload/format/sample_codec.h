// How are hardware samples encoded as the text of one record (gpu_events.h: HardwareSamples)? The encoding keeps a
// sample at few bytes. The recorder's helper thread writes the text. The reader reads it, and must not trust any byte
// of it.
//
//   samples := varint count, span × count, column × number of metrics
//   span    := varint gap, varint change
//   column  := varint places, (varint value) × count
//
// gap: ns from the end of the previous sample to the start of this one. It is 0 for the first sample, whose start is in
// the record.
// change: zigzag of the difference of the sample's length to the length of the previous one, ns. For the first sample,
// it is the length itself.
// value: 0 if there is no number, else 1 + number / 2^places. `places` is a zigzag varint.
// If all numbers of a metric in a record are whole, they keep 27 bits, counted from the first bit of the largest
// number. They are exact if 27 bits are enough, or if they share factors of two, as bytes do (multiples of 32). Other
// numbers keep 20 bits, so 100 % is exact to 0.0001 %.
#pragma once

#include "preload/format/block.h"
#include "preload/format/wire.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace prof::format {

inline constexpr uint32_t kMaxSampledMetrics = 64;

struct SampleSpan {
  uint64_t start = 0, end = 0;  // ns, both of the same clock
};

namespace detail {

inline constexpr int kWholeBits = 27, kRealBits = 20;

// 2^exponent. The exponent must be that of a normal number.
inline double power_of_two(int exponent) {
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

// The exponent of a number that is not 0: 2^exponent <= number < 2^(exponent + 1).
inline int exponent_of(double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return static_cast<int>(bits >> 52 & 0x7ff) - 1023;
}

// Below kLeastNumber a number is 0. Above kMostNumber it is not a number.
inline constexpr double kLeastNumber = 1e-30, kMostNumber = 9e15;
inline bool is_number(double value) { return value >= 0 && value <= kMostNumber; }

// The whole number that is nearest to a number for which is_number() is true. If two are equally near, it is the larger
// one. The recorder has no libm.
inline uint64_t rounded(double number) {
  const auto below = static_cast<uint64_t>(number);
  return below + (number - static_cast<double>(below) >= 0.5 ? 1 : 0);
}

}  // namespace detail

// The number of samples of `metrics` metrics that always fit in one text, whatever their values are.
constexpr uint32_t samples_in_text(uint32_t metrics) {
  constexpr uint32_t kSpanBytes = 2 * static_cast<uint32_t>(kMaxVarintBytes), kValueBytes = 5, kColumnBytes = 2;
  return static_cast<uint32_t>(kMaxTextBytes - 4 - metrics * kColumnBytes) / (kSpanBytes + metrics * kValueBytes);
}

// Writes up to samples_in_text(metrics) samples at `to`, where kMaxTextBytes + 8 bytes must be free. Returns the byte
// after them. `spans` are in order of time and do not overlap. values[i * metrics + m] is metric m of sample i. Values
// below 0 or above 9e15, and NaN, are not numbers.
inline uint8_t* put_samples(uint8_t* to, const SampleSpan* spans, const double* values, uint32_t count,
                            uint32_t metrics) {
  using namespace detail;
  to = put_varint(to, count);
  uint64_t length = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t now = spans[i].end - spans[i].start;
    to = put_varint(to, i == 0 ? 0 : spans[i].start - spans[i - 1].end);
    to = put_varint(to, zigzag(static_cast<int64_t>(now - length)));
    length = now;
  }
  for (uint32_t m = 0; m < metrics; ++m) {
    double most = 0;
    bool whole = true;
    uint64_t all_bits = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const double value = values[size_t{i} * metrics + m];
      if (!is_number(value)) continue;
      if (value > most) most = value;
      const auto integer = static_cast<uint64_t>(value);
      whole = whole && static_cast<double>(integer) == value;
      all_bits |= integer;
    }
    int places = 0;
    if (most >= kLeastNumber) {
      if (whole) places = __builtin_ctzll(all_bits);
      const int least = exponent_of(most) - (whole ? kWholeBits : kRealBits) + 1;
      if (!whole || least > places) places = least;
    }
    to = put_varint(to, zigzag(places));
    const double scale = power_of_two(-places);
    for (uint32_t i = 0; i < count; ++i) {
      const double value = values[size_t{i} * metrics + m];
      to = put_varint(to, is_number(value) ? 1 + rounded(value * scale) : 0);
    }
  }
  return to;
}

// Reads what put_samples() wrote for a set of `metrics` metrics. Calls `span(SampleSpan)` for each sample, then
// `value(m, i, number or NaN)` for each value. Returns false if the text is not valid; the caller must then discard
// what it received.
template <class Span, class Value>
bool read_samples(std::string_view text, uint64_t start, uint32_t metrics, Span&& span, Value&& value) {
  const auto* const first = reinterpret_cast<const uint8_t*>(text.data());
  Cursor from{first, first + text.size()};
  const uint64_t count = from.varint();
  if (count == 0 || count > text.size() || metrics == 0 || metrics > kMaxSampledMetrics) return false;
  uint64_t at = start, length = 0;
  for (uint64_t i = 0; i < count && from.ok; ++i) {
    const uint64_t gap = from.varint();
    length += static_cast<uint64_t>(unzigzag(from.varint()));
    constexpr uint64_t kMost = uint64_t{1} << 50;  // thirteen days
    if (gap > kMost || length > kMost || (i == 0 && gap != 0)) return false;
    at += gap;
    span(SampleSpan{at, at + length});
    at += length;
  }
  for (uint32_t m = 0; m < metrics && from.ok; ++m) {
    const int64_t places = unzigzag(from.varint());
    if (places < -200 || places > 60) return false;
    const double scale = detail::power_of_two(static_cast<int>(places));
    for (uint64_t i = 0; i < count && from.ok; ++i) {
      const uint64_t number = from.varint();
      value(m, static_cast<uint32_t>(i), number == 0 ? __builtin_nan("") : static_cast<double>(number - 1) * scale);
    }
  }
  return from.ok && from.at_end();
}

}  // namespace prof::format
