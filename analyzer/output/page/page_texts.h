// The texts of a page, each once, under a number. Names of the recorded program may be anything: they are made
// readable, cut so that all together stay small, and written so that no text can end the script element that holds it.
// With redaction, no text has a path, a host or a user.
#pragma once

#include "analyzer/base/strings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// Replaces host names, users and other given words, and leaves of each path only its last component. Paths of Windows
// have backslashes.
class Redaction {
 public:
  void hide(std::string_view word, std::string_view shown);  // a word; `shown` replaces it
  void hide_users(std::string_view text);                    // those whose home folder is in the text
  std::string operator()(std::string_view given) const;

 private:
  struct Word {
    std::string word, shown;
  };
  std::vector<Word> words_;  // the longest first
};

class PageTexts {
 public:
  explicit PageTexts(const Redaction* redaction = nullptr) : redaction_(redaction) {}

  uint32_t number(std::string_view text) { return static_cast<uint32_t>(texts_.intern(text)); }
  // All texts by number, as a JSON list. With redaction, users are those whose home folder is in any text.
  // A text is cut at most_characters(), the largest length with which all of them
  // take about `bytes`.
  std::string json(size_t bytes);
  size_t most_characters() const { return most_; }  // of the last json()

 private:
  StringTable texts_;
  const Redaction* redaction_;
  size_t most_ = 0;
};

}  // namespace prof::analyzer
