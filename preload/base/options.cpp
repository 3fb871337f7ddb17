#include "preload/base/options.h"

#include "preload/base/messages.h"
#include "preload/format/number_list.h"

#include <cstring>

namespace prof::preload {

namespace {

Options g_options;
char g_texts[8192];  // copies: the program may change its environment
size_t g_texts_used = 0;

const char* keep(std::string_view text) {
  if (text.size() + 1 > sizeof g_texts - g_texts_used) return nullptr;
  char* const to = g_texts + g_texts_used;
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  g_texts_used += text.size() + 1;
  return to;
}

// "123" or "1.5" times `scale`, up to 9 decimals counted; what follows the number stays in `text`. False: no number.
bool parse_decimal(std::string_view& text, uint64_t scale, uint64_t& out) {
  uint64_t whole = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    if (whole > UINT64_MAX / 16 / scale) return false;
    whole = whole * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  size_t digits = i;
  uint64_t numerator = 0;
  uint64_t denominator = 1;
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i, ++digits) {
      if (denominator == 1'000'000'000) continue;
      numerator = numerator * 10 + static_cast<uint64_t>(text[i] - '0');
      denominator *= 10;
    }
  }
  text.remove_prefix(i);
  out = whole * scale + static_cast<uint64_t>(static_cast<unsigned __int128>(numerator) * scale / denominator);
  return digits != 0;
}

bool parse_flag(std::string_view text, bool& out) {
  out = text == "1" || text == "on" || text == "yes" || text == "true";
  return out || text == "0" || text == "off" || text == "no" || text == "false";
}
bool parse_bytes(std::string_view text, uint64_t& out) {
  if (text.empty()) return false;
  uint64_t scale = 1;
  switch (text.back()) {
    case 'K':
    case 'k': scale = 1ull << 10; break;
    case 'M':
    case 'm': scale = 1ull << 20; break;
    case 'G':
    case 'g': scale = 1ull << 30; break;
    case 'T':
    case 't': scale = 1ull << 40; break;
    default: break;
  }
  if (scale != 1) text.remove_suffix(1);
  return parse_decimal(text, scale, out) && text.empty();
}
bool parse_seconds(std::string_view text, uint64_t& out) {
  if (!parse_decimal(text, 1'000'000'000, out)) return false;
  if (text == "ms") out /= 1'000;
  if (text == "us") out /= 1'000'000;
  return text.empty() || text == "s" || text == "ms" || text == "us";
}
// A value that ends in ":N" or ":NAME" stands for any number, any text behind the colon.
bool is_choice(std::string_view text, std::string_view value) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos) return value == text;
  const std::string_view prefix(value.data(), colon + 1);
  if (!text.starts_with(prefix) || text.size() == prefix.size()) return false;
  if (!value.ends_with(":N")) return true;
  for (size_t i = prefix.size(); i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}
bool parse_choice(std::string_view text, std::string_view values, const char*& out) {
  while (!values.empty()) {
    const size_t bar = values.find('|');
    const std::string_view value(values.data(), bar == std::string_view::npos ? values.size() : bar);
    if (is_choice(text, value)) {
      out = keep(text);
      return out != nullptr;
    }
    values.remove_prefix(bar == std::string_view::npos ? values.size() : bar + 1);
  }
  return false;
}

enum class Type { Flag, Count, Bytes, Seconds, Text, Choice, Numbers };

template <class T> bool assign(Type type, std::string_view text, std::string_view values, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    return parse_flag(text, out);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return type == Type::Seconds ? parse_seconds(text, out) : parse_bytes(text, out);
  } else {
    if (type == Type::Choice) return parse_choice(text, values, out);
    if (type == Type::Numbers && !format::is_number_list(text)) return false;
    const char* const kept = keep(text);
    if (kept != nullptr) out = kept;
    return kept != nullptr;
  }
}

std::string_view find(char** environment, std::string_view variable, bool& set) {
  set = false;
  for (char** at = environment; at != nullptr && *at != nullptr; ++at) {
    std::string_view entry(*at);
    if (entry.size() > variable.size() && entry.starts_with(variable) && entry[variable.size()] == '=') {
      set = true;
      entry.remove_prefix(variable.size() + 1);  // substr() could throw, which needs the C++ library
      return entry;
    }
  }
  return {};
}

template <class T>
void read_one(char** environment, Type type, std::string_view variable, std::string_view initial,
              std::string_view values, T& out, std::atomic<bool>& complained) {
  bool set = false;
  const std::string_view text = find(environment, variable, set);
  if (set && !text.empty() && assign(type, text, values, out)) {
    explain(variable, "=", text);
    return;
  }
  assign(type, initial, values, out);
  if (set && !text.empty()) say(complained, variable, " is not valid, expected ", values, "; the default is used");
}

}  // namespace

const Options& options() { return g_options; }

bool read_seconds(const char* text, uint64_t& ns) { return parse_seconds(text, ns); }
bool read_bytes(const char* text, uint64_t& bytes) { return parse_bytes(text, bytes); }

void read_options(char** environment) {
  g_texts_used = 0;
#define PROF_OPTION(member, variable, type, initial, flag, values, help)                        \
  {                                                                                             \
    static std::atomic<bool> complained{false};                                                 \
    read_one(environment, Type::type, variable, initial, values, g_options.member, complained); \
  }
#include "preload/format/options.def"
#undef PROF_OPTION
}

}  // namespace prof::preload
