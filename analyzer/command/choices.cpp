#include "analyzer/command/choices.h"

#include "analyzer/command/nearest.h"
#include "analyzer/output/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr const char* kChoices = "choices";  // name of the validator whose description is "a|b|c"

template <class Number> bool read_number(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return !text.empty() && error == std::errc() && stop == end;
}

}  // namespace

CLI::Validator words_validator(std::function<std::string(const std::string&)> why_not,
                               const std::vector<std::string>& words) {
  return {std::move(why_not), fmt::format("{}", fmt::join(words, "|")), words.empty() ? "" : kChoices};
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto why_not = [words](const std::string& given) -> std::string {
    if (std::find(words.begin(), words.end(), given) != words.end()) return "";
    return unknown_word("word", given, words, "choose " + words_text(words));
  };
  return words_validator(why_not, words);
}

CLI::Validator whole_number(uint64_t from, uint64_t to) {
  return {[from, to](const std::string& given) -> std::string {
            uint64_t number = 0;
            if (read_number(given, number) && number >= from && number <= to) return "";
            return fmt::format("{} is not valid; give a whole number from {} to {}", given, from, to);
          },
          fmt::format("{}..{}", from, to)};
}

CLI::Validator decimal_number(double from, double to) {
  return {[from, to](const std::string& given) -> std::string {
            double number = 0;
            if (read_number(given, number) && number >= from && number <= to) return "";
            return fmt::format("{} is not valid; give a number from {:g} to {:g}", given, from, to);
          },
          fmt::format("{:g}..{:g}", from, to)};
}

std::vector<std::string> words_of(const CLI::Option& option) {
  std::string joined;
  try {
    joined = const_cast<CLI::Option&>(option).get_validator(kChoices)->get_description();  // has no const form
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
  std::vector<std::string> words;
  for (size_t at = 0; at <= joined.size();) {
    const size_t end = std::min(joined.find('|', at), joined.size());
    words.push_back(joined.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace prof::analyzer
