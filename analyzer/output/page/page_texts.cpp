#include "analyzer/output/page/page_texts.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/table/html_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace prof::analyzer {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool ends_path(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("\"'`<>()[]{},;=|:").find(c) != std::string_view::npos;
}

// Whether a run of characters between separators is a path: from the root, from a folder of the user, or a name of a
// file in a folder. "train/step/forward" is a chain of ranges and no path.
bool is_path(std::string_view run) {
  if (run.starts_with('\\') && run.find('\\', 1) != std::string_view::npos) return true;
  const size_t slash = run.find('/');
  if (slash == std::string_view::npos || run.size() < 2) return false;
  if (slash == 0 || run.starts_with('~') || run.starts_with("./") || run.starts_with("../")) return true;
  // A file has an ending with a letter: "layers/layer.0" is a chain of ranges.
  const std::string_view last = run.substr(run.rfind('/') + 1);
  const size_t dot = last.rfind('.');
  const std::string_view ending = dot == std::string_view::npos ? "" : last.substr(dot + 1);
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  return ending.size() <= 5 && std::all_of(ending.begin(), ending.end(), is_word) &&
         std::any_of(ending.begin(), ending.end(), is_letter);
}

size_t find_word(std::string_view text, std::string_view word, size_t from) {
  for (size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !is_word(text[at - 1]) || !is_word(word.front());
    const size_t end = at + word.size();
    if (starts && (end == text.size() || !is_word(text[end]) || !is_word(word.back()))) return at;
  }
  return std::string_view::npos;
}

}  // namespace

void Redaction::hide(std::string_view word, std::string_view shown) {
  if (word.size() < 2 || std::any_of(words_.begin(), words_.end(), [&](const Word& each) { return each.word == word; }))
    return;
  words_.push_back({std::string(word), std::string(shown)});
  std::stable_sort(words_.begin(), words_.end(),
                   [](const Word& a, const Word& b) { return a.word.size() > b.word.size(); });
}

void Redaction::hide_users(std::string_view text) {
  for (const std::string_view homes : {"/home/", "/Users/", "/users/", "\\Users\\", "\\users\\"}) {
    for (size_t at = text.find(homes); at != std::string_view::npos; at = text.find(homes, at + 1)) {
      const std::string_view rest = text.substr(at + homes.size());
      hide(rest.substr(0, rest.find_first_of("/\\ \"':")), "[user]");
    }
  }
}

std::string Redaction::operator()(std::string_view given) const {
  std::string text(given), safe;
  const auto replace = [&](std::string& in, bool has_paths) {
    for (const Word& each : words_) {
      if (has_paths != (each.word.find_first_of(" /") != std::string::npos)) continue;
      for (size_t at = find_word(in, each.word, 0); at != std::string::npos;
           at = find_word(in, each.word, at + each.shown.size()))
        in.replace(at, each.word.size(), each.shown);
    }
  };
  replace(text, true);
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && !ends_path(text[end])) ++end;
    std::string_view run = std::string_view(text).substr(at, end - at);
    if (is_path(run)) {
      while (run.size() > 1 && (run.back() == '/' || run.back() == '\\')) run.remove_suffix(1);
      run = run.substr(run.find_last_of("/\\") + 1);
    }
    safe += run;
    if (end < text.size()) safe += text[end++];
    at = end;
  }
  replace(safe, false);  // a host or user in the last component of a path
  return safe;
}

std::string PageTexts::json(size_t bytes) {
  std::vector<std::string> shown;
  shown.reserve(texts_.size());
  std::optional<Redaction> redaction;
  if (redaction_ != nullptr) {
    redaction = *redaction_;
    for (uint32_t i = 0; i < texts_.size(); ++i) redaction->hide_users(texts_[StringId{i}]);
  }
  for (uint32_t i = 0; i < texts_.size(); ++i) {
    const std::string_view text = texts_[StringId{i}];
    const std::string safe = redaction ? (*redaction)(text) : std::string(text);
    // What is cut anyway need not be made readable: a character has at most four bytes.
    shown.push_back(cut_text(readable_utf8(std::string_view(safe).substr(0, 4 * kLongestOnPage + 4)), kLongestOnPage));
  }
  for (const size_t most : {kLongestOnPage, size_t{500}, size_t{200}, size_t{100}, size_t{50}, size_t{24}}) {
    most_ = most;
    size_t sum = 0;
    for (const std::string& text : shown) sum += std::min(text.size(), most) + 3;
    if (sum <= bytes) break;
  }
  std::string json = "[";
  for (std::string& text : shown) {
    if (json.size() > 1) json += ",\n";
    json += in_script(json_string(cut_text(std::move(text), most_)));
  }
  return json + "]";
}

}  // namespace prof::analyzer
