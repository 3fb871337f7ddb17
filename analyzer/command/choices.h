// Options whose value is one of a few words, or a number in a range. A wrong value is refused with the words or the
// range; completion reads the words from the parser (words_of).
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Accepts one of the words.
CLI::Validator one_of(const std::vector<std::string>& words);
// Accepts whole numbers from..to, in decimal digits.
CLI::Validator whole_number(uint64_t from, uint64_t to = UINT32_MAX);
// Accepts decimal numbers from..to.
CLI::Validator decimal_number(double from, double to);

// A validator whose option completes to the words. `why_not` returns a message about a wrong value, or "".
CLI::Validator words_validator(std::function<std::string(const std::string&)> why_not,
                               const std::vector<std::string>& words);

// The words of an option that has one_of(); empty if it takes something else.
std::vector<std::string> words_of(const CLI::Option& option);

// An option that sets `target` to the value of a word.
template <class T>
CLI::Option* add_choice(CLI::App& verb, const std::string& names, T& target,
                        std::vector<std::pair<std::string, T>> words, const std::string& help) {
  std::vector<std::string> names_of_words;
  for (const auto& [word, value] : words) names_of_words.push_back(word);
  return verb
      .add_option_function<std::string>(
          names,
          [&target, words = std::move(words)](const std::string& given) {
            for (const auto& [word, value] : words) {
              if (word == given) target = value;
            }
          },
          help)
      ->check(one_of(names_of_words));
}

}  // namespace prof::analyzer
