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

constexpr char kHex[] = "0123456789abcdef";

void append_escape(std::string& to, uint32_t character) {
  to += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) to += kHex[character >> shift & 15];
}

// Valid UTF-8 without control characters. keep(character, to) appends an invisible control character.
template <class Keep> std::string without_controls(std::string_view text, Keep&& keep) {
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
      continue;
    }
    if (length == 1 || invisible_control(text, length) == 0) {
      readable += text.substr(0, length);
    } else {
      keep(text.substr(0, length), readable);
    }
    text.remove_prefix(length);
  }
  return readable;
}

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

uint32_t invisible_control(std::string_view text, size_t length) {
  if (length != 2 && length != 3) return 0;
  uint32_t character = static_cast<uint8_t>(text[0]) & (length == 2 ? 0x1f : 0x0f);
  for (size_t i = 1; i < length; ++i) character = character << 6 | (static_cast<uint8_t>(text[i]) & 0x3f);
  const bool terminal = character >= 0x80 && character <= 0x9f;
  const bool direction = character == 0x61c || character == 0x200e || character == 0x200f ||
                         (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
  return terminal || direction || character == 0x2028 || character == 0x2029 ? character : 0;
}

std::string readable_utf8(std::string_view text) {
  return without_controls(text, [](std::string_view character, std::string& to) {
    append_escape(to, invisible_control(character, character.size()));
  });
}

std::string cut_text(std::string text, size_t most) {
  if (text.size() <= most) return text;
  size_t at = 0, seen = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (text[at] & 0xc0) != 0x80;
    if (begins && seen++ == most) break;
  }
  if (at == text.size()) return text;
  do --at;  // … takes the place of the last character
  while (at != 0 && (text[at] & 0xc0) == 0x80);
  text.resize(at);
  return text + "…";
}

std::string readable_lines(std::string_view text, size_t most) {
  std::string lines;
  while (true) {
    const size_t end = text.find('\n');
    lines += cut_text(readable_utf8(text.substr(0, end)), most);
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string json_string(std::string_view text) {
  bool invisible = false;
  const std::string readable = without_controls(text, [&](std::string_view character, std::string& to) {
    invisible = true;
    to += character;
  });
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(readable.data(), static_cast<rapidjson::SizeType>(readable.size()));
  std::string json(buffer.GetString(), buffer.GetSize());
  return invisible ? readable_utf8(json) : json;
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
