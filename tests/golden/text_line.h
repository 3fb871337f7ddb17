// One line of the text of `prof dump`: words, numbers, quoted text, hex digits. If the expected item is missing, Wrong
// is thrown.
#pragma once

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::tests {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// name=value pairs and bare words of one line.
class TextLine {
 public:
  explicit TextLine(std::string_view text) : rest_(text) {}

  std::string_view word() {
    skip_blanks();
    size_t end = 0;
    while (end < rest_.size() && rest_[end] != ' ' && rest_[end] != '=') ++end;
    const std::string_view out = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return out;
  }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw Wrong(std::string("'") + c + "' expected before '" + std::string(rest_) + "'");
  }
  template <class T> T number() {
    T value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) throw Wrong("a number expected before '" + std::string(rest_) + "'");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  std::string quoted() {
    expect('"');
    std::string out;
    while (!take('"')) {
      if (rest_.empty()) throw Wrong("a text without its closing quote");
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\\') c = escape();
      out += c;
    }
    return out;
  }
  std::vector<uint8_t> hex() {
    skip_blanks();
    std::vector<uint8_t> out;
    while (!rest_.empty()) out.push_back(static_cast<uint8_t>(hex_byte()));
    return out;
  }
  std::string_view rest() {
    skip_blanks();
    return std::exchange(rest_, {});
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  char hex_byte() {
    unsigned value = 0;
    if (rest_.size() < 2 || std::from_chars(rest_.data(), rest_.data() + 2, value, 16).ptr != rest_.data() + 2) {
      throw Wrong("two hex digits expected before '" + std::string(rest_) + "'");
    }
    rest_.remove_prefix(2);
    return static_cast<char>(value);
  }
  char escape() {
    const char c = rest_.empty() ? '\0' : rest_[0];
    if (c != '\0') rest_.remove_prefix(1);
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case '"':
      case '\\': return c;
      case 'x': return hex_byte();
      default: throw Wrong("an escape that does not exist");
    }
  }
  std::string_view rest_;
};

}  // namespace prof::tests
