// See recorder_library.h.
#include "analyzer/command/recorder_library.h"

#include "preload/format/number_list.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;

constexpr RecorderOption kOptions[] = {
#define PROF_OPTION(member, variable, type, initial, flag, values, help) \
  {variable, OptionType::type, initial, flag, values, help},
#include "preload/format/options.def"
#undef PROF_OPTION
};

// VALUES separated by '|'; one that ends in ":N" or ":NAME" stands for any number, any text behind the colon.
bool is_choice(std::string_view text, std::string_view values) {
  while (!values.empty()) {
    const std::string_view value = values.substr(0, values.find('|'));
    const size_t colon = value.find(':');
    if (colon == std::string_view::npos ? value == text : text.starts_with(value.substr(0, colon + 1))) {
      const std::string_view rest = colon == std::string_view::npos ? "1" : text.substr(colon + 1);
      return !rest.empty() &&
             (!value.ends_with(":N") || rest.find_first_not_of("0123456789") == std::string_view::npos);
    }
    values.remove_prefix(std::min(value.size() + 1, values.size()));
  }
  return false;
}

}  // namespace

std::span<const RecorderOption> recorder_options() { return kOptions; }

std::string wrong_value(const RecorderOption& option, const std::string& text) {
  const auto is_number = [](std::string_view number, const char* suffixes) {
    size_t digits = 0;
    size_t i = 0;
    for (bool dot = false; i < number.size() && ((number[i] >= '0' && number[i] <= '9') || (number[i] == '.' && !dot));
         ++i) {
      dot |= number[i] == '.';
      digits += number[i] == '.' ? 0 : 1;
    }
    return digits != 0 &&
           (i == number.size() || (i + 1 == number.size() && std::strchr(suffixes, number[i]) != nullptr));
  };
  bool ok = true;
  switch (option.type) {
    case OptionType::Text: break;
    case OptionType::Bytes:
    case OptionType::Count: ok = is_number(text, "KMGTkmgt"); break;
    case OptionType::Seconds: {
      const bool small = text.ends_with("ms") || text.ends_with("us");
      ok = small ? is_number(text.substr(0, text.size() - 2), "") : is_number(text, "s");
      break;
    }
    case OptionType::Flag:
      ok = CLI::IsMember({"0", "1", "on", "off", "yes", "no", "true", "false"})(text).empty();
      break;
    case OptionType::Choice: ok = is_choice(text, option.values); break;
    case OptionType::Numbers: ok = format::is_number_list(text);
  }
  return ok ? "" : fmt::format("'{}' is not valid, expected {}", text, option.values);
}

std::string find_recorder() {
  const char* const given = std::getenv("PROF_LIBRARY");
  if (given != nullptr && *given != '\0') {
    if (access(given, R_OK) != 0)
      throw std::runtime_error(fmt::format("PROF_LIBRARY={}: {}; set it to the path of libprof.so, or unset it", given,
                                           std::strerror(errno)));
    return fs::absolute(given);
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  std::string looked;
  for (const char* const place :
       {"libprof.so", "../lib/libprof.so", "../" PROF_INSTALL_LIBDIR "/libprof.so", "../preload/libprof.so"}) {
    const fs::path path = (folder / place).lexically_normal();
    if (access(path.c_str(), R_OK) == 0) return path;
    looked += "\n  " + path.string();
  }
  throw std::runtime_error("libprof.so is not beside prof; looked for" + looked + "\nset PROF_LIBRARY to its path");
}

bool is_name_pattern(const std::string& output) {
  return output.find('%') != std::string::npos || output.ends_with(".plog");
}

}  // namespace prof::analyzer
