#include "analyzer/base/json/json_text.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <charconv>
#include <cmath>

namespace prof::analyzer {

namespace {

struct DigitPairs {
  char text[200];
};
constexpr DigitPairs make_pairs() {
  DigitPairs pairs{};
  for (int i = 0; i < 100; ++i) {
    pairs.text[2 * i] = static_cast<char>('0' + i / 10);
    pairs.text[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}
constexpr DigitPairs kPairs = make_pairs();

}  // namespace

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const uint8_t low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const uint8_t low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

std::string readable_utf8(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string readable;
  readable.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const uint8_t byte = static_cast<uint8_t>(text.front());
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      readable += "\\x";
      readable += kHex[byte >> 4];
      readable += kHex[byte & 15];
      text.remove_prefix(1);
    } else {
      readable += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return readable;
}

std::string json_string(std::string_view text) {
  const std::string readable = readable_utf8(text);
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(readable.data(), static_cast<rapidjson::SizeType>(readable.size()));
  return std::string(buffer.GetString(), buffer.GetSize());
}

char* put_decimal(char* to, uint64_t value) {
  const size_t digits = decimal_digits(value);
  char* const end = to + digits;
  char* at = end;
  while (value >= 100) {
    at -= 2;
    std::memcpy(at, kPairs.text + 2 * (value % 100), 2);
    value /= 100;
  }
  if (value >= 10) {
    std::memcpy(to, kPairs.text + 2 * value, 2);
  } else {
    *to = static_cast<char>('0' + value);
  }
  return end;
}

char* put_double(char* to, double value) {
  if (!std::isfinite(value)) value = 0;
  return std::to_chars(to, to + 32, value).ptr;
}

}  // namespace prof::analyzer
