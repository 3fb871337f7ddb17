#include "analyzer/analysis/stacks/frame_text.h"
#include "analyzer/base/text_parts.h"

#include <algorithm>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr size_t kFewestAddressDigits = 6;
constexpr size_t kFewestHashDigits = 32;
constexpr std::string_view kEvalWithKey = "<eval_with_key>.";

bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

size_t count_from(std::string_view text, size_t at, bool (*is)(char)) {
  size_t count = 0;
  while (at + count < text.size() && is(text[at + count])) ++count;
  return count;
}

std::string without_addresses(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("0x")) {
      const size_t digits = count_from(text, at + 2, is_hexadecimal);
      const bool whole = at == 0 && 2 + digits == text.size();  // code without a name: the address is all there is
      plain += digits >= kFewestAddressDigits && !whole ? "0x*" : text.substr(at, 2 + digits);
      at += 2 + digits;
    } else if (text.substr(at).starts_with(kEvalWithKey)) {
      const size_t digits = count_from(text, at + kEvalWithKey.size(), is_digit);
      (plain += kEvalWithKey) += digits != 0 ? "*" : "";
      at += kEvalWithKey.size() + digits;
    } else {
      plain += text[at++];
    }
  }
  return plain;
}

// A digest in hexadecimal, base 32 or decimal digits: long, in one case, with digits among letters.
bool is_hash(std::string_view stem) {
  return stem.size() >= kFewestHashDigits && std::any_of(stem.begin(), stem.end(), is_digit) &&
         std::all_of(stem.begin(), stem.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); });
}

// Python's tempfile names: "tmp" and eight of a-z, 0-9 and _.
bool is_temporary(std::string_view part) {
  constexpr std::string_view kTmp = "tmp";
  return part.starts_with(kTmp) && part.size() == kTmp.size() + 8 && std::all_of(part.begin(), part.end(), [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_';
         });
}

std::string plain_path(std::string_view path) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= path.size();) {
    const size_t slash = std::min(path.find('/', at), path.size());
    parts.emplace_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  constexpr std::string_view kCells = "ipykernel_";
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string& part = parts[i];
    const size_t dot = std::min(part.rfind('.'), part.size());
    const std::string_view stem = std::string_view(part).substr(0, dot), whole = part;
    const bool in_cells = i != 0 && parts[i - 1] == "ipykernel_*";
    if (is_hash(stem) || (in_cells && !stem.empty() && std::all_of(stem.begin(), stem.end(), is_digit))) {
      if (i != 0 && parts[i - 1].size() == 2) parts[i - 1] = "*";  // Inductor's folder: two letters of the hash
      part.replace(0, dot, "*");
    } else if (is_temporary(whole)) {
      part = "tmp*";
    } else if (whole.starts_with(kCells) &&
               count_from(whole, kCells.size(), is_digit) == whole.size() - kCells.size()) {
      part = "ipykernel_*";
    }
  }
  std::string plain = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) (plain += '/') += parts[i];
  return plain;
}

}  // namespace

std::string frame_text(std::string_view text) {
  std::string plain = without_addresses(text);
  return plain.find('/') == std::string::npos ? plain : plain_path(plain);
}

}  // namespace prof::analyzer
