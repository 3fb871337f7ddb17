// See recorder_library.h.
#include "analyzer/command/recorder_library.h"

#include "analyzer/base/installed_file.h"
#include "analyzer/command/choices.h"
#include "analyzer/command/nearest.h"
#include "analyzer/output/forms.h"
#include "preload/format/option_values.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <type_traits>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;
namespace option = format::option;

template <class Type> bool is_valid(const std::string& text, const char* values) {
  typename Type::Value value{};
  return Type::read(text, values, value);
}

// Whether the recorder would enlarge the value.
template <class Type> bool is_too_small(const std::string& text) {
  if constexpr (std::is_same_v<Type, option::Ring>) {
    option::Ring ring;
    return option::Ring::read(text, {}, ring) && ring.bytes != 0 && ring.bytes < option::Ring::kLeastBytes;
  }
  return false;
}

// "on|off" as a list. Items of a list, "launch,copy|all", are values too.
std::vector<std::string> values_of(const RecorderOption& option) {
  std::vector<std::string> values;
  std::string_view rest = option.values;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(rest.ends_with(",...") ? "|" : "|,"), rest.size());
    values.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return values;
}

constexpr RecorderOption kOptions[] = {
#define PROF_OPTION(member, variable, Type, initial, flag, values, help) \
  {variable,                                                             \
   initial,                                                              \
   flag,                                                                 \
   values,                                                               \
   help,                                                                 \
   std::is_same_v<option::Type, option::Flag>,                           \
   is_valid<option::Type>,                                               \
   is_too_small<option::Type>},
#define PROF_CHOICES(member, variable, Type, Enum, initial, flag, words, help) \
  {variable,                                                                   \
   initial,                                                                    \
   flag,                                                                       \
   option::ValuesOf<option::Enum>::text(),                                     \
   help,                                                                       \
   false,                                                                      \
   is_valid<option::Type<option::Enum>>,                                       \
   is_too_small<void>},
#include "preload/format/options.def"
#undef PROF_OPTION
#undef PROF_CHOICES
};

}  // namespace

std::span<const RecorderOption> recorder_options() { return kOptions; }

std::vector<std::string> RecorderOption::words() const {
  std::vector<std::string> words;
  for (const std::string& value : values_of(*this)) {
    const bool is_placeholder =
        std::any_of(value.begin(), value.end(), [](unsigned char c) { return std::isupper(c) != 0; });
    if (!is_placeholder && value.find("..") == std::string::npos) words.push_back(value);
  }
  return words;
}

std::string wrong_value(const RecorderOption& option, const std::string& text) {
  if (option.is_valid(text, option.values)) return "";
  const std::vector<std::string> values = values_of(option);
  if (values.size() == option.words().size()) {
    std::string_view rest = text, wrong = text;
    while (!rest.empty()) {  // the item of a list that is wrong
      const std::string_view item = rest.substr(0, rest.find(','));
      if (std::find(values.begin(), values.end(), item) == values.end()) {
        wrong = item;
        break;
      }
      rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    }
    return unknown_word("word", wrong, values, "choose " + words_text(values));
  }
  return fmt::format("{} is not valid; give {}", text, words_text(values));
}

CLI::Validator value_of(const RecorderOption& option) {
  const auto why_not = [&option](const std::string& text) -> std::string {
    std::string wrong = wrong_value(option, text);
    if (option.is_too_small(text)) wrong = text + " is too small";
    return wrong.empty() ? "" : fmt::format("{}\nprof: --{}: {}", wrong, option.flag, option.help);
  };
  return words_validator(why_not, option.words());
}

std::string find_recorder() {
  const char* const given = std::getenv("PROF_LIBRARY");
  if (given != nullptr && *given != '\0') {
    if (access(given, R_OK) != 0)
      throw std::runtime_error(fmt::format("PROF_LIBRARY={}: {}; set it to the path of libprof.so, or unset it", given,
                                           std::strerror(errno)));
    return fs::absolute(given);
  }
  const InstalledFile library = find_installed("libprof.so");
  if (!library.path.empty()) return library.path;
  throw std::runtime_error(fmt::format(
      "libprof.so was not found; looked for\n  {}\ncopy it to one of these places, or set PROF_LIBRARY to its path",
      fmt::join(library.looked, "\n  ")));
}

bool is_name_pattern(const std::string& output) {
  return output.find('%') != std::string::npos || output.ends_with(".plog");
}

}  // namespace prof::analyzer
